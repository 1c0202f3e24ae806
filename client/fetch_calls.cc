// SPDX-License-Identifier: MIT
#include "client/fetch_calls.h"

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cache/store.h"
#include "client/connection.h"

namespace kiln::client {
namespace {

constexpr uint64_t kMaxBlobBytes = uint64_t{256}
                                   << 20;  // a lying size is refused before it is held

// A batch and a pin have at most so many results (spec/daemon 10).
constexpr uint64_t kMostResults = 1'000'000;
constexpr uint64_t kMostOutcomeBytes = uint64_t{1} << 30;

// Content that no outcome has named yet. It goes before the outcome that names it, and one names
// some ten blobs; a miss may leave a few that nobody names in the end.
constexpr size_t kMostUnnamed = 4'096;
constexpr uint64_t kMostUnnamedBytes = 2 * kMaxBlobBytes;

Error Corrupt(std::string context) {
  return {.code = ErrorCode::kCorrupt, .context = std::move(context), .reason = {}};
}

Error Unasked(std::string context) {
  return {
      .code = ErrorCode::kDataLoss, .context = std::move(context), .reason = "MORE_THAN_ASKED_FOR"};
}

// What one Fetch may bring: outcomes of what was asked for, and content that they name. A daemon
// that goes beyond that is wrong or hostile, and whoever believes it fills memory and disk. Keeps
// the ids of what came; each step costs a look into a table.
class FetchRoom {
 public:
  explicit FetchRoom(uint64_t most_outcomes) : most_outcomes_(most_outcomes) {}

  // The first chunk of a blob came. Errors: kDataLoss with reason MORE_THAN_ASKED_FOR if it came
  // before, or too many wait for an outcome that names them; here and below.
  // The bounds must hold before the bytes do, so room is taken at the first chunk for the size that
  // the digest states.
  Result<void> AddBlob(const Digest& digest) {
    // Content comes before the result that names it, so a hostile daemon could send without end.
    // What no result has named yet is bounded in count and bytes, and nothing may come twice.
    if (!seen_.insert(digest.id).second) {
      return Unasked("the daemon sends blob " + digest.id.hex() + " again");
    }
    unnamed_.emplace(digest.id, digest.size);
    unnamed_bytes_ += digest.size;
    if (unnamed_.size() > kMostUnnamed || unnamed_bytes_ > kMostUnnamedBytes) {
      return Unasked(
          "the daemon sends content that no result names: " + std::to_string(unnamed_.size()) +
          " blobs of " + std::to_string(unnamed_bytes_) + " bytes");
    }
    return {};
  }

  Result<void> AddOutcome(const Outcome& outcome, uint64_t bytes) {
    ++outcomes_;
    outcome_bytes_ += bytes;
    if (outcomes_ > most_outcomes_ || outcome_bytes_ > kMostOutcomeBytes) {
      return Unasked("the daemon sends more results than were asked for: " +
                     std::to_string(outcomes_) + " of at most " + std::to_string(most_outcomes_) +
                     ", " + std::to_string(outcome_bytes_) + " bytes");
    }
    for (const Artifact& artifact : outcome.artifacts) {
      for (const StageCode& stage : artifact.code) {
        Name(stage.digest);
      }
      Name(artifact.metadata);
    }
    return {};
  }

 private:
  // Content that an outcome names is accounted for by the number of outcomes, and no longer counts
  // as unnamed.
  void Name(const Digest& digest) {
    if (const auto found = unnamed_.find(digest.id); found != unnamed_.end()) {
      unnamed_bytes_ -= found->second;
      unnamed_.erase(found);
    }
  }

  const uint64_t most_outcomes_;
  uint64_t outcomes_ = 0, outcome_bytes_ = 0, unnamed_bytes_ = 0;
  std::unordered_set<Hash128, Hash128Hash> seen_;
  std::unordered_map<Hash128, uint64_t, Hash128Hash> unnamed_;  // sizes
};

// How sure a blob is to be what its digest says.
enum class Verify : uint8_t {
  // It arrived as it was sent: a checksum, several times as fast as a digest. For what stays in the
  // memory of a process that trusts its daemon.
  kArrival,
  // Its SHA-256 is the id. For what goes to disk, where others take it for what its name says.
  kDigest,
};

// Puts chunks of blobs together and checks them.
class BlobAssembler {
 public:
  BlobAssembler(Verify verify, FetchRoom& room) : verify_(verify), room_(room) {}

  // The blob, once it is whole. Errors: kCorrupt if it is not what its digest says; of FetchRoom.
  // Chunks of several blobs may be interleaved, hence a table of those that are open. Its size is
  // bounded by the room that their digests took.
  Result<std::optional<FetchedBlob>> Add(const v1::BlobChunk& chunk) {
    KILN_TRY(const Digest digest, FromProto(chunk.digest()));
    if (digest.size > kMaxBlobBytes) {
      return Corrupt("a blob of " + std::to_string(digest.size) + " bytes is too large");
    }
    const auto known = open_.find(digest.id);
    if (known == open_.end()) {
      KILN_TRY_VOID(room_.AddBlob(digest));
    }
    const ByteView data = AsBytes(chunk.data());
    // Most are whole.
    if (data.size() == digest.size && known == open_.end() && chunk.offset() == 0) {
      return Checked({.digest = digest, .bytes = Bytes(data.begin(), data.end())}, chunk.sum());
    }
    Open& open = known == open_.end() ? open_[digest.id] : known->second;
    open.size = known == open_.end() ? digest.size : open.size;
    // Every chunk repeats the digest. One that states another size than the first would grow the
    // blob beyond the room that was taken.
    if (open.size != digest.size || chunk.offset() != open.bytes.size() ||
        open.bytes.size() + data.size() > open.size) {
      return Corrupt("chunks of a blob do not fit");
    }
    open.bytes.insert(open.bytes.end(), data.begin(), data.end());
    if (open.bytes.size() != open.size) {
      return std::optional<FetchedBlob>();
    }
    FetchedBlob blob{.digest = digest, .bytes = std::move(open.bytes)};
    open_.erase(digest.id);
    return Checked(std::move(blob), chunk.sum());
  }

