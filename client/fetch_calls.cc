// SPDX-License-Identifier: MIT
#include "client/fetch_calls.h"

#include <map>
#include <optional>
#include <utility>

#include "cache/store.h"
#include "client/connection.h"

namespace kiln::client {
namespace {

constexpr uint64_t kMaxBlobBytes = uint64_t{256}
                                   << 20;  // a lying size is refused before it is held

// Puts chunks of blobs together and checks them.
class BlobAssembler {
 public:
  // The blob, once it is whole. Errors: kCorrupt if it is not what its digest says.
  Result<std::optional<FetchedBlob>> Add(const v1::BlobChunk& chunk) {
    KILN_TRY(const Digest digest, FromProto(chunk.digest()));
    if (digest.size > kMaxBlobBytes) {
      return Error{.code = ErrorCode::kCorrupt,
                   .context = "a blob of " + std::to_string(digest.size) + " bytes is too large",
                   .reason = {}};
    }
    const ByteView data = AsBytes(chunk.data());
    if (data.size() == digest.size) {  // most are whole
      return Checked({.digest = digest, .bytes = Bytes(data.begin(), data.end())}, chunk.sum());
    }
    Bytes& bytes = open_[digest.id];
    if (chunk.offset() != bytes.size() || bytes.size() + chunk.data().size() > digest.size) {
      return Error{
          .code = ErrorCode::kCorrupt, .context = "chunks of a blob do not fit", .reason = {}};
    }
    bytes.insert(bytes.end(), data.begin(), data.end());
    if (bytes.size() != digest.size) {
      return std::optional<FetchedBlob>();
    }
    FetchedBlob blob{.digest = digest, .bytes = std::move(bytes)};
    open_.erase(digest.id);
    return Checked(std::move(blob), chunk.sum());
  }

 private:
  // The daemon decides which content has the id, so it suffices to verify that the bytes arrived
  // intact: a checksum does that several times as fast.
  static Result<std::optional<FetchedBlob>> Checked(FetchedBlob blob, const std::string& sum) {
    const auto has_sum = [&] {
      const Hash128 found = cache::ContentSum(blob.digest.id, blob.bytes);
      return AsText(std::as_bytes(std::span(found.bytes))) == sum;
    };
    const bool whole = sum.empty() ? HashBytes(blob.bytes) == blob.digest.id : has_sum();
    if (!whole) {
      return Error{.code = ErrorCode::kCorrupt,
                   .context = "blob " + blob.digest.id.hex() + " arrived damaged",
                   .reason = {}};
    }
    return std::optional(std::move(blob));
  }

  std::map<Hash128, Bytes> open_;
};

// Hands out what a stream brings.
class FetchReader {
 public:
  explicit FetchReader(const FetchCalls::FetchHandlers& handlers) : handlers_(handlers) {}

  // Errors: kCorrupt for a blob that is not what its digest says; what a handler says.
  Result<void> Take(const v1::FetchReply& reply) {
    for (const v1::BlobChunk& chunk : reply.blobs()) {
      KILN_TRY_VOID(Take(chunk));
    }
    for (const v1::Outcome& outcome : reply.outcomes()) {
      handlers_.on_outcome(FromProto(outcome));
    }
    if (reply.has_blob()) {
      return Take(reply.blob());
    }
    if (reply.has_outcome()) {
      handlers_.on_outcome(FromProto(reply.outcome()));
    } else if (reply.has_done()) {
      Take(reply.done());
    }
    return {};
  }

  // Nothing if the stream was cut.
  const std::optional<FetchDone>& done() const { return done_; }

 private:
  Result<void> Take(const v1::BlobChunk& chunk) {
    KILN_TRY(const std::optional<FetchedBlob> blob, blobs_.Add(chunk));
    return blob.has_value() ? handlers_.on_blob(*blob) : Result<void>();
  }

  void Take(const v1::FetchDone& done) {
    const v1::FetchDone::Counts& counts = done.counts();
    done_ = FetchDone{.outcomes = counts.outcomes(),
                      .skipped = counts.skipped(),
                      .failed = counts.failed(),
                      .blobs_sent = counts.blobs_sent(),
                      .bytes_sent = counts.bytes_sent(),
                      .root = HexOf(done.root())};
  }

  const FetchCalls::FetchHandlers& handlers_;
  BlobAssembler blobs_;
  std::optional<FetchDone> done_;
};

}  // namespace

Result<FetchDone> ReadFetch(Connection& connection, v1::FetchRequest request,
                            const FetchCalls::FetchHandlers& handlers, Context& context) {
  request.set_together(true);
  const auto stream = connection.compile->Fetch(&context.grpc, request);
  FetchReader reader(handlers);
  for (v1::FetchReply reply; stream->Read(&reply);) {
    if (const Result<void> taken = reader.Take(reply); !taken.ok()) {
      context.grpc.TryCancel();
      return taken.error();
    }
  }
  const grpc::Status status = stream->Finish();
  if (!status.ok()) {
    return context.Failed(status);
  }
  if (!reader.done().has_value()) {
    return Error{
        .code = ErrorCode::kCorrupt, .context = "the stream was cut", .reason = "STREAM_CUT"};
  }
  return *reader.done();
}

namespace {

void QuoteTo(const FetchCalls::FetchHow& how, v1::FetchRequest& request) {
  for (const Digest& digest : how.have) {
    ToProto(digest, request.add_have());
  }
  if (!how.have_root.empty()) {
    request.set_have_root(IdOf(how.have_root));
  }
}

}  // namespace

Result<FetchDone> FetchCalls::FetchBatch(const std::string& id, const FetchHow& how,
                                         const FetchHandlers& handlers) {
  v1::FetchRequest request;
  request.set_batch_id(IdOf(id));
  QuoteTo(how, request);
  Context context;
  return ReadFetch(connection_, request, handlers, context);
}

Result<FetchDone> FetchCalls::FetchVariants(const std::string& project, const Program& program,
                                            std::span<const std::vector<Option>> variants,
                                            const FetchHow& how, const FetchHandlers& handlers) {
  v1::FetchRequest request;
  for (const std::vector<Option>& options : variants) {
    v1::Variant* variant = request.add_variants();
    ToProto(program, variant->mutable_inline_program());
    for (const Option& option : options) {
      ToProto(option, variant->add_options());
    }
  }
  request.set_on_miss(how.compile ? v1::FetchRequest::COMPILE : v1::FetchRequest::SKIP);
  request.set_project(project);
  QuoteTo(how, request);
  Context context;
  return ReadFetch(connection_, request, handlers, context);
}

}  // namespace kiln::client
