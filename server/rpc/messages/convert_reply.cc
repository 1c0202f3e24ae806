// SPDX-License-Identifier: MIT
// Results as messages (spec/daemon 3). Texts of sources are bytes of a client; what is not UTF-8 in
// them is replaced here, since a reader would refuse the whole message.
#include "server/rpc/messages/convert_reply.h"

#include <algorithm>
#include <bit>
#include <span>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/printable.h"
#include "server/rpc/messages/message_limits.h"

namespace kiln::rpc {
namespace {

// Bounds of spec/daemon 3.1: what a person reads of one program, and what fits into one message.
constexpr int kMaxErrors = 20;
constexpr int kMaxShown = 100;
// With paths, which stand at every place, and examples: an outcome fits into a message.
constexpr size_t kMaxDiagnosticBytes = kMaxStreamMessage / 2;
constexpr size_t kMaxExampleBytes = size_t{64} << 10;

// The end of a place travels as bytes only. Whoever shows it makes the end of the line from the
// length.
void LabelTo(const PlacedSpan& where, const std::string& text, v1::Diagnostic::Label& out) {
  out.set_path(where.path);
  out.set_begin(where.bytes.begin);
  out.set_end(where.bytes.end);
  out.set_line(where.line);
  out.set_column(where.column);
  out.set_text(text);
}

// By digests: content is asked for by who needs it, and most clients have it.
void ArtifactTo(const compile::Artifact& artifact, v1::Artifact& out) {
  out.set_target(artifact.target);
  for (const compile::StageCodeDigest& code : artifact.code) {
    v1::StageCode& stage = *out.add_code();
    stage.set_stage(StageTo(code.stage));
    ToProto(code.digest, *stage.mutable_digest());
  }
  ToProto(artifact.metadata, *out.mutable_metadata());
  for (const std::string& name : artifact.live_options) {
    out.add_live_options(name);
  }
  out.set_layout_hash(artifact.layout_hash.bytes.data(), artifact.layout_hash.bytes.size());
  out.set_state_id(artifact.state_id.bytes.data(), artifact.state_id.bytes.size());
  out.set_signature(artifact.signature.bytes.data(), artifact.signature.bytes.size());
  out.set_origin(static_cast<v1::Artifact::Origin>(artifact.origin));
  out.set_stored(artifact.stored);
  out.set_cpu_us(artifact.cpu_us);
  out.set_build_id(artifact.build_id);
}

// No part of nothing is 0: a client shows it without having to know NaN.
double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// What `kiln build` exits with (spec/cli 4): the first reason that applies.
uint32_t ExitHint(const compile::BatchProgress& progress, compile::BatchState state) {
  constexpr uint32_t kWrongSources = 1, kUsage = 2, kLimit = 5, kCancelled = 6, kPartial = 8,
                     kInternal = 70;
  // A failed batch without wrong sources failed for a reason that is kiln's own. Missing results
  // come before wrong sources, because they may be there the next time.
  const bool wrong = progress.failed + progress.limited != 0;
  if (progress.wrong_space) {
    return kUsage;
  }
  if (progress.over_budget) {
    return kLimit;
  }
  if (state == compile::BatchState::kCancelled) {
    return kCancelled;
  }
  if (state == compile::BatchState::kFailed && !wrong) {
    return kInternal;
  }
  const uint64_t missing =
      progress.unbuilt + progress.poisoned + (progress.wants_kept ? progress.unstored : 0);
  return missing != 0 ? kPartial : wrong ? kWrongSources : 0;
}

// Problems other than wrong sources, in words; empty: none.
std::string ProblemOf(const compile::BatchProgress& progress) {
  const auto results = [](uint64_t count) {
    return fmt::format("{} result{}", count, count == 1 ? "" : "s");
  };
  if (progress.unbuilt != 0) {
    return fmt::format("{} could not be built: {}", results(progress.unbuilt), progress.problem);
  }
  return progress.unstored == 0 ? std::string()
                                : fmt::format("{} built, but not kept in the cache: {}",
                                              results(progress.unstored), progress.problem);
}

// At most kMaxErrors, kMaxDiagnostics and kMaxDiagnosticBytes, then a count. `examples` has a
// variant for each of them, or nothing. The order of the diagnostics is that of the compiler, so
// what is left out is the end of the list. Warnings go on when errors have met their bound.
void DiagnosticsTo(const std::vector<PlacedDiagnostic>& diagnostics,
                   std::span<const std::vector<resolve::OptionSetting>> examples,
                   v1::Outcome& out) {
  int errors = 0;
  size_t bytes = 0;
  uint64_t left_out = 0;
  for (size_t i = 0; i < diagnostics.size(); ++i) {
    const PlacedDiagnostic& diagnostic = diagnostics[i];
    const bool error = diagnostic.severity == Severity::kError;
    if ((error && errors == kMaxErrors) || out.diagnostics_size() == kMaxShown) {
      ++left_out;
      continue;
    }
    v1::Diagnostic added;
    ToProto(diagnostic, added);
    const size_t alone = added.ByteSizeLong();
    if (diagnostic.variants.has_value() && i < examples.size()) {
      for (const resolve::OptionSetting& setting : examples[i]) {
        ToProto(setting, *added.mutable_variants()->add_example());
      }
    }
    // The example is what can be left out: the condition says the same in fewer words.
    if (added.ByteSizeLong() - alone > kMaxExampleBytes) {
      added.mutable_variants()->clear_example();
    }
    bytes += added.ByteSizeLong();
    // The first one always fits, so a program that is wrong never looks right.
    if (bytes > kMaxDiagnosticBytes && out.diagnostics_size() != 0) {
      ++left_out;
      continue;
    }
    errors += error ? 1 : 0;
    *out.add_diagnostics() = std::move(added);
  }
  if (left_out != 0) {
    v1::Diagnostic& last = *out.mutable_diagnostics(out.diagnostics_size() - 1);
    last.add_notes(fmt::format("note: {} more are not shown", left_out));
  }
}

// The item's outcome has what a client shows for it, and no content.
void ItemTo(const compile::BatchItem& item, v1::BatchItem& out) {
  out.set_program(item.program);
  for (const resolve::OptionSetting& setting : item.options) {
    ToProto(setting, *out.add_options());
  }
  // The numbers of the two enumerations are equal by definition (compile/request.h).
  out.mutable_outcome()->set_kind(static_cast<v1::Outcome::Kind>(item.outcome.kind));
  if (item.outcome.artifact.has_value()) {
    ArtifactTo(*item.outcome.artifact, *out.mutable_outcome()->add_artifacts());
  }
  DiagnosticsTo(item.outcome.diagnostics, item.examples, *out.mutable_outcome());
  // A decimal text: spaces may have more variants than 64 bits count (spec/cli 7.1).
  out.set_served(std::to_string(item.served));
  out.set_cpu_us(item.outcome.artifact.has_value() ? item.outcome.artifact->cpu_us : 0);
}

}  // namespace

// None means a module of all stages, or code without one.
v1::EntryPoint::Stage StageTo(const std::optional<ir::Stage>& stage) {
  if (!stage.has_value()) {
    return v1::EntryPoint::STAGE_UNSPECIFIED;
  }
  switch (*stage) {
    case ir::Stage::kVertex:
      return v1::EntryPoint::VERTEX;
    case ir::Stage::kFragment:
      return v1::EntryPoint::FRAGMENT;
    case ir::Stage::kCompute:
      return v1::EntryPoint::COMPUTE;
  }
  KILN_UNREACHABLE();
}

std::string IdBytes(const Hash128& id) { return {id.bytes.begin(), id.bytes.end()}; }

void ToProto(const Digest& digest, v1::Digest& out) {
  out.set_id(digest.id.bytes.data(), digest.id.bytes.size());
  out.set_size(digest.size);
}

// Bits become the value of the type; the receiver gets what a person wrote, and not bits.
void ToProto(const resolve::OptionSetting& setting, v1::OptionValue& out) {
  out.set_name(setting.name);
  if (setting.scope.has_value()) {
    out.set_scope(*setting.scope == ir::OptionScope::kGlobal ? v1::OptionValue::GLOBAL
                                                             : v1::OptionValue::INSTANCE);
  }
  switch (setting.kind) {
    case ir::OptionKind::kFlag:
      return out.set_flag(setting.bits != 0);
    case ir::OptionKind::kUint:
      return out.set_uint(setting.bits);
    case ir::OptionKind::kSint:
      return out.set_sint(static_cast<int32_t>(setting.bits));
    case ir::OptionKind::kFloat:
      return out.set_float_(std::bit_cast<float>(setting.bits));
    case ir::OptionKind::kEnum:
      return out.set_enum_(setting.text);
  }
}

// Places have lines and columns already: whoever shows a diagnostic need not have the source.
void ToProto(const PlacedDiagnostic& diagnostic, v1::Diagnostic& out) {
  out.set_code(diagnostic.code);
  out.set_severity(diagnostic.severity == Severity::kError     ? v1::Diagnostic::ERROR
                   : diagnostic.severity == Severity::kWarning ? v1::Diagnostic::WARNING
                                                               : v1::Diagnostic::LINT);
  out.set_message(diagnostic.message);
  if (diagnostic.primary.known()) {
    LabelTo(diagnostic.primary, {}, *out.mutable_primary());
  }
  for (const PlacedLabel& label : diagnostic.labels) {
    LabelTo(label.where, label.text, *out.add_labels());
  }
  for (const std::string& note : diagnostic.notes) {
    out.add_notes(note);
  }
  if (diagnostic.fix.has_value()) {
    LabelTo(diagnostic.fix->where, {}, *out.mutable_fix()->mutable_span());
    out.mutable_fix()->set_replacement(diagnostic.fix->replacement);
    out.mutable_fix()->set_guess(diagnostic.fix->confidence == Confidence::kGuess);
  }
  if (diagnostic.variants.has_value()) {
    out.mutable_variants()->set_failing(diagnostic.variants->failing);
    out.mutable_variants()->set_total(diagnostic.variants->total);
    out.mutable_variants()->set_condition(diagnostic.variants->condition);
  }
}

void ToProto(const std::vector<PlacedDiagnostic>& diagnostics, v1::Outcome& out) {
  DiagnosticsTo(diagnostics, {}, out);
}

// The two lists run along each other: an example for each diagnostic.
void ToProto(const std::vector<compile::MergedFailure>& failures, v1::Outcome& out) {
  std::vector<PlacedDiagnostic> diagnostics;
  std::vector<std::vector<resolve::OptionSetting>> examples;
  for (const compile::MergedFailure& failure : failures) {
    diagnostics.push_back(failure.diagnostic);
    examples.push_back(failure.example);
  }
  DiagnosticsTo(diagnostics, examples, out);
}

void ToProto(const compile::Outcome& outcome, v1::Outcome& out) {
  out.set_kind(static_cast<v1::Outcome::Kind>(outcome.kind));
  out.set_from_negative_cache(outcome.from_negative_cache);
  if (outcome.artifact.has_value()) {
    ArtifactTo(*outcome.artifact, *out.add_artifacts());
  }
  ToProto(outcome.diagnostics, out);
}

// What stays true when a batch is over. Rates and what is going on are in BatchProgress only.
void ToProto(const compile::BatchProgress& progress, v1::BatchCounts& out) {
  const uint64_t wrong = progress.failed + progress.limited + progress.poisoned;
  out.set_variants_total(std::to_string(progress.variants_total));
  out.set_variants_served(std::to_string(progress.variants_served));
  out.set_results_done(progress.results_done);
  out.set_results_upper(std::to_string(progress.results_upper));
  // Counters are read one after the other while the batch runs, so their differences are kept from
  // wrapping.
  out.set_ok(progress.results_done - std::min(wrong, progress.results_done));
  out.set_failed(progress.failed);
  out.set_limited(progress.limited);
  out.set_poisoned(progress.poisoned);
  out.set_compiled(progress.compiled);
  out.set_hits(progress.hit_memory + progress.hit_local + progress.hit_upstream);
  out.set_shared(progress.shared);
  out.set_code_distinct(progress.code_distinct);
  out.set_programs_total(progress.programs);
  out.set_programs_done(progress.programs_done);
}

// Everything that a progress line shows. Sizes are bytes, times milliseconds, big counts decimal
// texts.
void ToProto(const compile::BatchProgress& progress, v1::BatchProgress& out) {
  out.set_variants_total(std::to_string(progress.variants_total));
  out.set_variants_served(std::to_string(progress.variants_served));
  out.set_results_done(progress.results_done);
  out.set_results_upper(std::to_string(progress.results_upper));
  out.set_hit_memory(progress.hit_memory);
  out.set_hit_local(progress.hit_local);
  out.set_hit_upstream(progress.hit_upstream);
  out.set_shared(progress.shared);
  out.set_compiled(progress.compiled);
  out.set_failed(progress.failed);
  out.set_limited(progress.limited);
  out.set_poisoned(progress.poisoned);
  out.set_retried(progress.retried);
  out.set_code_distinct(progress.code_distinct);
  out.set_validated(progress.validated);
  out.set_optimised(progress.optimised);
  out.set_rate_results(progress.rate_results);
  out.set_rate_variants(progress.rate_variants);
  out.set_eta_ms(progress.eta_ms);
  out.set_stage(progress.stage);
  out.set_slowed_by(progress.slowed_by);
  // Ratios are made here and not by clients, so that all of them show the same number.
  out.set_dedup_ratio(Ratio(progress.variants_served, progress.code_distinct));
  out.set_cache_hit_ratio(
      Ratio(progress.results_done - std::min(progress.compiled, progress.results_done),
            progress.results_done));
  out.set_cpu_ms(progress.cpu_us / 1000);
  out.set_cpu_saved_ms(progress.cpu_saved_us / 1000);
  out.set_bytes_out(progress.bytes_out);
  out.set_queue(progress.queue);
  out.set_running(progress.running);
  for (const compile::BatchProgress::Slow& slow : progress.slowest) {
    v1::BatchProgress::Slow& row = *out.add_slowest();
    row.set_program(slow.program);
    row.set_ms(slow.cpu_us / 1000);
    for (const resolve::OptionSetting& setting : slow.options) {
      ToProto(setting, *row.add_options());
    }
  }
}

// A switch and no cast, so a state that is added here without one on the wire is an error of the
// compiler.
v1::Batch::State ToProto(compile::BatchState state) {
  switch (state) {
    case compile::BatchState::kQueued:
      return v1::Batch::QUEUED;
    case compile::BatchState::kRunning:
      return v1::Batch::RUNNING;
    case compile::BatchState::kPaused:
      return v1::Batch::PAUSED;
    case compile::BatchState::kDone:
      return v1::Batch::DONE;
    case compile::BatchState::kFailed:
      return v1::Batch::FAILED;
    case compile::BatchState::kCancelled:
      return v1::Batch::CANCELLED;
  }
  KILN_UNREACHABLE();
}

// Times before 1970 do not exist on the wire.
void ToProto(const compile::BatchSummary& summary, v1::Batch& out) {
  out.set_id(IdBytes(summary.id));
  // Names come from clients. One byte that is no UTF-8 would make the receiver refuse the whole
  // message.
  out.set_project(WellFormed(summary.project));
  out.set_owner(WellFormed(summary.owner));
  out.set_paused_by(WellFormed(summary.paused_by));
  out.set_state(ToProto(summary.state));
  out.set_started(static_cast<uint64_t>(std::max<int64_t>(summary.started_ms, 0)));
  out.set_updated(static_cast<uint64_t>(std::max<int64_t>(summary.updated_ms, 0)));
  ToProto(summary.progress, *out.mutable_counts());
}

void ToProto(const compile::BatchItem& item, v1::BatchItem& out) { ItemTo(item, out); }

// Sequence numbers are those of the batch and are kept, so that a client can go on behind the last
// one.
void ToProto(const compile::BatchEvent& event, v1::BatchEvent& out) {
  out.set_seq(event.seq);
  switch (event.kind) {
    case compile::BatchEvent::Kind::kProgress:
      return ToProto(event.progress, *out.mutable_progress());
    case compile::BatchEvent::Kind::kItem:
      return ItemTo(*event.item, *out.mutable_item());
    case compile::BatchEvent::Kind::kProgramDone:
      return out.mutable_program_done()->set_program(event.text);
    case compile::BatchEvent::Kind::kMessage:
      return out.set_message(WellFormed(event.text));
    case compile::BatchEvent::Kind::kFinal:
      out.mutable_final()->set_state(ToProto(event.state));
      ToProto(event.progress, *out.mutable_final()->mutable_counts());
      out.mutable_final()->set_problem(WellFormed(ProblemOf(event.progress)));
      return out.mutable_final()->set_exit_hint(ExitHint(event.progress, event.state));
  }
}

}  // namespace kiln::rpc