 private:
  // What room was taken for at its first chunk.
  struct Open {
    uint64_t size = 0;
    Bytes bytes;
  };

  Result<std::optional<FetchedBlob>> Checked(FetchedBlob blob, const std::string& sum) const {
    const auto has_sum = [&] {
      const Hash128 found = cache::ContentSum(blob.digest.id, blob.bytes);
      return AsText(std::as_bytes(std::span(found.bytes))) == sum;
    };
    // A daemon that sends no sum is believed no more than before: then the digest is computed.
    const bool by_digest = verify_ == Verify::kDigest || sum.empty();
    const bool whole = by_digest ? HashBytes(blob.bytes) == blob.digest.id : has_sum();
    if (!whole) {
      return Corrupt("blob " + blob.digest.id.hex() + " arrived damaged");
    }
    return std::optional(std::move(blob));
  }

  const Verify verify_;
  FetchRoom& room_;
  std::map<Hash128, Open> open_;
};

// Hands out what a stream brings.
class FetchReader {
 public:
  FetchReader(const FetchCalls::FetchHandlers& handlers, Verify verify, uint64_t most_outcomes)
      : handlers_(handlers), room_(most_outcomes), blobs_(verify, room_) {}

  // Errors: kCorrupt for a blob that is not what its digest says; of FetchRoom; what a handler
  // says.
  Result<void> Take(const v1::FetchReply& reply) {
    for (const v1::BlobChunk& chunk : reply.blobs()) {
      KILN_TRY_VOID(Take(chunk));
    }
    for (const v1::Outcome& outcome : reply.outcomes()) {
      KILN_TRY_VOID(Take(outcome));
    }
    if (reply.has_blob()) {
      return Take(reply.blob());
    }
    if (reply.has_outcome()) {
      return Take(reply.outcome());
    }
    if (reply.has_done()) {
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

  Result<void> Take(const v1::Outcome& message) {
    const Outcome outcome = FromProto(message);
    KILN_TRY_VOID(room_.AddOutcome(outcome, message.ByteSizeLong()));
    handlers_.on_outcome(outcome);
    return {};
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
  FetchRoom room_;
  BlobAssembler blobs_;
  std::optional<FetchDone> done_;
};

Result<FetchDone> ReadReplies(Connection& connection, v1::FetchRequest request,
                              const FetchCalls::FetchHandlers& handlers, Context& context,
                              Verify verify) {
  // Many small blobs come in one message: a results page of a thousand would otherwise be several
  // thousand messages.
  request.set_together(true);
  const auto stream = connection.compile->Fetch(&context.grpc, request);
  // Each variant that was asked for has one outcome. A batch or a pin has as many as it has
  // results.
  const auto variants = static_cast<uint64_t>(request.variants_size());
  FetchReader reader(handlers, verify, variants == 0 ? kMostResults : variants);
  for (v1::FetchReply reply; stream->Read(&reply);) {
    if (const Result<void> taken = reader.Take(reply); !taken.ok()) {
      context.grpc.TryCancel();
      (void)stream->Finish();  // or the daemon hears of it late
      return taken.error();
    }
  }
  const grpc::Status status = stream->Finish();
  if (!status.ok()) {
    return context.Failed(status);
  }
  // A status that is fine without the last message means that something in between cut the stream.
  if (!reader.done().has_value()) {
    return Error{
        .code = ErrorCode::kCorrupt, .context = "the stream was cut", .reason = "STREAM_CUT"};
  }
  return *reader.done();
}

// What this side has already, digest by digest or by the root of an earlier fetch.
void QuoteTo(const FetchCalls::FetchHow& how, v1::FetchRequest& request) {
  for (const Digest& digest : how.have) {
    ToProto(digest, request.add_have());
  }
  if (!how.have_root.empty()) {
    request.set_have_root(IdOf(how.have_root));
  }
}

}  // namespace

Result<FetchDone> ReadFetch(Connection& connection, v1::FetchRequest request,
                            const FetchCalls::FetchHandlers& handlers, Context& context) {
  return ReadReplies(connection, std::move(request), handlers, context, Verify::kArrival);
}

Result<FetchDone> FetchCalls::FetchBatch(const std::string& id, const FetchHow& how,
                                         const FetchHandlers& handlers) {
  v1::FetchRequest request;
  request.set_batch_id(IdOf(id));
  QuoteTo(how, request);
  Context context;
  return ReadReplies(connection_, std::move(request), handlers, context, Verify::kDigest);
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
  return ReadReplies(connection_, std::move(request), handlers, context, Verify::kDigest);
}

}  // namespace kiln::client
