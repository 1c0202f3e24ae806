// SPDX-License-Identifier: MIT
#include "server/rpc/calls/fetch_pages.h"

#include <algorithm>
#include <bit>

#include "cache/call_bounds.h"
#include "cache/record.h"
#include "compiler/base/threads/stop.h"
#include "server/compile/product_list.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/outcome_bytes.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

// A page is made in one job: its size is what a reader may make the daemon hold, and how long a job
// takes.
constexpr uint64_t kPageBytes = uint64_t{256} << 10;
constexpr uint64_t kChunk = kMaxStreamMessage - 1024;  // leaves room for the rest of the message
constexpr size_t kPageEvents = 256;                    // and then no more results
constexpr size_t kDigestBytes = 24;                    // of a list that a root names

// Sorted digests as bytes: what `root` is the content id of.
std::string ListBytes(const DigestSet& digests) {
  std::string bytes;
  for (const Digest& digest : digests.Sorted()) {
    bytes.append(AsText(std::as_bytes(std::span(digest.id.bytes))));
    for (int shift = 56; shift >= 0; shift -= 8) {
      bytes += static_cast<char>(digest.size >> shift & 0xffu);
    }
  }
  return bytes;
}

void AddListed(std::string_view bytes, DigestSet& digests) {
  // What is left at the end of a list of another form is no digest. A list that is wrong costs the
  // client that named it some content, and nobody else.
  for (; bytes.size() >= kDigestBytes; bytes.remove_prefix(kDigestBytes)) {
    CheckStop();
    Digest digest;
    std::memcpy(digest.id.bytes.data(), bytes.data(), digest.id.bytes.size());
    for (size_t i = digest.id.bytes.size(); i < kDigestBytes; ++i) {
      digest.size = digest.size << 8 | static_cast<uint8_t>(bytes[i]);
    }
    digests.Add(digest);
  }
}

// The sources that variants name by digest alone: no record keeps them.
std::vector<cache::Key> SourcesOf(const v1::FetchRequest& request) {
  std::set<Digest> digests;
  for (const v1::Variant& variant : request.variants()) {
    CheckStop();
    for (const v1::SourceRef& source : variant.inline_program().sources()) {
      if (const Result<Digest> digest = FromProto(source.digest()); digest.ok()) {
        digests.insert(*digest);
      }
    }
    const v1::Hlsl& hlsl = variant.inline_program().hlsl();
    if (const Result<Digest> list = FromProto(hlsl.file_list()); list.ok()) {
      digests.insert(*list);
    }
    for (const v1::SourceRef& file : hlsl.files()) {
      if (const Result<Digest> digest = FromProto(file.digest()); digest.ok()) {
        digests.insert(*digest);
      }
    }
  }
  std::vector<cache::Key> keys;
  keys.reserve(digests.size());
  for (const Digest& digest : digests) {
    keys.push_back(cache::ContentKey(digest));
  }
  return keys;
}

}  // namespace

// An index over rows instead of a set of nodes: a client may name hundreds of thousands of digests,
// and each node would cost more than the digest.
bool DigestSet::Contains(const Digest& digest) const {
  return index_.Find(Hash128Hash{}(digest.id),
                     [&](uint32_t row) { return rows_[row] == digest; }) != InternIndex::kFree;
}

bool DigestSet::Add(const Digest& digest) {
  const size_t before = rows_.size();
  index_.FindOrAdd(
      Hash128Hash{}(digest.id), [&](uint32_t row) { return rows_[row] == digest; },
      [&] {
        rows_.push_back(digest);
        return static_cast<uint32_t>(before);
      });
  return rows_.size() != before;
}

// Of the last one that was added, when what it stands for could not be sent after all.
void DigestSet::TakeBack() {
  index_.Erase(Hash128Hash{}(rows_.back().id), static_cast<uint32_t>(rows_.size() - 1));
  rows_.pop_back();
}

// A list of hundreds of thousands is sorted on the way of a call, so the comparison is one of
// numbers in nearly all cases.
std::vector<Digest> DigestSet::Sorted() const {
  const auto begin_of = [](const Digest& digest) {  // tells nearly all apart
    uint64_t begin = 0;
    std::memcpy(&begin, digest.id.bytes.data(), sizeof(begin));
    return std::endian::native == std::endian::little ? __builtin_bswap64(begin) : begin;
  };
  std::vector<Digest> sorted = rows_;
  std::ranges::sort(sorted, [&](const Digest& a, const Digest& b) {
    CheckStop();
    const uint64_t begin_a = begin_of(a), begin_b = begin_of(b);
    return begin_a != begin_b ? begin_a < begin_b : a < b;
  });
  return sorted;
}

