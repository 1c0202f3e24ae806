// SPDX-License-Identifier: MIT
#include "compiler/ir/interface/semantics.h"

#include <algorithm>
#include <iterator>

#include "compiler/base/check.h"

namespace kiln::ir {
namespace {

// The rows lie in the order of the enumeration, which is made of the same file; that is what the
// casts from and to an index below rely on. SPIR-V's own names are left out here, so that this
// folder knows nothing of the emitter.
constexpr BuiltinVariableFacts kBuiltinVariables[] = {
#define KILN_BUILTIN_VARIABLE(name, built_in, scalar, rows, items, vertex, fragment, compute, \
                              need)                                                           \
  {#name,                                                                                     \
   Scalar::k##scalar,                                                                         \
   rows,                                                                                      \
   items,                                                                                     \
   {Directions::k##vertex, Directions::k##fragment, Directions::k##compute}},
#include "compiler/ir/interface/builtin_variables.def"
};

struct Semantic {
  std::string_view name;
  BuiltinVariable places[5];  // vertex in, out; fragment in, out; compute in
};
constexpr Semantic kSemantics[] = {
#define KILN_SEMANTIC(name, vertex_in, vertex_out, fragment_in, fragment_out, compute_in) \
  {name,                                                                                  \
   {BuiltinVariable::k##vertex_in, BuiltinVariable::k##vertex_out,                        \
    BuiltinVariable::k##fragment_in, BuiltinVariable::k##fragment_out,                    \
    BuiltinVariable::k##compute_in}},
#include "compiler/ir/interface/semantics.def"
};

constexpr char Capital(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

}  // namespace

std::span<const BuiltinVariableFacts> AllBuiltinVariables() { return kBuiltinVariables; }

const BuiltinVariableFacts& FactsOf(BuiltinVariable variable) {
  KILN_CHECK(variable < BuiltinVariable::kLocated, "no built-in");
  return kBuiltinVariables[static_cast<size_t>(variable)];
}

std::optional<BuiltinVariable> FindBuiltinVariable(std::string_view name) {
  const auto found = std::ranges::find(kBuiltinVariables, name, &BuiltinVariableFacts::name);
  return found == std::end(kBuiltinVariables)
             ? std::nullopt
             : std::optional(static_cast<BuiltinVariable>(found - std::begin(kBuiltinVariables)));
}

// Directions are bits: 1 is in, 2 is out.
bool ExistsIn(BuiltinVariable variable, Stage stage, Direction direction) {
  const auto there = static_cast<uint8_t>(FactsOf(variable).stages[static_cast<size_t>(stage)]);
  return (there & (direction == Direction::kIn ? 1U : 2U)) != 0;
}

// HLSL compares semantics without case; ASCII is enough, because its identifiers are ASCII.
std::string SemanticKey(std::string_view name) {
  std::string key(name);
  std::ranges::transform(key, key.begin(), Capital);
  return key;
}

bool IsSystemValue(std::string_view name) {
  return name.size() > 3 && Capital(name[0]) == 'S' && Capital(name[1]) == 'V' && name[2] == '_';
}

BuiltinVariable PlaceOfSemantic(std::string_view name, Stage stage, Direction direction) {
  const bool in = direction == Direction::kIn;
  // A compute shader has inputs but nothing that it could hand to a later stage.
  if (stage == Stage::kCompute && !in) {
    return BuiltinVariable::kNone;
  }
  if (!IsSystemValue(name)) {
    // Names that are no system values connect a stage with the one after it by a location. Compute
    // has no neighbour, and what a fragment writes must say which attachment it means.
    const bool fixed = stage == Stage::kCompute || (stage == Stage::kFragment && !in);
    return fixed ? BuiltinVariable::kNone : BuiltinVariable::kLocated;
  }
  const std::string key = SemanticKey(name);
  const auto found = std::ranges::find(kSemantics, key, &Semantic::name);
  // Stages count two columns each in the table; compute has one, and its missing second column has
  // been refused above.
  const size_t place = static_cast<size_t>(stage) * 2 + (in ? 0 : 1);
  return found == std::end(kSemantics) ? BuiltinVariable::kNone : found->places[place];
}

}  // namespace kiln::ir
