// SPDX-License-Identifier: MIT
#include "server/rpc/calls/compile_calls.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "cache/decorators/memory_store.h"
#include "compiler/base/printable.h"
#include "compiler/base/threads/stop.h"
#include "compiler/source/macro_path.h"
#include "server/compile/cached_result.h"
#include "server/compile/kept_results.h"
#include "server/compile/programs/macro_choices.h"
#include "server/rpc/messages/convert_batch.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

Result<cache::Blob> ContentOf(Engine& engine, const compile::Outcome& outcome, const Digest& digest,
                              const cache::Call& call) {
  for (const compile::FreshBlob& fresh : outcome.fresh) {
    if (fresh.digest == digest) {
      return fresh.blob;
    }
  }
  return engine.store.Get(cache::ContentKey(digest), call);
}

// The bytes of an artifact into its message, if they fit. Both or neither: code of all stages in
// their order, then metadata. What is too large for a message is left out, and the client fetches
// it by digest (spec/daemon 3).
Result<void> FillInline(Engine& engine, const compile::Outcome& outcome, const cache::Call& call,
                        v1::Artifact& artifact) {
  uint64_t total = outcome.artifact->metadata.size;
  for (const compile::StageCodeDigest& code : outcome.artifact->code) {
    total += code.digest.size;
  }
  if (total > kMaxStreamMessage) {
    return {};
  }
  artifact.mutable_data()->reserve(total - outcome.artifact->metadata.size);
  for (const compile::StageCodeDigest& code : outcome.artifact->code) {
    KILN_TRY(const cache::Blob blob, ContentOf(engine, outcome, code.digest, call));
    artifact.mutable_data()->append(AsText(blob.bytes));
  }
  KILN_TRY(const cache::Blob metadata,
           ContentOf(engine, outcome, outcome.artifact->metadata, call));
  artifact.set_metadata_data(std::string(AsText(metadata.bytes)));
  return {};
}

}  // namespace

Result<void> CheckDurability(const Engine& engine, v1::Durability durability) {
  if (durability == v1::DURABILITY_QUORUM && !engine.whole.writes_upstream) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "this daemon has no upstream that it writes to, and could wait for",
                 .reason = "NO_UPSTREAM"};
  }
  return {};
}

// Which of the sources are here is asked once for all of them; the client uploads what is listed
// and repeats its call. The list is bounded, so with very many it takes several rounds.
Result<void> ListMissing(Engine& engine, const std::vector<compile::Source>& sources,
                         const cache::Call& call, v1::ErrorDetail& detail) {
  std::vector<cache::Key> keys;
  for (const compile::Source& source : sources) {
    if (source.text == nullptr) {
      keys.push_back(cache::ContentKey(source.digest));
    }
  }
  std::sort(keys.begin(), keys.end());  // programs share sources
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  KILN_TRY(const std::vector<cache::Key> found, engine.store.FindMissing(keys, call));
  std::unordered_set<cache::Key, cache::KeyHash> missing;
  for (const cache::Key& key : found) {
    CheckStop();
    // What a full database did not take is in memory, and an upload of it would end there again.
    if (!engine.store.Get(key, call.Until(cache::kAtOnce)).ok()) {
      missing.insert(key);
    }
  }
  for (const compile::Source& source : sources) {
    CheckStop();
    if (source.text == nullptr && detail.missing_size() < kMaxMissingListed &&
        missing.contains(cache::ContentKey(source.digest))) {
      ToProto(source.digest, *detail.add_missing());
    }
  }
  return {};
}

Result<void> CheckThere(Engine& engine, const std::vector<compile::Source>& sources,
                        const cache::Call& call, v1::ErrorDetail& detail) {
  KILN_TRY_VOID(ListMissing(engine, sources, call, detail));
  return detail.missing_size() == 0
             ? Result<void>()
             : Result<void>(
                   Error{.code = ErrorCode::kFailedPrecondition,
                         .context = "sources are not here; upload them with PutSources and repeat",
                         .reason = "SOURCES_MISSING"});
}

