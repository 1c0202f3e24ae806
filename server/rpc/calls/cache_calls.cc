// SPDX-License-Identifier: MIT
#include "server/rpc/calls/cache_calls.h"

#include <algorithm>

#include "cache/compression/codec.h"
#include "cache/record.h"
#include "compiler/base/threads/stop.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

// The bytes of replies that may wait for their reader. Together with the one that exceeds this and
// the one that the transport has, it bounds what a stream holds.
constexpr uint64_t kPageBytes = kMaxStreamBuffer - 2 * kMaxStreamMessage;
constexpr size_t kPageMessages = 256;
constexpr uint64_t kChunk = kMaxStreamMessage - 1024;       // leaves room for the rest
constexpr uint64_t kEncodingOverhead = uint64_t{64} << 10;  // of what does not compress

// A request that names more than it may.
Result<void> CheckCount(std::string_view limit, int count, v1::ErrorDetail& detail) {
  if (static_cast<uint64_t>(count) <= kMaxDigests) {
    return {};
  }
  detail.set_limit(std::string(limit));
  detail.set_max(kMaxDigests);
  detail.set_actual(static_cast<uint64_t>(count));
  return AboveLimit(limit, kMaxDigests, static_cast<uint64_t>(count));
}

Result<void> CheckSpace(const std::string& space) {
  return space.empty() || space == "default"
             ? Result<void>()
             : Malformed("space", "there is no space '" + space + "'");
}

// Levels of the wire and levels of the store: a variant and a live key are one kind of row, an
// alias. Poison and content have other ways in.
Result<cache::Key> RowKeyOf(const v1::CacheRow& row) {
  cache::Key key;
  switch (row.level()) {
    case v1::CacheRow::MODULE:
      key.level = cache::Level::kModule;
      break;
    case v1::CacheRow::VARIANT:
    case v1::CacheRow::LIVE:
      key.level = cache::Level::kAlias;
      break;
    case v1::CacheRow::MASK:
      key.level = cache::Level::kMask;
      break;
    case v1::CacheRow::SIGNATURE:
      key.level = cache::Level::kSignature;
      break;
    case v1::CacheRow::RECIPE:
      key.level = cache::Level::kRecipe;
      break;
    default:  // proto enums are open
      return Malformed("items.level", "a row has a level");
  }
  KILN_TRY(key.id, IdFromProto("items.key", row.key()));
  return key;
}

bool IsReadOnly(const Error& error) { return error.reason == cache::kReadOnly; }

// What is wrong with a row itself; null for failures of the world, such as of the disk. Those end
// the call, so that whoever keeps rows for later comes again with them: a row that is refused is
// given up.
const char* RefusalOf(const Error& error) {
  if (error.reason == cache::kRefsMissing) {
    return "REFS_MISSING";
  }
  switch (error.code) {
    case ErrorCode::kFull:
      return "FULL";
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
      return "MALFORMED";
    case ErrorCode::kAlreadyExists:
      return "CONFLICT";
    default:
      return nullptr;
  }
}

}  // namespace

Result<void> FindMissing(Engine& engine, const v1::FindMissingRequest& request,
                         const cache::Call& call, v1::FindMissingReply& reply,
                         v1::ErrorDetail& detail) {
  KILN_TRY_VOID(CheckCount("digests", request.digests_size(), detail));
  std::vector<cache::Key> keys;
  for (const v1::Digest& digest : request.digests()) {
    KILN_TRY(const Digest read, FromProto(digest));
    keys.push_back(cache::ContentKey(read));
  }
  KILN_TRY(std::vector<cache::Key> missing, engine.store.FindMissing(keys, call));
  // The reply is in the order of the request, and names a digest as often as the request did.
  std::sort(missing.begin(), missing.end());
  for (const v1::Digest& digest : request.digests()) {
    KILN_TRY(const Digest read, FromProto(digest));
    if (std::binary_search(missing.begin(), missing.end(), cache::ContentKey(read))) {
      *reply.add_missing() = digest;
    }
  }
  return {};
}

