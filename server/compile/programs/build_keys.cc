// SPDX-License-Identifier: MIT
// Fills the inputs of keys (spec/cache 2.4) from what a request and its program are; the keys
// themselves are computed in cache/key. Everything that may change a result must be in one of these
// functions, and nothing that may not: a thing too many costs hits, one too few serves wrong
// results.
#include "server/compile/programs/build_keys.h"

#include <algorithm>
#include <bit>

#include "cache/key.h"
#include "compiler/base/check.h"
#include "compiler/base/hash/canonical.h"
#include "compiler/driver/fingerprint.h"
#include "compiler/ir/enum_names.h"

namespace kiln::compile {
namespace {

// Answers that are options, not expressions of an image, are numbered from here (spec/cache 3.1).
constexpr uint32_t kOptionAnswer = 0x80000000u;

// Keys have an enum by its text: its number depends on the order in which the values are declared,
// and that may change without a change of meaning.
cache::TypedValue ValueOf(ir::OptionKind kind, uint32_t bits, std::string_view text) {
  switch (kind) {
    case ir::OptionKind::kFlag:
      return cache::TypedValue::Flag(bits != 0);
    case ir::OptionKind::kUint:
      return cache::TypedValue::Uint(bits);
    case ir::OptionKind::kSint:
      return cache::TypedValue::Sint(std::bit_cast<int32_t>(bits));
    case ir::OptionKind::kFloat:
      return cache::TypedValue::Float(std::bit_cast<float>(bits));
    case ir::OptionKind::kEnum:
      return cache::TypedValue::Text(text);
  }
  KILN_UNREACHABLE();
}

// Requires: `values` has a value for every option of the program, in the order of their ids.
cache::OptionSetting SettingOf(const resolve::Program& program, ir::OptionId id,
                               const resolve::OptionValues& values) {
  const ir::ModuleView& module = program.module(program.ModuleOf(id));
  const ir::Option& option = program.Get(id);
  const uint32_t bits = values.bits[id.value];
  const std::string_view text = option.kind == ir::OptionKind::kEnum
                                    ? module.Text(ir::StringId{module.List(option.values)[bits]})
                                    : std::string_view();
  return {.name = module.Text(option.name), .value = ValueOf(option.kind, bits, text)};
}

std::string_view FormText(const NamedTarget& target) {
  if (target.metadata_only) {
    return "meta";
  }
  switch (target.target.form) {
    case target::Form::kSpirv:
      return "spirv";
    case target::Form::kWgsl:
      return "wgsl";
  }
  KILN_UNREACHABLE();
}

// "1.5": the two numbers of the word, as SPIR-V packs them.
std::string VersionText(uint32_t spirv_version) {
  return std::to_string(spirv_version >> 16) + "." + std::to_string(spirv_version >> 8 & 0xffu);
}

std::string_view DebugText(target::Debug debug) {
  switch (debug) {
    case target::Debug::kNone:
      return "none";
    case target::Debug::kNames:
      return "names";
    case target::Debug::kFull:
      return "full";
  }
  KILN_UNREACHABLE();
}

}  // namespace

namespace {

// What macros add to a program: options, some of which everything rests on. Their values are no
// part of it; those are with the values of all other options.
Hash128 MacrosId(const driver::MacrosOfProgram& macros) {
  CanonicalList asked;
  for (const uint32_t row : macros.asked) {
    asked.U32(row);
  }
  return CanonicalWriter("kiln.macros.1")
      .Hash(1, macros.module->semantic_id())
      .List(2, asked)
      .Key();
}

}  // namespace

// A key of this process alone: it is neither stored nor told.
Hash128 LinkKey(std::span<const std::shared_ptr<const ParsedSource>> sources,
                std::span<const std::string> paths, const driver::MacrosOfProgram* macros,
                ir::PipelineType pipeline) {
  Hasher hasher;
  hasher.Update(ir::NameOf(pipeline));
  for (size_t i = 0; i < sources.size(); ++i) {
    // Spans are part of the link, because its diagnostics have byte positions.
    hasher.Update(std::as_bytes(std::span(sources[i]->image_id.bytes)));
    hasher.Update(paths[i]);
    hasher.Update(std::string_view("\0", 1));
  }
  if (macros != nullptr) {
    const Hash128 id = MacrosId(*macros);
    hasher.Update(std::as_bytes(std::span(id.bytes)));
  }
  return hasher.Finish().id;
}

// Sorted by name, since keys take them in this order.
std::vector<std::pair<std::string, std::string>> TargetPairs(const NamedTarget& target) {
  std::vector<std::pair<std::string, std::string>> pairs{
      {"debug", std::string(DebugText(target.target.debug))},
      {"env", std::string(target::EnvironmentText(target.target.environment))},
      {"form", std::string(FormText(target))}};
  if (target.target.combined) {
    pairs.emplace_back("modules", "combined");
  }
  pairs.emplace_back("version", VersionText(target.target.spirv_version));
  return pairs;
}

// In the order of the request, which is link order (spec/cache 2.4.2).
Hash128 EntryIdOf(std::span<const std::shared_ptr<const ParsedSource>> sources,
                  const ProgramRequest& program, const driver::MacrosOfProgram* macros,
                  const NamedTarget& target, const Hash128& limits) {
  std::vector<Hash128> modules;
  modules.reserve(sources.size());
  for (const std::shared_ptr<const ParsedSource>& source : sources) {
    modules.push_back(source->semantic_id);
  }
  if (macros != nullptr) {
    modules.push_back(MacrosId(*macros));
  }
  const std::vector<std::pair<std::string, std::string>> of_target = TargetPairs(target);
  std::vector<cache::TextPair> pairs;
  pairs.reserve(of_target.size());
  for (const auto& [name, value] : of_target) {
    pairs.push_back({.name = name, .value = value});
  }
  // Only debug=full has places in its words; only then do edits that move them, or renames, matter.
  std::vector<cache::DebugModule> places;
  for (size_t i = 0; target.target.debug == target::Debug::kFull && i < sources.size(); ++i) {
    // The rest of an image is the same in all that share a semantic id.
    places.push_back({.spans = sources[i]->image_id, .path = program.sources[i].path});
  }
  const Hash128 id = cache::ProgramId({.modules = modules,
                                       .pipeline = ir::NameOf(program.pipeline),
                                       .target = pairs,
                                       .back_end = driver::BackFingerprint(),
                                       .limits = limits,
                                       .debug_modules = places});
  std::vector<cache::EntryPointName> entries;
  for (const resolve::EntryPoint& entry : program.entries) {
    entries.push_back({.stage = ir::NameOf(entry.stage), .function = entry.function});
  }
  return cache::EntryId(id, entries);
}

// This hash never leaves the process, so its form may change at any time. A terminator keeps "ab",
// "c" apart from "a", "bc".
Hash128 FamilyOf(const ProgramRequest& program, const NamedTarget& target) {
  Hasher hasher;
  const auto add = [&](std::string_view text) {
    hasher.Update(text);
    hasher.Update(std::string_view("\0", 1));
  };
  add(ir::NameOf(program.pipeline));
  for (const Source& source : program.sources) {
    add(source.path);
  }
  for (const resolve::EntryPoint& entry : program.entries) {
    add(ir::NameOf(entry.stage));
    add(entry.function);
  }
  add(VersionText(target.target.spirv_version));
  add(target::EnvironmentText(target.target.environment));
  add(DebugText(target.target.debug));
  add(target.target.combined ? "combined" : "stages");
  add(FormText(target));
  return hasher.Finish().id;
}

// Every option with its value, defaults filled in, so that an option that is set to its default
// gives the key of one that is not set (spec/cache 2.3.2).
Hash128 VariantKeyOf(const Hash128& entry, const resolve::Program& program,
                     const resolve::OptionValues& values) {
  std::vector<cache::OptionSetting> settings;
  settings.reserve(program.option_count());
  // Programs declare options in any order; a key has them by name. See spec/cache 2.3.2
  for (const ir::OptionId option : program.options_by_name()) {
    settings.push_back(SettingOf(program, option, values));
  }
  return cache::VariantKey(entry, settings);
}

// Nullopt if the mask names an option that the program does not have: then the mask came from a row
// of another program. Requires: `live` is sorted, as masks are.
std::optional<Hash128> LiveKeyOf(const Hash128& entry, const resolve::Program& program,
                                 const resolve::OptionValues& values,
                                 std::span<const std::string> live) {
  std::vector<cache::OptionSetting> settings;
  for (const std::string& name : live) {
    const ir::OptionId option = program.FindOption(name);
    if (!option.valid()) {
      return std::nullopt;
    }
    settings.push_back(SettingOf(program, option, values));
  }
  return cache::LiveKey(entry, settings);
}

namespace {

Hash128 SignatureKeyOf(const Hash128& entry, std::vector<cache::ConditionValue> answers) {
  // Answers come in the order in which they were asked, which the compiler is free to change. The
  // key must not depend on it.
  std::sort(answers.begin(), answers.end(), [](const auto& a, const auto& b) {
    return std::pair(a.module, a.expression) < std::pair(b.module, b.expression);
  });
  return cache::SignatureKey(entry, answers);
}

}  // namespace

Hash128 SignatureKeyOf(const Hash128& entry, std::span<const driver::OptionRead> reads) {
  std::vector<cache::ConditionValue> answers;
  answers.reserve(reads.size());
  for (const driver::OptionRead& read : reads) {
    answers.push_back({.module = read.module,
                       .expression = kOptionAnswer | read.option,
                       .value = ValueOf(read.kind, read.bits, read.text)});
  }
  return SignatureKeyOf(entry, std::move(answers));
}

// The signature that a variant would have if it read exactly the options of the mask. It is the
// same number as the walk makes, so no walk is needed where the guess is right.
std::optional<Hash128> SignatureKeyOf(const Hash128& entry, const resolve::Program& program,
                                      const resolve::OptionValues& values,
                                      std::span<const std::string> live) {
  std::vector<cache::ConditionValue> answers;
  answers.reserve(live.size());
  for (const std::string& name : live) {
    const ir::OptionId option = program.FindOption(name);
    if (!option.valid()) {
      return std::nullopt;
    }
    const uint32_t module = program.ModuleOf(option);
    // Numbers of options count over the whole program; the signature has the row
    // in the module (spec/cache 3.1).
    answers.push_back({.module = module,
                       .expression = kOptionAnswer | (option.value - program.bases(module).option),
                       .value = SettingOf(program, option, values).value});
  }
  return SignatureKeyOf(entry, std::move(answers));
}

}  // namespace kiln::compile