// What is missing is listed with everything that the program needs, so that a client needs one
// round for it and not one for each file.
Result<std::shared_ptr<const compile::PreparedProgram>> PrepareOrListMissing(
    Engine& engine, const compile::ProgramRequest& program, const compile::NamedTarget& target,
    const cache::Call& call, v1::ErrorDetail& detail, compile::PoisonPolicy poison) {
  auto prepared = engine.builder.Prepare(program, target, call, poison);
  if (!prepared.ok() && prepared.error().reason == "SOURCES_MISSING") {
    const auto needs = engine.builder.NeedsOf(program, call);
    KILN_TRY_VOID(ListMissing(engine, needs.ok() ? *needs : program.sources, call, detail));
  }
  return prepared;
}

// Targets are indexes into the program's list (spec/daemon 3).
Result<AskedVariant> FromProto(const v1::Variant& variant) {
  if (!variant.has_inline_program()) {
    return Malformed("variant.inline_program", "a variant carries its program");
  }
  KILN_TRY(ProgramAndTargets program, FromProto(variant.inline_program()));
  if (program.targets.empty()) {
    return Malformed("program.targets", "a program has at least one target");
  }
  AskedVariant asked{.program = std::move(program.program), .targets = {}, .options = {}};
  if (static_cast<uint64_t>(variant.targets_size()) > kMaxTargets) {
    return AboveLimit("targets per program", kMaxTargets,
                      static_cast<uint64_t>(variant.targets_size()));
  }
  for (const uint32_t index : variant.targets()) {
    if (index >= program.targets.size()) {
      return Malformed("variant.targets", fmt::format("there is no target {}", index));
    }
    asked.targets.push_back(program.targets[index]);
  }
  if (variant.targets().empty()) {
    asked.targets = std::move(program.targets);
  }
  for (const v1::OptionValue& value : variant.options()) {
    KILN_TRY(resolve::OptionSetting setting, FromProto(value));
    asked.options.push_back(std::move(setting));
  }
  // So that what is missing, and what is wrong, is that of the list of defines that is asked for.
  asked.program = compile::WithChoices(std::move(asked.program), asked.options);
  return asked;
}

Error WouldWrite(std::string why) {
  return {.code = ErrorCode::kPermissionDenied,
          .context = std::move(why),
          .reason = std::string(kWouldWrite)};
}

// What is known is not on the disk for that, nor at the upstream: whoever wants it kept waits for
// it, and is told what is so then.
Result<void> KeepKnown(Engine& engine, cache::Durability durability, const cache::Call& call,
                       compile::Outcome& outcome) {
  if (durability == cache::Durability::kRelaxed || !outcome.artifact.has_value() ||
      outcome.artifact->origin == compile::Origin::kCompiled) {
    return {};
  }
  if (call.deadline == cache::kAtOnce) {
    return cache::NotAtOnce();
  }
  const cache::Key key = compile::ResultKey(outcome.artifact->signature);
  outcome.artifact->stored =
      compile::KeepResults(engine.store, std::span(&key, 1), durability, call).results == 0;
  return {};
}

// One target of a variant, with its bytes if they are to travel inline. A result that is known but
// whose content is gone is built again (spec/cache 8.5).
Result<compile::Outcome> CompileTarget(Engine& engine, const compile::PreparedProgram& prepared,
                                       std::span<const resolve::OptionSetting> options,
                                       const CompileHow& how, const cache::Call& call,
                                       compile::BuildTrace& trace, v1::Outcome& converted) {
  compile::BuildOptions build = how.build;
  build.trace = compile::TraceDetail::kAll;
  for (;;) {
    compile::BuildReport report =
        engine.builder.Report(prepared, options, build, call, std::move(trace));
    trace = std::move(report.trace);
    KILN_TRY(compile::Outcome outcome, std::move(report.outcome));
    KILN_TRY_VOID(KeepKnown(engine, build.durability, call, outcome));
    converted.Clear();
    ToProto(outcome, converted);
    if (!how.inline_data || outcome.kind != compile::OutcomeKind::kOk) {
      return outcome;
    }
    const Result<void> filled = FillInline(engine, outcome, call, *converted.mutable_artifacts(0));
    if (filled.ok() || filled.error().code != ErrorCode::kNotFound ||
        build.known == compile::KnownResult::kBuiltAgain ||
        build.unknown == compile::UnknownVariant::kRefused) {
      return filled.ok() ? Result<compile::Outcome>(std::move(outcome)) : filled.error();
    }
    build.known = compile::KnownResult::kBuiltAgain;
  }
}