Result<std::vector<v1::GetBlobsReply>> BlobPages::Next(const cache::Call& call,
                                                       v1::ErrorDetail& detail) {
  KILN_TRY_VOID(CheckCount("digests", request_.digests_size(), detail));
  std::vector<v1::GetBlobsReply> page;
  uint64_t bytes = 0;
  // A page may exceed its size by one chunk; the sizes above leave room for it.
  while (next_ < request_.digests_size() && bytes < kPageBytes && page.size() < kPageMessages) {
    CheckStop();
    KILN_TRY(const uint64_t added,
             AddChunks(request_.digests(next_), kPageBytes - bytes, call, page));
    bytes += added;
  }
  return page;
}

// The blob as it is sent. Errors: kNotFound if there is none.
Result<cache::Blob> BlobPages::Encoded(const Digest& digest, const cache::Call& call) {
  if (rest_.has_value()) {
    cache::Blob rest = *std::move(rest_);
    rest_.reset();
    return rest;
  }
  KILN_TRY(cache::Blob found, store_.Get(cache::ContentKey(digest), call));
  // A client that does not know the codec gets plain bytes. Compressing is done anew if the rest of
  // a blob could not be held, and gives the same bytes.
  const bool zstd = std::find(request_.accept_codecs().begin(), request_.accept_codecs().end(),
                              v1::CODEC_ZSTD) != request_.accept_codecs().end();
  return zstd ? cache::Compress(found) : found;
}

// Chunks of the present blob, `room` bytes at most and one chunk at least; how many bytes they are.
Result<uint64_t> BlobPages::AddChunks(const v1::Digest& name, uint64_t room,
                                      const cache::Call& call,
                                      std::vector<v1::GetBlobsReply>& page) {
  KILN_TRY(const Digest digest, FromProto(name));
  const Result<cache::Blob> sent = Encoded(digest, call);
  if (!sent.ok() && sent.error().code != ErrorCode::kNotFound) {
    return sent.error();
  }
  // What was held of the blob is in `sent` now.
  held_.GiveBackAll();
  const uint64_t first = offset_;
  // The client has its first chunks already. A blob of another size under the same name would be
  // put together from two.
  if (first != 0 && (!sent.ok() || sent->bytes.size() != size_)) {
    return Error{.code = ErrorCode::kUnavailable,
                 .context = "a blob was removed while it was sent",
                 .reason = "CONTENT_LOST"};
  }
  if (!sent.ok()) {
    v1::GetBlobsReply& reply = page.emplace_back();
    *reply.mutable_digest() = name;
    reply.set_status(v1::GetBlobsReply::NOT_FOUND);
    ++next_;
    return uint64_t{0};
  }
  const cache::Blob& blob = *sent;
  size_ = blob.bytes.size();
  // At least one chunk, whatever the room is: a page that adds nothing would never end. An empty
  // blob has one chunk, too.
  do {
    const uint64_t size = std::min<uint64_t>(kChunk, size_ - offset_);
    v1::GetBlobsReply& reply = page.emplace_back();
    *reply.mutable_digest() = name;
    reply.set_offset(offset_);
    reply.set_codec(blob.codec == cache::Codec::kZstd ? v1::CODEC_ZSTD : v1::CODEC_NONE);
    reply.set_data(std::string(AsText(blob.bytes.subspan(offset_, size))));
    offset_ += size;
  } while (offset_ < size_ && offset_ - first + kChunk <= room);
  const uint64_t added = offset_ - first;
  if (offset_ == size_) {
    ++next_;
    offset_ = 0;
  } else if (held_.Take(size_)) {
    rest_ = blob;
  }
  return added;
}

// The first chunk of a blob.
Result<void> BlobUpload::Begin(const v1::PutBlobsRequest& message, const Digest& digest) {
  if (!held_.Take(kUploadOverhead)) {
    return UploadsFull(room_);
  }
  open_ = true;
  skipping_ = false;
  digest_ = digest;
  codec_ = message.codec();
  return digest.size > cache::kMaxValueBytes ? Reject("TOO_LARGE") : Result<void>();
}

