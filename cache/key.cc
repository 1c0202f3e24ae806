// SPDX-License-Identifier: MIT
// Domains, tags and field orders of every key (spec/cache 2.4). Changing the meaning of a field
// changes the number at the end of its domain.
#include "cache/key.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/base/check.h"
#include "compiler/base/hash/canonical.h"

namespace kiln::cache {
namespace {

constexpr size_t kUsualSetting = 64;  // bytes of an option with its value, encoded; about

// u8 type, payload; scratch is overwritten and viewed by the result.
ByteView EncodeValue(const TypedValue& value, Bytes& scratch) {
  scratch.clear();
  scratch.push_back(static_cast<std::byte>(value.type()));
  switch (value.type()) {
    case TypedValue::Type::kFlag:
      scratch.push_back(static_cast<std::byte>(value.bits()));
      break;
    case TypedValue::Type::kUint:
    case TypedValue::Type::kSint:
    case TypedValue::Type::kFloat:
      AppendLittle(scratch, value.bits());
      break;
    case TypedValue::Type::kText:
      // Whoever fills keys has refused such texts with an error (spec/cache 2.2.3); here it would
      // be a bug.
      KILN_CHECK(value.text().find('\0') == std::string_view::npos);
      Append(scratch, AsBytes(value.text()));
      break;
    case TypedValue::Type::kFailed:
      break;
  }
  return scratch;
}

// Order and uniqueness are made here and not expected, where the caller's order has no meaning.
// Where it has one (modules, entry points) the list stays as it is. A name that occurs twice is a
// bug of the caller and no input of a stranger, hence the check.
template <class Row>
std::vector<Row> SortedByName(std::span<const Row> rows) {
  std::vector<Row> sorted(rows.begin(), rows.end());
  std::ranges::sort(sorted, {}, &Row::name);
  const auto twice = std::ranges::adjacent_find(sorted, {}, &Row::name);
  KILN_CHECK(twice == sorted.end(), "{} occurs twice", twice->name);
  return sorted;
}

CanonicalList PairList(std::span<const TextPair> pairs) {
  CanonicalList list;
  for (const TextPair& pair : SortedByName(pairs)) {
    list.Tuple({AsBytes(pair.name), AsBytes(pair.value)});
  }
  return list;
}

// A dependency is one pair: the path that was looked for, and the digest of what was found there.
// That a file was absent is part of the key as well, because its appearance changes the result.
CanonicalList DependencyList(std::span<const Dependency> dependencies) {
  std::vector<Dependency> sorted(dependencies.begin(), dependencies.end());
  std::ranges::sort(sorted, {}, &Dependency::path);
  const auto twice = std::ranges::adjacent_find(sorted, {}, &Dependency::path);
  KILN_CHECK(twice == sorted.end(), "{} occurs twice", twice->path);
  CanonicalList list;
  for (const Dependency& dependency : sorted) {
    CanonicalList pair;
    pair.Raw(AsBytes(dependency.path));  // a source may ask for anything
    if (dependency.digest.has_value()) {
      pair.Content(*dependency.digest);
    } else {
      // An empty part, which no digest is: looked for and absent.
      pair.Raw({});
    }
    list.List(pair);
  }
  return list;
}

// In the order of the caller: that of modules is the order in which they are linked.
CanonicalList HashList(std::span<const Hash128> ids) {
  CanonicalList list;
  for (const Hash128& id : ids) {
    list.Hash(id);
  }
  return list;
}

// Called for each mask of each look-up, so options come sorted and are not sorted again; the check
// costs a comparison each.
Hash128 OptionKey(std::string_view domain, const Hash128& entry,
                  std::span<const OptionSetting> options) {
  CanonicalList list(options.size() * kUsualSetting);
  Bytes scratch;
  scratch.reserve(kUsualSetting);
  const OptionSetting* last = nullptr;
  for (const OptionSetting& option : options) {
    KILN_CHECK(last == nullptr || last->name < option.name, "option {} is out of order",
               option.name);
    KILN_CHECK(option.value.type() != TypedValue::Type::kFloat ||
                   // NaN has many encodings; options are finite (spec/cache 2.3.1).
                   std::isfinite(std::bit_cast<float>(option.value.bits())),
               "option {} is not finite", option.name);
    list.Tuple({AsBytes(option.name), EncodeValue(option.value, scratch)});
    last = &option;
  }
  return CanonicalWriter(domain).Hash(1, entry).List(2, list).Key();
}

}  // namespace

TypedValue TypedValue::Float(float value) {
  return {Type::kFloat, std::bit_cast<uint32_t>(value), {}};
}

namespace {

// Both keys are over the same fields and differ in their domain alone, so a probe of a module is
// never taken for the module.
Hash128 SourceKey(std::string_view domain, const ModuleInputs& inputs) {
  CanonicalWriter key(domain);
  key.Text(1, inputs.language).Content(2, inputs.source);
  key.Hash(3, inputs.front_end).Hash(4, inputs.limits);
  // An optional field that is empty is left out (spec/cache 2.2.2), so languages without it keep
  // their keys.
  if (!inputs.defines.empty()) {
    key.List(5, PairList(inputs.defines));
  }
  if (!inputs.dependencies.empty()) {
    key.List(6, DependencyList(inputs.dependencies));
  }
  if (!inputs.path.empty()) {
    key.Text(7, inputs.path);
  }
  return key.Key();
}

}  // namespace

Hash128 ModuleKey(const ModuleInputs& inputs) { return SourceKey("kiln.module.1", inputs); }

Hash128 ProbesKey(const ModuleInputs& inputs) { return SourceKey("kiln.probes.1", inputs); }

Hash128 ProgramId(const ProgramInputs& inputs) {
  CanonicalWriter key("kiln.program.1");
  key.List(1, HashList(inputs.modules)).Text(2, inputs.pipeline);
  key.List(3, PairList(inputs.target)).Hash(4, inputs.back_end).Hash(5, inputs.limits);
  if (!inputs.debug_modules.empty()) {
    CanonicalList list;
    for (const DebugModule& module : inputs.debug_modules) {
      list.List(CanonicalList().Hash(module.spans).Text(module.path));
    }
    key.List(6, list);
  }
  return key.Key();
}

// Entry points keep the order of the caller, which is that of the stages.
Hash128 EntryId(const Hash128& program, std::span<const EntryPointName> entry_points) {
  CanonicalList list;
  for (const EntryPointName& entry : entry_points) {
    list.Tuple({AsBytes(entry.stage), AsBytes(entry.function)});
  }
  return CanonicalWriter("kiln.entry.1").Hash(1, program).List(2, list).Key();
}

Hash128 VariantKey(const Hash128& entry, std::span<const OptionSetting> options) {
  return OptionKey("kiln.variant.1", entry, options);
}

Hash128 LiveKey(const Hash128& entry, std::span<const OptionSetting> live_options) {
  return OptionKey("kiln.live.1", entry, live_options);
}

// Masks of an entry are numbered from 0 on, and a look-up tries them in that order (spec/cache 3).
Hash128 MaskKey(const Hash128& entry, uint32_t ordinal) {
  KILN_CHECK(ordinal < kMaxMasks, "mask {}", ordinal);
  return CanonicalWriter("kiln.mask.1").Hash(1, entry).U32(2, ordinal).Key();
}

Hash128 SignatureKey(const Hash128& entry, std::span<const ConditionValue> answers) {
  CanonicalList list(answers.size() * kUsualSetting);
  Bytes scratch;
  scratch.reserve(kUsualSetting);
  const ConditionValue* last = nullptr;
  for (const ConditionValue& answer : answers) {
    // The same answers in another order would be another key, so there is one order only.
    KILN_CHECK(last == nullptr || std::pair(last->module, last->expression) <
                                      std::pair(answer.module, answer.expression),
               "answer {} of module {} is out of order", answer.expression, answer.module);
    list.Tuple({std::as_bytes(std::span(&answer.module, 1)),
                std::as_bytes(std::span(&answer.expression, 1)),
                EncodeValue(answer.value, scratch)});
    last = &answer;
  }
  return CanonicalWriter("kiln.signature.1").Hash(1, entry).List(2, list).Key();
}

// A recipe is named by its text, which has its settings, and the tool by its fingerprint, so an
// update of the tool makes new results.
Hash128 RecipeKey(const Digest& input, std::string_view recipe, const Hash128& tool) {
  return CanonicalWriter("kiln.recipe.1").Content(1, input).Text(2, recipe).Hash(3, tool).Key();
}

std::string RecipeText(std::string_view name, std::span<const TextPair> settings) {
  std::string text(name);
  for (const TextPair& setting : SortedByName(settings)) {
    // The separators of the text itself.
    KILN_CHECK(setting.name.find_first_of(";=") == std::string_view::npos &&
                   setting.value.find(';') == std::string_view::npos,
               "setting {}={}", setting.name, setting.value);
    text.append(";").append(setting.name).append("=").append(setting.value);
  }
  return text;
}

// All limits by name, also those with their default: a default that changes is another id.
Hash128 LimitsId(std::span<const LimitValue> limits) {
  CanonicalList list;
  for (const LimitValue& limit : SortedByName(limits)) {
    list.List(CanonicalList().Text(limit.name).U64(limit.value));
  }
  return HashBytes(list.Encode());
}

// A slot is what requests are compared within: the same program of the same project for the same
// target.
Hash128 SlotId(uint32_t space, std::string_view project, std::string_view program,
               std::string_view target) {
  return CanonicalWriter("kiln.slot.1")
      .U32(1, space)
      .Text(2, project)
      .Text(3, program)
      .Text(4, target)
      .Key();
}

// The state is what a pipeline is made of: code, fixed state and layout. Equal states of different
// programs are one pipeline.
Hash128 StateId(std::span<const NamedDigest> code, const Hash128& state, const Hash128& layout) {
  CanonicalList list;
  for (const NamedDigest& product : SortedByName(code)) {
    list.NamedContent(product.name, product.digest);
  }
  return CanonicalWriter("kiln.state.1").List(1, list).Hash(2, state).Hash(3, layout).Key();
}

}  // namespace kiln::cache
