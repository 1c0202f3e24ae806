// SPDX-License-Identifier: MIT
#include "compiler/ir/interface/semantics.h"

#include <algorithm>
#include <iterator>

#include "compiler/base/check.h"

namespace kiln::ir {
namespace {

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

bool ExistsIn(BuiltinVariable variable, Stage stage, Direction direction) {
  const auto there = static_cast<uint8_t>(FactsOf(variable).stages[static_cast<size_t>(stage)]);
  return (there & (direction == Direction::kIn ? 1U : 2U)) != 0;
}

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
  if (stage == Stage::kCompute && !in) {
    return BuiltinVariable::kNone;
  }
  if (!IsSystemValue(name)) {
    const bool fixed = stage == Stage::kCompute || (stage == Stage::kFragment && !in);
    return fixed ? BuiltinVariable::kNone : BuiltinVariable::kLocated;
  }
  const std::string key = SemanticKey(name);
  const auto found = std::ranges::find(kSemantics, key, &Semantic::name);
  const size_t place = static_cast<size_t>(stage) * 2 + (in ? 0 : 1);
  return found == std::end(kSemantics) ? BuiltinVariable::kNone : found->places[place];
}

}  // namespace kiln::ir