Result<void> FetchPages::Begin(const cache::Call& call) {
  begun_ = true;
  if (request_.warm_only() && request_.variants().empty()) {
    return NotBuiltIn("warm results of a batch or pin");
  }
  const int subjects = (request_.batch_id().empty() ? 0 : 1) + (request_.pin().empty() ? 0 : 1) +
                       (request_.variants().empty() ? 0 : 1);
  if (subjects != 1) {
    return Malformed("variants", "either variants, or a batch, or a pin");
  }
  KILN_TRY_VOID(CheckName("project", request_.project()));
  if (call.may_write && request_.variants_size() != 1) {  // one is sent at once, as memory has it
    held_ = engine_.whole.held.Hold("fetch", SourcesOf(request_));
  }
  for (const v1::Digest& digest : request_.have()) {
    CheckStop();
    KILN_TRY(const Digest have, FromProto(digest));
    had_.Add(have);
  }
  if (!request_.have_root().empty()) {
    KILN_TRY(const Hash128 root, IdFromProto("have_root", request_.have_root()));
    const Result<cache::Blob> list = engine_.store.Get(cache::ContentKey(root), call);
    if (list.ok()) {  // one that was evicted saves nothing, and that is all
      AddListed(AsText(list->bytes), had_);
    }
  }
  // What it has is known, and so is what was sent; the difference is told in the counts.
  known_ = had_;
  if (!request_.batch_id().empty()) {
    KILN_TRY(const Hash128 id, IdFromProto("batch_id", request_.batch_id()));
    KILN_TRY(results_, engine_.batches.Results(id));
  }
  if (request_.pin().empty()) {
    return {};
  }
  KILN_TRY_VOID(CheckPinName("pin", request_.pin()));
  KILN_TRY_VOID(CheckPinLength("pin", request_.pin()));
  return ListPin(call);
}

// The next page: as many results as make a quarter of a megabyte, or a number of events that keeps
// progress visible when everything is small. A result is never split, but for blobs above the size
// of a message, so a page may be larger than that.
Result<std::vector<grpc::ByteBuffer>> FetchPages::Next(const cache::Call& call,
                                                       v1::ErrorDetail& detail) {
  if (!begun_) {
    KILN_TRY_VOID(Begin(call));
  }
  const bool of_variants = !request_.variants().empty();
  const uint64_t count =
      of_variants ? static_cast<uint64_t>(request_.variants_size()) : results_.size();
  while (!done_ && page_.bytes() < kPageBytes && page_.events() < kPageEvents) {
    CheckStop();
    if (next_ == count) {
      KILN_TRY_VOID(AddDone(call));
    } else if (of_variants) {
      KILN_TRY_VOID(AddVariant(call, detail));
    } else {
      KILN_TRY_VOID(AddResult(call, detail));
    }
  }
  if (!done_) {
    AddProgress(count);
  }
  return page_.Take();
}

// Progress is reported between pages: a fetch of one page is over before it would be of use.
void FetchPages::AddProgress(uint64_t total) {
  v1::Progress progress;
  progress.set_stage("fetch");
  progress.set_done(next_);
  progress.set_total(total);
  progress.set_bytes_done(counts_.bytes_sent());
  page_.AddProgress(progress);
}

