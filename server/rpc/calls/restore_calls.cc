// SPDX-License-Identifier: MIT
#include "server/rpc/calls/restore_calls.h"

#include <map>
#include <optional>
#include <string_view>

#include "server/compile/programs/language_rows.h"
#include "server/rpc/calls/explain_calls.h"
#include "server/rpc/messages/convert_reply.h"

namespace kiln::rpc {
namespace {

// Texts that are absent or unknown become the defaults of the protocol.
v1::Target::Debug DebugOf(std::string_view text) {
  return text == "none" ? v1::Target::NONE : text == "full" ? v1::Target::FULL : v1::Target::NAMES;
}

v1::Target::Form FormOf(std::string_view text) {
  return text == "meta" ? v1::Target::META : text == "wgsl" ? v1::Target::WGSL : v1::Target::SPIRV;
}

// From what the explain record keeps of a target. Names that are not told apart here are settings.
void TargetTo(const cache::ExplainRecord& record, v1::Target& target) {
  target.set_name(record.slot.target);
  target.set_form(v1::Target::SPIRV);
  for (const auto& [name, value] : record.inputs->target) {
    if (name == "form") {
      target.set_form(FormOf(value));
    } else if (name == "env") {
      target.set_env(value);
    } else if (name == "version") {
      target.set_version(value);
    } else if (name == "debug") {
      target.set_debug(DebugOf(value));
    } else {
      (*target.mutable_settings())[name] = value;
    }
  }
  target.mutable_recipes()->Assign(record.inputs->recipes.begin(), record.inputs->recipes.end());
}

// What its sources were read with, as far as the record says.
void HlslTo(const cache::ExplainInputs& record, v1::Program& program) {
  const std::optional<compile::HlslInputs> inputs =
      record.language.empty() ? std::nullopt : compile::HlslInputsOf(record);
  if (!inputs.has_value()) {
    return;
  }
  v1::Hlsl& hlsl = *program.mutable_hlsl();
  for (const hlsl::SettingValue& setting : hlsl::ValuesOf(inputs->settings)) {
    (*hlsl.mutable_settings())[std::string(setting.name)] = setting.value;
  }
  for (const hlsl::Define& define : inputs->settings.defines) {
    v1::Hlsl::Define& added = *hlsl.add_defines();
    added.set_name(define.name);
    added.set_value(define.value);
  }
  hlsl.mutable_include_roots()->Assign(inputs->settings.include_roots.begin(),
                                       inputs->settings.include_roots.end());
  for (const ListedFile& file : inputs->files->files()) {
    v1::SourceRef& ref = *hlsl.add_files();
    ref.set_path(file.path);
    ToProto(file.digest, *ref.mutable_digest());
  }
}

}  // namespace

// The request as a client would send it; sources go by digest and are looked up like those of any
// request.
v1::Variant VariantOf(const cache::ExplainRecord& record) {
  v1::Variant variant;
  v1::Program& program = *variant.mutable_inline_program();
  program.set_name(record.slot.program);
  program.set_pipeline(record.inputs->pipeline);
  for (const cache::ExplainModule& module : record.inputs->modules) {
    v1::SourceRef& source = *program.add_sources();
    source.set_path(module.path);
    ToProto(module.source, *source.mutable_digest());
  }
  for (const auto& [stage, function] : record.inputs->entry_points) {
    v1::EntryPoint& entry = *program.add_entry_points();
    entry.set_stage(stage == "vertex"     ? v1::EntryPoint::VERTEX
                    : stage == "fragment" ? v1::EntryPoint::FRAGMENT
                                          : v1::EntryPoint::COMPUTE);
    entry.set_function(function);
  }
  HlslTo(*record.inputs, program);
  TargetTo(record, *program.add_targets());
  for (const cache::NamedText& option : record.inputs->options) {
    ToProto(option, *variant.add_options());
  }
  return variant;
}

namespace {

// The latest request of each lost result that left a record. One walk over all records, whatever
// number was lost; memory is that of the lost results alone.
Result<std::map<Hash128, cache::ExplainRecord>> RequestsOf(Engine& engine,
                                                           const std::set<cache::Key>& lost,
                                                           const cache::Call& call) {
  std::map<Hash128, cache::ExplainRecord> requests;
  KILN_TRY_VOID(engine.explains.Each(call.stop, [&](const cache::ExplainRecord& record) {
    if (!lost.contains({.level = cache::Level::kSignature,
                        .space = record.slot.space,
                        .id = record.signature})) {
      return;
    }
    const auto [place, is_new] = requests.try_emplace(record.signature, record);
    if (!is_new && place->second.seq < record.seq) {
      place->second = record;
    }
  }));
  return requests;
}

// Runs in the job of the repair, one result after the other, so a repair never takes more than one
// worker.
bool Recompile(Engine& engine, const cache::ExplainRecord& record, const cache::Call& call) {
  CompileHow how;
  // On disk before it counts as restored.
  how.build.durability = cache::Durability::kDurable;
  // The repair leaves records of its own, in the slot of the project, so that people see who
  // compiled.
  how.asker = {.project = record.slot.project, .lane = "repair", .trace = {}};
  v1::Outcome outcome;
  v1::ErrorDetail missing;
  const Result<void> compiled =
      CompileVariant(engine, VariantOf(record), how, call, outcome, missing);
  return compiled.ok() && outcome.kind() != v1::Outcome::KIND_UNSPECIFIED;
}

}  // namespace

// An upstream first: it has the same bytes, and asking costs little. What it has not is compiled,
// if an explain record says what was asked for and its sources are here; records hold digests of
// sources and no text. A result that comes out with another signature (kiln changed since) was made
// for nothing, and is not counted.
Result<RestoreReport> RestoreLost(Engine& engine, const std::set<cache::Key>& lost,
                                  const cache::Call& call) {
  RestoreReport restored;
  std::set<cache::Key> wanted;
  for (const cache::Key& key : lost) {
    // Reading a key fetches it from an upstream, complete with its content.
    if (engine.whole.has_upstream && engine.store.Get(key, call).ok()) {
      ++restored.refetched;
    } else if (key.level == cache::Level::kSignature) {
      wanted.insert(key);
    }
  }
  if (wanted.empty()) {
    return restored;
  }
  KILN_TRY(const auto requests, RequestsOf(engine, wanted, call));
  for (const auto& [signature, record] : requests) {
    if (call.stop.stop_requested()) {
      return Error{.code = ErrorCode::kCancelled, .context = "by the caller", .reason = {}};
    }
    // Whether it was restored is asked of the store and not of the compilation, which may have made
    // another signature.
    const bool made =
        Recompile(engine, record, call) &&
        engine.store.Get({.level = cache::Level::kSignature, .space = 0, .id = signature}, call)
            .ok();
    restored.recompiled += made ? 1 : 0;
  }
  return restored;
}

}  // namespace kiln::rpc