Result<void> BlobUpload::Take(const v1::PutBlobsRequest& message) {
  KILN_TRY(const Digest digest, FromProto(message.digest()));
  if (open_ && digest != digest_) {
    return Malformed("digest", "a blob begins before the one before it is complete");
  }
  if (!open_) {
    KILN_TRY_VOID(Begin(message, digest));
  }
  if (!skipping_) {
    if (message.offset() != bytes_.size() || message.codec() != codec_) {
      return Malformed("offset", "chunks of a blob follow each other");
    }
    // Charged before it is kept. An upload that finds no room ends, and its client comes again:
    // waiting would hold what it has while others wait for the same.
    if (!held_.Take(message.data().size())) {
      return UploadsFull(room_);
    }
    bytes_ += message.data();
    // More than was declared is wrong whatever comes later, so it is not kept until the end.
    if (bytes_.size() > digest_.size + (codec_ == v1::CODEC_NONE ? 0 : kEncodingOverhead)) {
      KILN_TRY_VOID(Reject("DIGEST_MISMATCH"));
    }
  }
  // A rejected blob has its last chunk as well, and the next blob begins behind it.
  if (message.last()) {
    if (!skipping_) {
      KILN_TRY_VOID(Complete());
    }
    open_ = false;
  }
  return {};
}

Result<void> BlobUpload::Reject(const char* reason) {
  if (static_cast<uint64_t>(reply_.rejected_size()) == most_rejected_) {
    return AboveLimit("rejected blobs", most_rejected_, most_rejected_ + 1);
  }
  v1::PutBlobsReply::Rejected& rejected = *reply_.add_rejected();
  ToProto(digest_, *rejected.mutable_digest());
  rejected.set_reason(reason);
  rejected_.emplace_back(digest_, reason);
  // The rest of the blob is read and dropped, so that the other blobs of the stream are stored all
  // the same.
  skipping_ = true;
  held_.GiveBack(bytes_.size());  // what the list keeps of it stays counted
  (void)std::exchange(bytes_, {});
  return {};
}

// The size that was declared bounds what is decompressed.
Result<void> BlobUpload::Complete() {
  const uint64_t received = bytes_.size();
  cache::Blob blob;
  if (codec_ == v1::CODEC_NONE) {
    blob = cache::CopiedBlob(AsBytes(bytes_));
  } else {
    // The ratio is checked by what was declared, before a byte is inflated. Small blobs are free of
    // it, because a text of blanks compresses by more than 100. See spec/daemon 10
    const uint64_t free =
        std::max<uint64_t>(bytes_.size() * cache::kMaxRatio, cache::kRatioFreeBytes);
    if (codec_ != v1::CODEC_ZSTD || digest_.size > free) {
      return Reject(codec_ != v1::CODEC_ZSTD ? "DIGEST_MISMATCH" : "RATIO");
    }
    // Both forms are in memory for a moment, and both are charged.
    if (!held_.Take(digest_.size)) {
      return UploadsFull(room_);
    }
    blob = {.bytes = AsBytes(bytes_),
            .owner = nullptr,
            .codec = cache::Codec::kZstd,
            .raw_size = digest_.size};
    Result<cache::Blob> raw = cache::Decompress(blob);
    if (!raw.ok()) {
      held_.GiveBack(digest_.size);
      return Reject("DIGEST_MISMATCH");
    }
    blob = std::move(raw).value();
    held_.GiveBack(received);
  }
  (void)std::exchange(bytes_, {});  // with its memory
  // The name is the hash of the content, so nobody can put content under the name of another.
  if (DigestOf(blob.bytes) != digest_) {
    held_.GiveBack(blob.bytes.size());
    return Reject("DIGEST_MISMATCH");
  }
  waiting_ += blob.bytes.size() + kUploadOverhead;
  complete_.push_back(cache::ContentItem(digest_, std::move(blob)));
  return {};
}

Result<void> BlobUpload::Store(const cache::Call& call) {
  // Durable: the reply says that the content is stored, and clients refer to it from then on.
  const std::vector<cache::Item> items = std::exchange(complete_, {});
  const uint64_t stored_bytes = std::exchange(waiting_, 0);
  if (!items.empty()) {
    KILN_TRY_VOID(
        engine_.whole.uploads.Upload(owner_, items, cache::UploadStore::Place::kStore, call));
    reply_.set_stored(reply_.stored() + items.size());
    held_.GiveBack(stored_bytes);
  }
  return {};
}

// A client that closes in the middle of a blob has made a mistake or lost its connection; what was
// complete before is stored in either case.
Result<v1::PutBlobsReply> BlobUpload::Finish() const {
  if (open_) {
    return Malformed("last", "the upload ended inside a blob");
  }
  return reply_;
}