// A result whose content was evicted is a result all the same: the record names what is missing. It
// is built again if the caller lets us, else it is a miss like any other. No client is told of
// content that it cannot get.
Result<void> FetchPages::AddVariant(const cache::Call& call, v1::ErrorDetail& detail) {
  const uint64_t index = next_++;
  const v1::Variant& variant = request_.variants(static_cast<int>(index));
  if (request_.warm_only() && !variant.warm()) {
    return {};
  }
  // Blobs of this variant that were just made are sent from memory: the store may have been too
  // full to take them.
  fresh_.clear();
  CompileHow how{.build = {}, .inline_data = request_.inline_data(), .fresh = &fresh_};
  if (request_.on_miss() != v1::FetchRequest::COMPILE) {
    how.build.unknown = compile::UnknownVariant::kRefused;
  }
  how.asker = {.project = request_.project(), .lane = "interactive", .trace = trace_};
  v1::Outcome outcome;
  KILN_TRY_VOID(CompileVariant(engine_, variant, how, call, outcome, detail));
  Result<void> sent = AddBlobs(outcome, call);
  if (!sent.ok() && sent.error().code == ErrorCode::kNotFound &&
      how.build.unknown == compile::UnknownVariant::kCompiled) {
    how.build.known = compile::KnownResult::kBuiltAgain;  // known, but gone (spec/cache 8.5)
    outcome.Clear();
    KILN_TRY_VOID(CompileVariant(engine_, variant, how, call, outcome, detail));
    sent = AddBlobs(outcome, call);
  } else if (!sent.ok() && sent.error().code == ErrorCode::kNotFound) {
    outcome.Clear();  // a miss like any other
    sent = {};
  }
  KILN_TRY_VOID(std::move(sent));
  outcome.set_index(index);
  AddOutcome(outcome);
  return {};
}

// The results that a pin keeps. Which program they are of is not known any more.
Result<void> FetchPages::ListPin(const cache::Call& call) {
  if (engine_.whole.maintenance == nullptr) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "there is no pin '" + request_.pin() + "'",
                 .reason = "UNKNOWN_PIN"};
  }
  const auto table = std::make_shared<compile::ResultTable>(std::string());
  Result<void> listed = engine_.whole.maintenance->EachRow(
      {.pin = request_.pin(), .since_s = {}},
      [&](const cache::Key& key, ByteView value) -> Result<void> {
        KILN_TRY_VOID(cache::StillWanted(call, engine_.clock));
        const Result<cache::Record> record = cache::DecodeRecord(value);
        if (key.level != cache::Level::kSignature || !record.ok()) {
          return {};
        }
        std::optional<compile::Artifact> artifact = compile::ArtifactOf(*record, key.id);
        if (artifact.has_value()) {
          table->Add({}, {.artifact = std::move(artifact)}, 1);
        }
        return {};
      });
  results_.Add(table, false);
  if (!listed.ok() && listed.error().code == ErrorCode::kNotFound) {
    return Error{
        .code = ErrorCode::kNotFound, .context = listed.error().context, .reason = "UNKNOWN_PIN"};
  }
  return listed;
}

// Builds again what the batch made of this point.
Result<compile::Outcome> FetchPages::Rebuild(const compile::BatchItem& item,
                                             const cache::Call& call, v1::ErrorDetail& detail) {
  KILN_TRY(const Hash128 id, IdFromProto("batch_id", request_.batch_id()));
  KILN_TRY(const std::shared_ptr<const compile::BatchRequest> request, engine_.batches.Request(id));
  // By name: a batch has each program once, and the item remembers no more of it.
  for (const compile::BatchProgram& program : request->programs) {
    for (const compile::NamedTarget& target : program.targets) {
      if (program.program.name == item.program && target.name == item.outcome.artifact->target) {
        KILN_TRY(const auto prepared,
                 PrepareOrListMissing(engine_, program.program, target, call, detail));
        return engine_.builder.Build(*prepared, item.options,
                                     {.known = compile::KnownResult::kBuiltAgain}, call);
      }
    }
  }
  return Error{.code = ErrorCode::kNotFound, .context = "no program of the batch", .reason = {}};
}

// What was lost is recomputed from its sources; without them it is a miss (spec/cache 8.5).
Result<void> FetchPages::AddResult(const cache::Call& call, v1::ErrorDetail& detail) {
  const uint64_t index = next_++;
  fresh_.clear();
  const compile::BatchItem item = results_.At(index);
  const compile::Outcome& known = item.outcome;
  Result<void> sent = AddBlobs(known, call);
  if (sent.ok()) {
    AddOutcome(known, index);
  } else if (sent.error().code != ErrorCode::kNotFound) {
    return sent;
  } else if (request_.pin().empty() && call.may_write) {
    KILN_TRY(const compile::Outcome again, Rebuild(item, call, detail));
    fresh_ = again.fresh;
    KILN_TRY_VOID(AddBlobs(again, call));
    AddOutcome(again, index);
  } else {
    // An outcome without a kind says that there is none. The order of results stays, so the index
    // is still right.
    v1::Outcome miss;
    miss.set_index(index);
    AddOutcome(miss);
  }
  return {};
}

