// SPDX-License-Identifier: MIT
// Explanations as messages (spec/cache 11.3, 11.4). A record says what was asked and what came of
// it; what it is compared with, and who reads an option that made the difference, is found out when
// somebody asks.
#include "server/rpc/calls/explain_calls.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "cache/record.h"
#include "compiler/base/threads/stop.h"
#include "compiler/source/macro_path.h"
#include "server/compile/explainer.h"
#include "server/compile/programs/language_rows.h"
#include "server/compile/programs/program_texts.h"
#include "server/project/liveness.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

// As many as `kiln explain --last` takes.
constexpr uint32_t kMaxLast = 1000;

Error NoRecord(std::string text) {
  return {.code = ErrorCode::kNotFound, .context = std::move(text), .reason = "UNKNOWN_RESULT"};
}

// "\"high\"" -> "high"
std::string Unquoted(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

template <class T>
std::optional<T> NumberOf(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

}  // namespace

// The record keeps values as text. Their form tells the type: true, 3u, -3, 0.5 and quoted names do
// not overlap. What is none of these is an enum value as it is.
void ToProto(const cache::NamedText& option, v1::OptionValue& out) {
  const std::string_view text = option.value;
  out.set_name(option.name);
  if (text == "true" || text == "false") {
    out.set_flag(text == "true");
  } else if (const auto uint = text.ends_with('u')
                                   ? NumberOf<uint32_t>(text.substr(0, text.size() - 1))
                                   : std::nullopt) {
    out.set_uint(*uint);
  } else if (const auto sint = NumberOf<int32_t>(text)) {
    out.set_sint(*sint);
  } else if (const auto number = NumberOf<float>(text)) {
    out.set_float_(*number);
  } else {
    out.set_enum_(Unquoted(option.value));
  }
}

namespace {

// Of a miss how far the look-up came, of a hit who had it. A hit tells who had the answer
// (spec/cache 11.4), a miss how far the look-up came.
std::string_view LevelOf(const cache::ExplainRecord& record) {
  switch (record.result) {
    case cache::ExplainResult::kMiss:
      return record.level;
    case cache::ExplainResult::kHitMemory:
      return "memory";
    case cache::ExplainResult::kHitLocal:
      return "local";
    case cache::ExplainResult::kHitUpstream:
      return "upstream";
  }
  return record.level;
}

// How a hit equals what was asked for (spec/cache 11.4).
std::string_view EqualityOf(const cache::ExplainRecord& record) {
  return record.level == "live"     ? "same_live_options"
         : record.level == "module" ? "same_sources"
                                    : "same_variant";
}

bool IsLiveOption(const cache::Change& change) {
  return change.cause == cache::Cause::kOption && change.detail == "live";
}

// "function apply_fog" -> "function `apply_fog`, materials/rock.rpl:88" Lines are counted in the
// text that is stored now, whose digest is that of the record.
std::string ReaderText(const ModuleText& module, const project::Liveness::Reader& reader) {
  const ModuleText::File& file = module.files()[module.FileAt(reader.where.begin)];
  const std::string& text = file.source->text;
  const std::string_view before = std::string_view(text).substr(
      0, std::min<size_t>(reader.where.begin - file.first, text.size()));
  const size_t name = reader.name.rfind(' ') + 1;  // npos + 1 is 0
  return fmt::format("{}`{}`, {}:{}", reader.name.substr(0, name), reader.name.substr(name),
                     file.source->path, 1 + std::count(before.begin(), before.end(), '\n'));
}

// Adds who reads the options that made the difference, as far as the sources are still here: this
// is done for whoever asks, not for every request (spec/cache 11.3, 11.5).
void NameReaders(Engine& engine, const cache::Call& call, cache::Explanation& explanation) {
  // Linking a program takes milliseconds, so it is done only when its result is shown.
  if (std::none_of(explanation.changes.begin(), explanation.changes.end(), IsLiveOption)) {
    return;
  }
  const std::optional<compile::ProgramRequest> program = compile::ProgramOf(explanation.record);
  if (!program.has_value()) {
    return;
  }
  v1::ErrorDetail ignored;
  // Any target will do, since readers of options do not depend on it.
  const auto prepared = PrepareOrListMissing(
      engine, *program, compile::NamedTarget{.name = "spirv", .target = {}}, call, ignored);
  // Sources that are gone, or that no longer compile, cost the names of readers and nothing else of
  // the explanation.
  if (!prepared.ok() || !(*prepared)->ok()) {
    return;
  }
  const Result<compile::ProgramTexts> texts =
      compile::ProgramTexts::Load(engine.pool, **prepared, call);
  if (!texts.ok()) {
    return;
  }
  const resolve::Program& linked = (*prepared)->program();
  const std::vector<project::Liveness> liveness = project::LivenessOf(linked, program->entries);
  for (cache::Change& change : explanation.changes) {
    CheckStop();
    // What else changed has names that the program does not know, and an option's may be cut.
    const ir::OptionId option =
        IsLiveOption(change) ? linked.FindOption(change.field) : ir::OptionId();
    if (!option.valid() || liveness[option.value].readers.empty()) {
      continue;
    }
    const project::Liveness& of_option = liveness[option.value];
    const project::Liveness::Reader& first = of_option.readers.front();
    change.detail = fmt::format(
        "live (read by {}{})", ReaderText(texts->modules()[first.module], first),
        of_option.readers_in_all == 1 ? std::string()
                                      : fmt::format(" and {} more", of_option.readers_in_all - 1));
  }
}

// A macro shows three times in a record: as an option, as what sources were read with, and as what
// they asked for. It is told once, as the option that the author set, with who asked for it.
void TellMacros(cache::Explanation& explanation) {
  std::set<std::string, std::less<>> macros;
  for (const cache::NamedText& row : explanation.record.inputs->language) {
    if (row.name.starts_with(compile::kMacroRow)) {
      macros.insert(row.name.substr(compile::kMacroRow.size()));
    }
  }
  std::erase_if(explanation.changes, [&](const cache::Change& change) {
    return IsMacroPath(change.field) ||
           (change.field.starts_with(compile::kMacroRow) &&
            macros.contains(std::string_view(change.field).substr(compile::kMacroRow.size())));
  });
  for (cache::Change& change : explanation.changes) {
    if (change.cause == cache::Cause::kOption && macros.contains(change.field)) {
      change.detail = change.detail == "live"
                          ? "live (a macro, which the preprocessor was asked for)"
                          : "not live (a macro, which the preprocessor was not asked for)";
    }
  }
}

}  // namespace

// Bounded by the call: an explanation may link a program.
void ExplainTo(Engine& engine, const cache::ExplainRecord& record, const cache::Call& call,
               v1::ExplainRecord& out) {
  CheckStop();
  cache::Explanation explanation = engine.explains.ExplainOf(record, call);
  TellMacros(explanation);
  NameReaders(engine, call, explanation);
  ToProto(explanation, out);
}

namespace {

// Whether the same request would hit now.
Result<void> ExplainVariant(Engine& engine, const v1::ExplainRequest& request,
                            const cache::Call& call, v1::ExplainReply& reply,
                            v1::ErrorDetail& detail) {
  KILN_TRY(const AskedVariant asked, FromProto(request.variant()));
  // Nothing is compiled: the lookup leaves its trace, and that trace is what is explained.
  for (const compile::NamedTarget& target : asked.targets) {
    KILN_TRY(const auto prepared,
             PrepareOrListMissing(engine, asked.program, target, call, detail));
    const auto [found, trace, rows] = engine.builder.Report(
        *prepared, asked.options,
        {.unknown = compile::UnknownVariant::kRefused, .trace = compile::TraceDetail::kAll}, call);
    if (!found.ok() && found.error().reason != "NOT_CACHED") {
      return found.error();
    }
    const compile::Requester asker{
        .project = request.project(), .lane = "interactive", .trace = {}};
    const cache::ExplainRecord record =
        compile::ExplainRecordOf(*prepared, asker, trace, engine.clock);
    ExplainTo(engine, record, call, *reply.add_records());
  }
  return {};
}

Result<void> ExplainKey(Engine& engine, const std::string& bytes, const cache::Call& call,
                        v1::ExplainReply& reply) {
  KILN_TRY(Hash128 key, IdFromProto("signature", bytes));
  // The id may be the key of a variant as well as a signature: people copy what they find.
  const Result<cache::Blob> alias =
      engine.store.Get({.level = cache::Level::kAlias, .space = 0, .id = key}, call);
  if (alias.ok()) {
    const Result<Hash128> signature = cache::DecodeAlias(alias->bytes);
    key = signature.ok() ? *signature : key;
  }
  KILN_TRY(const auto record, engine.explains.WithSignature(key, call.stop));
  if (record == nullptr) {
    return NoRecord("no request for " + key.hex() + " is remembered");
  }
  ExplainTo(engine, *record, call, *reply.add_records());
  return {};
}

// One example after the other is explained, at most three for each cause (spec/cache 11.1).
Result<void> ExplainBatch(Engine& engine, const std::string& bytes, const cache::Call& call,
                          v1::ExplainReply& reply) {
  KILN_TRY(const Hash128 id, IdFromProto("batch_id", bytes));
  KILN_TRY(const compile::MissHistogram misses, engine.batches.Misses(id));
  reply.set_results(misses.results);
  using Row = std::pair<cache::Cause, compile::MissHistogram::Row>;
  std::vector<Row> rows(misses.causes.begin(), misses.causes.end());
  // The most frequent cause first; of the same count in the order of the causes.
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.second.count > b.second.count; });
  for (const auto& [cause, row] : rows) {
    v1::ExplainReply::CauseCount& count = *reply.add_causes();
    count.set_cause(std::string(cache::CauseName(cause)));
    count.set_count(row.count);
    for (const uint64_t seq : row.examples) {
      // Records of examples may have been dropped since; then the cause has its count without them.
      const auto record = engine.explains.WithSeq(seq);
      if (record != nullptr) {
        ExplainTo(engine, *record, call, *reply.add_records());
      }
    }
  }
  return {};
}

}  // namespace

