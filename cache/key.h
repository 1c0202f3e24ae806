// SPDX-License-Identifier: MIT
// Every key of kiln: names of inputs -> 16 bytes. A key is a digest (base/digest) of the canonical
// encoding (base/canonical) of a domain and tagged fields. Keys are computed here and nowhere else.
// No key holds a time, an absolute path, a host name or an address. See spec/cache 2.
//
// Inputs are views; they need to live for the call only. Lists that a key wants sorted are sorted
// here, except where the comment says that they must come sorted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/digest.h"

namespace kiln::cache {

// Value of an option, or answer of a compile-time expression (spec/cache 2.3). Texts are views.
class TypedValue {
 public:
  enum class Type : uint8_t { kFlag = 0, kUint = 1, kSint = 2, kFloat = 3, kText = 4, kFailed = 5 };

  static TypedValue Flag(bool value) { return {Type::kFlag, value ? 1u : 0u, {}}; }
  static TypedValue Uint(uint32_t value) { return {Type::kUint, value, {}}; }
  static TypedValue Sint(int32_t value) { return {Type::kSint, static_cast<uint32_t>(value), {}}; }
  // By its bits: -0.0 and 0.0 differ.
  static TypedValue Float(float value);
  // An enum value or a string.
  static TypedValue Text(std::string_view text) { return {Type::kText, 0, text}; }
  // Answers only: the expression has no value in this variant.
  static TypedValue Failed() { return {Type::kFailed, 0, {}}; }

  Type type() const { return type_; }
  uint32_t bits() const { return bits_; }
  std::string_view text() const { return text_; }

  friend bool operator==(const TypedValue&, const TypedValue&) = default;

 private:
  TypedValue(Type type, uint32_t bits, std::string_view text)
      : type_(type), bits_(bits), text_(text) {}

  Type type_;
  uint32_t bits_;
  std::string_view text_;
};

// (name, value): a define, a target setting.
struct TextPair {
  std::string_view name;
  std::string_view value;
};

// A file that a front end looked for beside the root source. No digest: it was not there, which is
// recorded because a new file of that name would change the result (spec/cache 2.4.4).
struct Dependency {
  std::string_view path;
  std::optional<Digest> digest;
};

struct ModuleInputs {
  std::string_view language;  // "rpl"
  Digest source;
  Hash128 front_end;  // fingerprint
  Hash128 limits;     // LimitsId
  std::span<const TextPair> defines = {};
  std::span<const Dependency> dependencies = {};
  std::string_view path = {};  // of the root, for languages whose sources see it
};

// Domain kiln.module.1. Requires: names of defines and paths are unique.
Hash128 ModuleKey(const ModuleInputs& inputs);

// Domain kiln.probes.1: where the paths that a root asks for next are found, given what is known of
// the dependencies so far; the module key at the end of that. Leads to a module record whose
// product is a probe row. Requires: as ModuleKey. See spec/cache 2.4.4
Hash128 ProbesKey(const ModuleInputs& inputs);

// A module in a program compiled with debug=full (spec/cache 2.4.3).
struct DebugModule {
  Hash128 spans;  // content id of the span section
  std::string_view path;
};

struct ProgramInputs {
  std::span<const Hash128> modules = {};  // semantic ids in link order
  std::string_view pipeline;              // "graphics_classic"
  std::span<const TextPair> target = {};  // form, version, env, debug and settings off default
  Hash128 back_end;                       // fingerprint
  Hash128 limits;
  std::span<const DebugModule> debug_modules = {};  // debug=full only, in link order
};

// Domain kiln.program.1; part of the entry id, no key of the store. Requires: names of target
// pairs are unique.
Hash128 ProgramId(const ProgramInputs& inputs);

struct EntryPointName {
  std::string_view stage;  // "vertex", "fragment", "compute"
  std::string_view function;
};

// Domain kiln.entry.1. Requires: entry points in stage order (vertex, fragment, compute).
Hash128 EntryId(const Hash128& program, std::span<const EntryPointName> entry_points);

struct OptionSetting {
  std::string_view name;
  TypedValue value;
};

// Domain kiln.variant.1: all options of the program, defaults filled in. Leads to a signature key.
// Requires: sorted by name, names unique, floats finite.
Hash128 VariantKey(const Hash128& entry, std::span<const OptionSetting> options);

// Domain kiln.live.1: the live options of a run (spec/cache 3.3). Leads to a signature key.
// Requires: as VariantKey.
Hash128 LiveKey(const Hash128& entry, std::span<const OptionSetting> live_options);

// A program has at most this many masks per entry id (spec/cache 3.4).
inline constexpr uint32_t kMaxMasks = 64;

// Domain kiln.mask.1. Leads to the mask (cache/record.h) of that ordinal.
Hash128 MaskKey(const Hash128& entry, uint32_t ordinal);

// One query that specialising asked, and what it was told (spec/cache 3.1).
struct ConditionValue {
  uint32_t module = 0;
  uint32_t expression = 0;
  TypedValue value = TypedValue::Failed();
};

// Domain kiln.signature.1. Leads to a record. Requires: sorted by (module, expression), which are
// unique.
Hash128 SignatureKey(const Hash128& entry, std::span<const ConditionValue> answers);

// Domain kiln.recipe.1. recipe: RecipeText. Leads to a record.
Hash128 RecipeKey(const Digest& input, std::string_view recipe, const Hash128& tool);

// "opt;level=O;val=after": name and settings, sorted by key (spec/cache 2.4.6).
// Requires: no ';' or '=' in names.
std::string RecipeText(std::string_view name, std::span<const TextPair> settings);

struct LimitValue {
  std::string_view name;
  uint64_t value = 0;
};

// Content id of the sorted deterministic limits (spec/cache 2.4.5; class D of spec/daemon 10).
Hash128 LimitsId(std::span<const LimitValue> limits);

// Domain kiln.slot.1: the ring of explain records that a request belongs to (spec/cache 11.1).
Hash128 SlotId(uint32_t space, std::string_view project, std::string_view program,
               std::string_view target);

// A code product under its name: "code.vertex", … or "code".
struct NamedDigest {
  std::string_view name;
  Digest digest;
};

// Domain kiln.state.1: everything that a pipeline object depends on (spec/cache 4.1). state:
// encoded state part of the metadata (fixed state, settings, attributes, colour outputs).
// Requires: unique names.
Hash128 StateId(std::span<const NamedDigest> code, const Hash128& state, const Hash128& layout);

}  // namespace kiln::cache
