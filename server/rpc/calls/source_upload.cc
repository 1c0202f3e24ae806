// SPDX-License-Identifier: MIT
#include "server/rpc/calls/source_upload.h"

#include <fmt/format.h>

#include "server/rpc/messages/convert_batch.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {

Error UploadsFull(const ByteRoom& room) {
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("uploads of all clients hold {} bytes; {} are allowed",
                                 room.held(), room.most()),
          .reason = "BUFFERS_FULL"};
}

// Messages of one stream: a source may come in pieces, one source after the other. Sizes are
// checked before anything is kept, and what is kept counts as held, together with that of all other
// uploads (spec/daemon 10).
Result<void> Upload::Take(const v1::PutSourcesRequest& message) {
  KILN_TRY(const Digest digest, FromProto(message.digest()));
  if (open_ && digest != digest_) {
    return Malformed("digest", "a source begins before the one before it is complete");
  }
  const bool spaces =
      message.path_hint() == kSpacesHint || (open_ && digest_.size > kMaxSourceFile);
  if (digest.size > (spaces ? kMaxStoredRequest : kMaxSourceFile)) {
    return spaces ? AboveLimit("stored request", kMaxStoredRequest, digest.size)
                  : AboveLimit("source file", kMaxSourceFile, digest.size);
  }
  total_ += message.data().size();
  if (total_ > kMaxSourceSet) {
    return AboveLimit("source set of a manifest", kMaxSourceSet, total_);
  }
  files_ += open_ ? 0 : 1;
  if (files_ > kMaxSourceFiles) {
    return AboveLimit("source files of a manifest", kMaxSourceFiles, files_);
  }
  // Room is taken for the bytes and once for what a source costs beside them.
  if (!held_.Take(message.data().size() + (open_ ? 0 : kUploadOverhead))) {
    return UploadsFull(room_);
  }
  open_ = true;
  digest_ = digest;
  bytes_ += message.data();
  if (bytes_.size() > digest_.size || (message.last() && DigestOf(bytes_) != digest_)) {
    rejected_.emplace_back(digest_, "DIGEST_MISMATCH");
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "the bytes of '" + message.path_hint() + "' do not have its digest",
                 .reason = "DIGEST_MISMATCH"};
  }
  if (message.last()) {
    waiting_ += bytes_.size() + kUploadOverhead;
    complete_.push_back(cache::ContentItem(digest_, cache::CopiedBlob(AsBytes(bytes_))));
    (void)std::exchange(bytes_, {});  // with its memory
    open_ = false;
  }
  return {};
}

// Durable, since the client was told that its sources are there. A source that the store could not
// take counts if it is readable all the same, from memory.
Result<void> Upload::Store(const cache::Call& call) {
  if (complete_.empty()) {
    return {};
  }
  const std::vector<cache::Item> items = std::exchange(complete_, {});
  const uint64_t stored_bytes = std::exchange(waiting_, 0);
  const Result<uint64_t> added =
      engine_.whole.uploads.Upload(owner_, items, cache::UploadStore::Place::kMemoryToo, call);
  if (!added.ok()) {
    return WithContext(added.error(), "sources were not stored");
  }
  reply_.set_stored(reply_.stored() + *added);
  reply_.set_already(reply_.already() + items.size() - *added);
  held_.GiveBack(stored_bytes);
  return {};
}

Result<v1::PutSourcesReply> Upload::Finish() const {
  if (open_) {
    return Malformed("last", "the upload ended inside a source");
  }
  return reply_;
}

}  // namespace kiln::rpc