void ToProto(const cache::Explanation& explanation, v1::ExplainRecord& out) {
  const cache::ExplainRecord& record = explanation.record;
  const bool hit = record.result != cache::ExplainResult::kMiss;
  out.set_seq(record.seq);
  out.set_at(static_cast<uint64_t>(record.at_ms));
  out.set_project(record.slot.project);
  out.set_program(record.slot.program);
  out.set_target(record.slot.target);
  for (const cache::NamedText& option : record.inputs->options) {
    ToProto(option, *out.add_options());
  }
  out.set_hit(hit);
  out.set_level(std::string(LevelOf(record)));
  // A hit has a kind of equality where a miss has a cause: why it was enough, or why it was not.
  out.set_cause(std::string(hit ? EqualityOf(record) : cache::CauseName(explanation.cause)));
  out.set_detail(record.detail);
  for (const cache::Change& change : explanation.changes) {
    v1::ExplainRecord::Change& shown = *out.add_changes();
    shown.set_cause(std::string(cache::CauseName(change.cause)));
    shown.set_field(change.field);
    shown.set_old(Unquoted(change.before));
    shown.set_new_(Unquoted(change.after));
    shown.set_detail(change.detail);
  }
  out.mutable_live_options()->Assign(record.live_options.begin(), record.live_options.end());
  out.mutable_ignored_options()->Assign(explanation.ignored_options.begin(),
                                        explanation.ignored_options.end());
  out.set_age_ms(static_cast<uint64_t>(explanation.age_ms.value_or(0)));
  for (const auto& [stage, us] : record.stage_us) {
    v1::ExplainRecord::StageTime& time = *out.add_stage_times();
    time.set_stage(stage);
    time.set_us(us);
  }
  if (!record.signature.zero()) {
    out.set_signature(IdBytes(record.signature));
  }
  out.set_trace_id(record.trace);
}

