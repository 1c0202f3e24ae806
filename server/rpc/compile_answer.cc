// SPDX-License-Identifier: MIT
// The fast path of Compile: the same bytes that were asked before are answered with the same reply,
// after a few questions whether everything is still there. So a warm Compile parses no message,
// makes no key and serialises nothing (spec/daemon 16).
#include "server/rpc/compile_answer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "cache/decorators/memory_store.h"
#include "server/rpc/calls/explain_calls.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/wire.h"
#include "server/rpc/reactors/bytes_call.h"

namespace kiln::rpc {
namespace {

// Without a wish the reply does not wait for the store (spec/cache 6.5.3).
cache::Durability DurabilityOf(v1::Durability durability) {
  return durability == v1::DURABILITY_LOCAL    ? cache::Durability::kDurable
         : durability == v1::DURABILITY_QUORUM ? cache::Durability::kQuorum
                                               : cache::Durability::kRelaxed;
}

grpc::Slice OnePieceOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  // Requests of a few KiB come in one slice as a rule, and are not copied.
  if (!buffer.TrySingleSlice(&slice).ok()) {
    (void)buffer.DumpToSingleSlice(&slice);
  }
  return slice;
}

Result<cache::Blob> StoredContent(Engine& engine, const Digest& digest, const cache::Call& call) {
  return engine.store.Get(cache::ContentKey(digest), call);
}

// Whether its sources are in the store or in memory, so that nothing in the request has to be kept.
bool IsByDigests(const v1::CompileRequest& request) {
  return std::ranges::all_of(request.variant().inline_program().sources(),
                             [](const v1::SourceRef& source) { return source.inline_().empty(); });
}

}  // namespace

// The bytes of the request are kept as they came: they are the key under which its answer is
// remembered.
CompileAnswer::CompileAnswer(Engine& engine, RequestCache& known, const grpc::ByteBuffer& request,
                             grpc::ByteBuffer& reply)
    : engine_(engine), known_(known), reply_(reply), request_(OnePieceOf(request)) {}

std::string_view CompileAnswer::bytes() const {
  return {reinterpret_cast<const char*>(request_.begin()), request_.size()};
}

// Answers from memory if the same bytes were asked for before and the result is still there. The
// bytes of the request stand for everything that follows from them; what may have changed since is
// asked each time: whether the contents are still there, and whether the builder would still find
// this result. All of it happens in gRPC's thread, so nothing here may wait.
bool CompileAnswer::IsKnown(const cache::Call& call, const std::string& trace) {
  const Duration start = engine_.clock.Monotonic();
  const std::shared_ptr<const CachedRequest> known = known_.Find(bytes(), call);
  if (known == nullptr) {
    return false;
  }
  std::vector<cache::Blob> code;
  cache::Blob metadata;
  // All content is collected before anything is answered: a reply without some of its bytes would
  // be wrong.
  if (known->inline_data) {
    for (const Digest& digest : known->code) {
      Result<cache::Blob> blob = StoredContent(engine_, digest, call);
      if (!blob.ok()) {
        return false;
      }
      code.push_back(std::move(blob).value());
    }
    Result<cache::Blob> blob = StoredContent(engine_, known->metadata, call);
    if (!blob.ok()) {
      return false;
    }
    metadata = std::move(blob).value();
  }
  if (!engine_.builder.StillFinds(known->recalled, call)) {
    return false;
  }
  const auto looked_up =
      std::chrono::duration_cast<std::chrono::microseconds>(engine_.clock.Monotonic() - start);
  // A hit leaves a record like any other request.
  const uint64_t seq = engine_.explains.AppendAgain(known->explained, trace,
                                                    static_cast<uint64_t>(looked_up.count()));
  reply_ = known->reply.With(code, metadata.bytes, seq);
  return true;
}

// For a request that was answered from memory.
void CompileAnswer::Remember(const v1::CompileRequest& request, const v1::Outcome& outcome,
                             const cache::Call& call) {
  // Only what memory answered is remembered: of anything else the next answer may differ, in its
  // origin at least.
  const bool is_hit = outcome.kind() == v1::Outcome::OK && outcome.artifacts_size() == 1 &&
                      outcome.artifacts(0).origin() == v1::Artifact::MEMORY;
  if (!is_hit || request.want_explain() || !IsByDigests(request)) {
    return;
  }
  auto explained = engine_.explains.WithSeq(outcome.explain_seq());
  const Result<AskedVariant> asked = FromProto(request.variant());
  if (explained == nullptr || !asked.ok()) {
    return;
  }
  const auto prepared = engine_.builder.Prepare(asked->program, asked->targets[0], call);
  if (!prepared.ok()) {
    return;
  }
  std::optional<compile::RecentResult> recalled =
      engine_.builder.Recall(**prepared, asked->options, call);
  if (!recalled.has_value() || recalled->found == nullptr) {
    return;
  }
  const v1::Artifact& artifact = outcome.artifacts(0);
  auto known = std::make_shared<CachedRequest>(
      CachedRequest{.recalled = *std::move(recalled),
                    .reply = CompileMessage(outcome),
                    .inline_data = !artifact.data().empty() || !artifact.metadata_data().empty(),
                    .code = {},
                    .metadata = {},
                    .explained = std::move(explained)});
  for (const v1::StageCode& code : artifact.code()) {
    known->code.push_back(FromProto(code.digest()).value());
  }
  known->metadata = FromProto(artifact.metadata()).value();
  known_.Keep(bytes(), std::move(known));
}

// Runs at most twice for one request: in gRPC's thread with kAtOnce, then in a job if memory did
// not suffice. A request that waits for its job is the bytes that were sent: what is parsed at once
// is short, and goes again.
Result<void> CompileAnswer::Run(const cache::Call& call, v1::ErrorDetail& detail) {
  const bool at_once = call.deadline == cache::kAtOnce;
  // A reader leaves no record, so it takes the long way.
  if (at_once && call.may_write && IsKnown(call, detail.trace_id())) {
    return {};
  }
  if (at_once && request_.size() > kMostAtOnce) {
    return NeedsWork();
  }
  KILN_TRY(const v1::CompileRequest request,
           MessageFrom<v1::CompileRequest>(grpc::ByteBuffer(&request_, 1)));
  KILN_TRY_VOID(CheckDurability(engine_, request.durability()));
  KILN_TRY_VOID(CheckName("project", request.project()));
  CompileHow how{
      .build = {},
      .inline_data = request.inline_data(),
      .asker = {.project = request.project(), .lane = "interactive", .trace = detail.trace_id()}};
  how.build.durability = DurabilityOf(request.durability());
  if (request.retry_failed()) {
    how.build.failed = compile::KnownFailure::kTriedAgain;
  }
  if (request.on_miss() != v1::CompileRequest::COMPILE) {
    how.build.unknown = compile::UnknownVariant::kRefused;
  }
  v1::CompileReply reply;
  KILN_TRY_VOID(
      CompileVariant(engine_, request.variant(), how, call, *reply.mutable_outcome(), detail));
  if (request.want_explain()) {
    const auto record = engine_.explains.WithSeq(reply.outcome().explain_seq());
    if (record != nullptr) {
      ExplainTo(engine_, *record, call, *reply.mutable_explain());
    }
  }
  if (at_once && call.may_write) {
    Remember(request, reply.outcome(), call);
  }
  // Serialised here, in the thread that made it, and not by gRPC.
  WriteTo(reply, reply_);
  return {};
}

}  // namespace kiln::rpc