// What the includes of all sources asked for, each path once.
void IncludedTo(const compile::PreparedProgram& prepared, v1::Outcome& outcome) {
  std::map<std::string_view, const Probe*> by_path;
  for (const std::shared_ptr<const compile::ParsedSource>& parsed : prepared.parsed) {
    for (const Probe& probe : parsed->probes) {
      if (IsMacroPath(probe.path)) {
        continue;  // a macro that it asked for
      }
      by_path.emplace(probe.path, &probe);
    }
  }
  uint64_t bytes = 0;
  for (const auto& [path, probe] : by_path) {
    CheckStop();
    bytes += path.size();
    if (bytes > kMaxIncludedPaths) {
      return;
    }
    if (!IsPrintable(path)) {
      continue;  // no file is called that
    }
    v1::IncludedFile& included = *outcome.add_included();
    included.set_path(probe->path);
    if (probe->present) {
      ToProto(probe->digest, *included.mutable_digest());
    }
  }
}

// A variant is its targets, all or none: the first that is not there or is wrong is the answer for
// all. Each leaves an explain record; the number that the reply names is that of the first miss,
// which is the one that somebody will ask about, or else of the first target.
Result<void> CompileVariant(Engine& engine, const v1::Variant& variant, const CompileHow& how,
                            const cache::Call& call, v1::Outcome& outcome,
                            v1::ErrorDetail& detail) {
  KILN_TRY(const AskedVariant asked, FromProto(variant));
  if (call.deadline == cache::kAtOnce && asked.targets.size() != 1) {
    return cache::NotAtOnce();  // those before one that is not there would be explained twice
  }
  bool explained_miss = false;
  uint64_t seq = 0;
  for (const compile::NamedTarget& target : asked.targets) {
    compile::BuildTrace trace;
    compile::StageWatch watch(engine.clock, &trace);
    KILN_TRY(const auto prepared,
             PrepareOrListMissing(
                 engine, asked.program, target, call, detail,
                 compile::PoisonFor(how.build.failed == compile::KnownFailure::kTriedAgain)));
    watch.Lap("prepare");
    v1::Outcome converted;
    const Result<compile::Outcome> one =
        CompileTarget(engine, *prepared, asked.options, how, call, trace, converted);
    const bool not_cached = !one.ok() && one.error().reason == "NOT_CACHED";
    if (!one.ok() && !not_cached) {
      return one.error();
    }
    IncludedTo(*prepared, converted);
    const bool miss = trace.result == cache::ExplainResult::kMiss;
    const uint64_t number =
        call.may_write
            ? engine.explains.Append(ExplainRecordOf(*prepared, how.asker, trace, engine.clock))
            : 0;
    seq = seq == 0 || (miss && !explained_miss) ? number : seq;
    explained_miss = explained_miss || miss;
    if (not_cached && how.build.unknown == compile::UnknownVariant::kCompiled && !call.may_write) {
      return WouldWrite(
          fmt::format("this variant of '{}' is not in the cache and would have to be "
                      "compiled and stored",
                      asked.program.name));
    }
    if (not_cached) {
      outcome.Clear();
      outcome.set_explain_seq(seq);
      return {};
    }
    if (one->kind != compile::OutcomeKind::kOk) {  // no target without the others
      outcome = std::move(converted);
      outcome.set_explain_seq(seq);
      return {};
    }
    if (how.fresh != nullptr) {
      how.fresh->insert(how.fresh->end(), one->fresh.begin(), one->fresh.end());
    }
    outcome.set_kind(converted.kind());
    *outcome.mutable_included() = std::move(*converted.mutable_included());
    *outcome.add_artifacts() = std::move(*converted.mutable_artifacts(0));
    *outcome.mutable_diagnostics() = std::move(*converted.mutable_diagnostics());
  }
  outcome.set_explain_seq(seq);
  return {};
}

}  // namespace kiln::rpc