// The caller may only read; what is remembered of requests is the same for all of them.
Result<void> Explain(Engine& engine, const v1::ExplainRequest& request, const cache::Call& call,
                     v1::ExplainReply& reply, v1::ErrorDetail& detail) {
  KILN_TRY_VOID(CheckName("project", request.project()));
  switch (request.subject_case()) {
    case v1::ExplainRequest::kVariant:
      return ExplainVariant(engine, request, call, reply, detail);
    case v1::ExplainRequest::kSignature:
      return ExplainKey(engine, request.signature(), call, reply);
    case v1::ExplainRequest::kSeq: {
      const auto record = engine.explains.WithSeq(request.seq());
      if (record == nullptr) {
        return NoRecord("no request has the number " + std::to_string(request.seq()));
      }
      ExplainTo(engine, *record, call, *reply.add_records());
      return {};
    }
    case v1::ExplainRequest::kBatchId:
      return ExplainBatch(engine, request.batch_id(), call, reply);
    case v1::ExplainRequest::kLast:
      for (const auto& record : engine.explains.Last(std::min(request.last(), kMaxLast))) {
        ExplainTo(engine, *record, call, *reply.add_records());
      }
      return {};
    case v1::ExplainRequest::SUBJECT_NOT_SET:
      break;
  }
  return Malformed("subject", "say what is to be explained");
}

}  // namespace kiln::rpc