Result<void> GetRows(Engine& engine, const v1::GetRowsRequest& request, const cache::Call& call,
                     v1::GetRowsReply& reply, v1::ErrorDetail& detail) {
  KILN_TRY_VOID(CheckSpace(request.space()));
  KILN_TRY_VOID(CheckCount("rows per request", request.items_size(), detail));
  for (const v1::CacheRow& asked : request.items()) {
    CheckStop();
    KILN_TRY(const cache::Key key, RowKeyOf(asked));
    const Result<cache::Blob> row = engine.store.Get(key, call);
    if (!row.ok()) {
      if (row.error().code != ErrorCode::kNotFound) {
        return row.error();
      }
      continue;
    }
    v1::CacheRow& found = *reply.add_items();
    found.set_level(asked.level());
    found.set_key(asked.key());
    found.set_value(std::string(AsText(row->bytes)));
    // The content that a row names goes with it, so that the other daemon can ask for what it lacks
    // before it puts the row.
    const Result<cache::RowSummary> summary = cache::SummarizeRow(key.level, row->bytes);
    for (const cache::Product& product :
         summary.ok() ? summary->products : std::vector<cache::Product>()) {
      ToProto(product.digest, *found.add_refs());
    }
  }
  return {};
}

Result<void> PutRows(cache::BlobStore& store, const v1::PutRowsRequest& request,
                     const cache::Call& call, v1::PutRowsReply& reply, v1::ErrorDetail& detail) {
  KILN_TRY_VOID(CheckSpace(request.space()));
  KILN_TRY_VOID(CheckCount("rows per request", request.items_size(), detail));
  std::vector<std::pair<cache::Item, const v1::CacheRow*>> rows;
  const auto refuse = [&](const v1::CacheRow& row, const char* reason) {
    v1::PutRowsReply::Refused& refused = *reply.add_refused();
    refused.set_level(row.level());
    refused.set_key(row.key());
    refused.set_reason(reason);
  };
  for (const v1::CacheRow& row : request.items()) {
    CheckStop();
    KILN_TRY(const cache::Key key, RowKeyOf(row));
    const ByteView value = AsBytes(row.value());
    // The references are taken from the row itself, never from the sender's list: a row that keeps
    // less content than it names would lose it at the next collection.
    const Result<cache::RowSummary> summary = cache::SummarizeRow(key.level, value);
    if (!summary.ok()) {
      refuse(row, "MALFORMED");
      continue;
    }
    std::vector<Hash128> refs;
    for (const cache::Product& product : summary->products) {
      refs.push_back(product.digest.id);
    }
    rows.emplace_back(cache::RowItem(key, Bytes(value.begin(), value.end()), std::move(refs)),
                      &row);
  }
  // The record of an alias comes before it.
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return (a.first.key.level == cache::Level::kAlias) <
           (b.first.key.level == cache::Level::kAlias);
  });
  std::vector<cache::Item> items;
  items.reserve(rows.size());
  for (const auto& [item, row] : rows) {
    items.push_back(item);
  }
  // One commit for all of them is the usual case. Only if it fails, or something is there already
  // that differs, the rows are put one by one, to find out which.
  const Result<cache::PutResult> together =
      items.empty() ? cache::PutResult{} : store.Put(items, cache::Durability::kDurable, call);
  if (together.ok() && together->nondeterminism == 0) {
    reply.set_stored(items.size());
    reply.set_present(together->present);
    return {};
  }
  if (!together.ok() && IsReadOnly(together.error())) {
    return together.error();
  }
  for (const auto& [item, row] : rows) {  // who is at fault is refused alone
    CheckStop();                          // each is on disk before the next
    const Result<cache::PutResult> alone =
        store.Put(std::span(&item, 1), cache::Durability::kDurable, call);
    if (alone.ok() && alone->nondeterminism == 0) {
      reply.set_stored(reply.stored() + 1);
      reply.set_present(reply.present() + alone->present);
    } else {
      const char* const reason = alone.ok() ? "CONFLICT" : RefusalOf(alone.error());
      if (reason == nullptr) {
        return alone.error();
      }
      refuse(*row, reason);
    }
  }
  return {};
}

}  // namespace kiln::rpc
