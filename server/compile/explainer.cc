// SPDX-License-Identifier: MIT
// Makes explain records of builds (spec/cache 11.2) and reads them back. A record has everything
// that went into keys, as text and by name, because it is compared with records of other builds of
// kiln.
#include "server/compile/explainer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/base/hash/canonical.h"
#include "compiler/driver/fingerprint.h"
#include "compiler/driver/option_text.h"
#include "compiler/ir/enum_names.h"
#include "server/compile/programs/build_keys.h"
#include "server/compile/programs/language_rows.h"
#include "server/compile/programs/limits_id.h"

namespace kiln::compile {
namespace {

// Records have texts; an enumerator is found by its name.
template <class Enum>
std::optional<Enum> NamedLike(std::initializer_list<Enum> values, std::string_view name) {
  const auto* const found =
      std::find_if(values.begin(), values.end(), [&](Enum v) { return ir::NameOf(v) == name; });
  return found == values.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

// Everything that is part of a key, by name and in readable form. What is missing here could change
// a key without `kiln explain` being able to say why.
cache::ExplainInputs InputsOf(const PreparedProgram& program) {
  cache::ExplainInputs inputs;
  for (size_t i = 0; i < program.request.sources.size(); ++i) {
    const Source& source = program.request.sources[i];
    inputs.modules.push_back({.path = FitForRecord(source.path),
                              .source = source.digest,
                              .image = program.parsed[i]->module != nullptr
                                           ? program.parsed[i]->semantic_id
                                           : Hash128{}});
  }
  for (const resolve::EntryPoint& entry : program.request.entries) {
    inputs.entry_points.push_back(
        {.name = std::string(ir::NameOf(entry.stage)), .value = FitForRecord(entry.function)});
  }
  inputs.pipeline = ir::NameOf(program.request.pipeline);
  inputs.recipes = program.target.recipes;
  for (const auto& [name, value] : TargetPairs(program.target)) {
    inputs.target.push_back({.name = name, .value = value});
  }
  // The fingerprints are inputs like any other, so a new build of kiln is a reason that can be
  // told.
  const auto reads = [&](ir::Language language) {
    return std::ranges::any_of(program.request.sources, [&](const Source& source) {
      return driver::LanguageOf(source.path) == language;
    });
  };
  inputs.fingerprints = {{.name = "back.spirv", .value = driver::BackFingerprint().hex()}};
  for (const driver::FrontEnd& front : driver::kFrontEnds) {
    // That of RPL stands in the records of all programs.
    if (front.language == ir::Language::kRpl || reads(front.language)) {
      inputs.fingerprints.push_back(
          {.name = front.component, .value = driver::FrontFingerprint(front.language).hex()});
    }
  }
  if (reads(ir::Language::kHlsl)) {
    inputs.language = LanguageRowsOf(program.request.hlsl);
    inputs.dependencies = DependencyRowsOf(program.parsed);
  }
  for (const cache::LimitValue& limit : LimitValues(program.limits)) {
    inputs.limits.push_back(
        {.name = std::string(limit.name), .value = std::to_string(limit.value)});
  }
  return inputs;
}

// A record is from a file and may be of another version, so every name in it is looked up and none
// is believed.
std::optional<ProgramRequest> ProgramOf(const cache::ExplainRecord& record) {
  // Sources by digest: whether they are still stored shows when they are read.
  ProgramRequest program{.name = record.slot.program};
  for (const cache::ExplainModule& module : record.inputs->modules) {
    program.sources.push_back({.path = module.path, .digest = module.source, .text = nullptr});
  }
  const auto pipeline = NamedLike({ir::PipelineType::kGraphicsClassic, ir::PipelineType::kCompute},
                                  record.inputs->pipeline);
  if (!pipeline.has_value()) {
    return std::nullopt;
  }
  program.pipeline = *pipeline;
  for (const cache::NamedText& entry : record.inputs->entry_points) {
    const auto stage =
        NamedLike({ir::Stage::kVertex, ir::Stage::kFragment, ir::Stage::kCompute}, entry.name);
    if (!stage.has_value()) {
      return std::nullopt;
    }
    program.entries.push_back({.stage = *stage, .function = entry.value});
  }
  if (!record.inputs->language.empty()) {
    std::optional<HlslInputs> inputs = HlslInputsOf(*record.inputs);
    if (!inputs.has_value()) {
      return std::nullopt;
    }
    program.hlsl = *std::move(inputs);
  }
  return program;
}

// An enumerator is kept by its name: its number changes when somebody adds another one before it,
// and the record would then name a value that nobody asked for.
std::vector<cache::NamedText> OptionTexts(const resolve::Program& program,
                                          const resolve::OptionValues& values) {
  std::vector<cache::NamedText> texts;
  texts.reserve(program.option_count());
  for (uint32_t i = 0; i < program.option_count(); ++i) {
    const ir::OptionId id{i};
    const ir::Option& option = program.Get(id);
    resolve::OptionSetting setting{.name = std::string(program.Text(program.NameOf(id))),
                                   .scope = option.scope,
                                   .kind = option.kind,
                                   .bits = values.bits[i],
                                   .text = {}};
    if (option.kind == ir::OptionKind::kEnum) {
      const ir::ModuleView& module = program.module(program.ModuleOf(id));
      setting.text = module.Text(ir::StringId{module.List(option.values)[setting.bits]});
    }
    texts.push_back({.name = setting.name, .value = driver::ValueText(setting)});
  }
  return texts;
}

std::vector<cache::NamedText> OptionTexts(std::span<const resolve::OptionSetting> settings) {
  std::map<std::string, std::string> values;  // a later setting replaces an earlier one
  for (const resolve::OptionSetting& setting : settings) {
    values[FitForRecord(setting.name)] = FitForRecord(driver::ValueText(setting));
  }
  std::vector<cache::NamedText> texts;
  texts.reserve(values.size());
  for (const auto& [name, value] : values) {
    texts.push_back({.name = name, .value = value});
  }
  return texts;
}

// A slot is a name, not an identity: texts are made fit for records and may be cut.
cache::ExplainSlot SlotOf(const std::string& project, const std::string& program,
                          const std::string& target) {
  return {.space = 0,
          .project = FitForRecord(project),
          .program = FitForRecord(program),
          .target = FitForRecord(target)};
}

// Costs a copy of the inputs, some microseconds, for each request that leaves a record
// (spec/cache 11.5).
cache::ExplainRecord ExplainRecordOf(const PreparedProgram& program, const Requester& asker,
                                     const BuildTrace& trace, Clock& clock) {
  cache::ExplainRecord record;
  record.slot = SlotOf(asker.project, program.request.name, program.target.name);
  record.at_ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock.UnixTime()).count();
  record.lane = asker.lane;
  record.trace = asker.trace;
  record.watcher = asker.watcher;
  // The inputs of the program are copied once for each record. They share nothing with it, because
  // the record outlives the program.
  cache::ExplainInputs inputs = program.inputs;
  inputs.options = trace.options;
  record.inputs = std::move(inputs);
  record.result = trace.result;
  record.level = trace.level;
  if (trace.mask.has_value()) {
    record.mask = trace.mask->all();
  }
  record.live_options = trace.live_options.all();
  record.stage_us = trace.stage_us;
  record.bytes = trace.bytes;
  record.signature = trace.signature;
  record.cause = trace.cause;
  record.detail = trace.detail;
  return record;
}

// Records of the slot that agree with the program in everything but option values, and, if there is
// none, the cause that comparing with the others gives.
BatchCauses::BatchCauses(const cache::ExplainRecord& program,
                         std::vector<std::shared_ptr<const cache::ExplainRecord>> earlier) {
  const auto without_options = [](const cache::ExplainRecord& record) {
    cache::ExplainInputs inputs = *record.inputs;
    inputs.options.clear();
    return inputs;
  };
  // What all variants share is compared here, once, and not for each of thousands of misses.
  const cache::ExplainInputs now = without_options(program);
  std::vector<cache::ExplainRecord> before;
  for (std::shared_ptr<const cache::ExplainRecord>& record : earlier) {
    cache::ExplainInputs inputs = without_options(*record);
    if (inputs == now) {
      same_.push_back(std::move(record));
    } else {
      before.push_back({.inputs = std::move(inputs)});
    }
  }
  if (same_.empty() && !before.empty()) {
    of_program_ = cache::Explain({.inputs = now}, cache::PointersTo(before)).cause;
  }
}

// Exact only as far as it must be for a histogram: `kiln explain` compares again.
cache::Cause BatchCauses::CauseOf(const std::vector<cache::NamedText>& options) const {
  if (same_.empty()) {
    return of_program_;
  }
  // The same options were asked for before, so the result was known and is gone. Other options are
  // a variant that nobody had.
  const bool seen = std::any_of(same_.begin(), same_.end(),
                                [&](const auto& row) { return row->inputs->options == options; });
  return seen ? cache::Cause::kEvicted : cache::Cause::kOption;
}

}  // namespace kiln::compile