// Blobs go before the outcome: a client that has the outcome has all that it names.
Result<void> FetchPages::AddBlobs(const v1::Outcome& outcome, const cache::Call& call) {
  for (const v1::Artifact& artifact : outcome.artifacts()) {
    if (!artifact.metadata_data().empty()) {
      continue;  // travels inside of the outcome
    }
    for (const v1::StageCode& code : artifact.code()) {
      KILN_TRY(const Digest digest, FromProto(code.digest()));
      KILN_TRY_VOID(AddBlob(digest, call));
    }
    KILN_TRY(const Digest metadata, FromProto(artifact.metadata()));
    KILN_TRY_VOID(AddBlob(metadata, call));
  }
  return {};
}

Result<void> FetchPages::AddBlobs(const compile::Outcome& outcome, const cache::Call& call) {
  if (!outcome.artifact.has_value()) {
    return {};
  }
  for (const compile::StageCodeDigest& code : outcome.artifact->code) {
    KILN_TRY_VOID(AddBlob(code.digest, call));
  }
  return AddBlob(outcome.artifact->metadata, call);
}

void FetchPages::AddOutcome(const compile::Outcome& outcome, uint64_t index) {
  // Nearly all outcomes are plain, and are written as bytes without a message in between
  // (outcome_bytes.h).
  if (!IsPlain(outcome)) {
    v1::Outcome message;
    ToProto(outcome, message);
    message.set_index(index);
    return AddOutcome(message);
  }
  outcome_.clear();
  AppendOutcome(outcome, index, outcome_);
  page_.AddOutcome(outcome_);
  counts_.set_outcomes(counts_.outcomes() + 1);
}

void FetchPages::AddOutcome(const v1::Outcome& outcome) {
  counts_.set_outcomes(counts_.outcomes() + 1);
  if (outcome.kind() == v1::Outcome::KIND_UNSPECIFIED) {
    counts_.set_skipped(counts_.skipped() + 1);
  } else if (outcome.kind() != v1::Outcome::OK) {
    counts_.set_failed(counts_.failed() + 1);
  }
  page_.AddOutcome(outcome);
}

Result<void> FetchPages::AddBlob(const Digest& digest, const cache::Call& call) {
  if (!known_.Add(digest)) {
    // What this call has sent already is not sent again, but only what the client quoted counts as
    // known.
    counts_.set_blobs_known(counts_.blobs_known() + (had_.Contains(digest) ? 1 : 0));
    return {};
  }
  const auto made = std::ranges::find(fresh_, digest, &compile::FreshBlob::digest);
  const Result<cache::Blob> found =
      made != fresh_.end() ? made->blob : engine_.store.Get(cache::ContentKey(digest), call);
  if (!found.ok()) {
    // The client was not sent it, and another result may bring it.
    known_.TakeBack();
    return found.error();
  }
  const cache::Blob& blob = *found;
  uint64_t offset = 0;
  // An empty blob is one empty chunk, so that the client hears of it at all.
  do {
    const uint64_t size = std::min<uint64_t>(kChunk, blob.bytes.size() - offset);
    page_.AddChunk(digest, blob, offset, size);
    offset += size;
  } while (offset < blob.bytes.size());
  counts_.set_blobs_sent(counts_.blobs_sent() + 1);
  counts_.set_bytes_sent(counts_.bytes_sent() + blob.bytes.size());
  return {};
}

// What the client has now becomes a list in the store, named by its content. The next fetch sends
// that name instead of thousands of digests, and gets what is not in the list.
Result<void> FetchPages::AddDone(const cache::Call& call) {
  const cache::Item list = cache::ContentItem(cache::CopiedBlob(AsBytes(ListBytes(known_))));
  // If it is not stored the next fetch cannot find it and sends more than it need; nothing is wrong
  // with that.
  (void)engine_.store.Put(std::span(&list, 1), cache::Durability::kRelaxed, call);
  v1::FetchDone done;
  *done.mutable_counts() = counts_;
  done.set_root(IdBytes(list.key.id));
  page_.AddDone(done);
  done_ = true;
  return {};
}

}  // namespace kiln::rpc
