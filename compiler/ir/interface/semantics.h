// SPDX-License-Identifier: MIT
// What variables of an interface may be: the built-in variables of stages, and the semantics that
// stand for them. Front ends may ask what a name is; which of its places counts is known when an
// entry point is chosen. Tables: builtin_variables.def, semantics.def.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/specialised.h"

namespace kiln::ir {

// The built-in variables, and what a semantic may be besides.
enum class BuiltinVariable : uint8_t {
#define KILN_BUILTIN_VARIABLE(name, built_in, scalar, rows, items, vertex, fragment, compute, \
                              need)                                                           \
  k##name,
#include "compiler/ir/interface/builtin_variables.def"
  kLocated,
  kNone,
  kLacking,
};

inline constexpr uint8_t kAnyItems = 255;
enum class Directions : uint8_t { kNone = 0, kIn = 1, kOut = 2, kBoth = 3 };

struct BuiltinVariableFacts {
  std::string_view name;
  Scalar scalar = Scalar::kNone;
  uint8_t rows = 0;
  uint8_t items = 0;       // of an array; kAnyItems: as many as are used
  Directions stages[3]{};  // by Stage
};
std::span<const BuiltinVariableFacts> AllBuiltinVariables();  // by BuiltinVariable
// Requires: none of the last three.
const BuiltinVariableFacts& FactsOf(BuiltinVariable variable);
std::optional<BuiltinVariable> FindBuiltinVariable(std::string_view name);
// Direction: kIn or kOut.
bool ExistsIn(BuiltinVariable variable, Stage stage, Direction direction);

// The name in capitals, by which semantics are compared.
std::string SemanticKey(std::string_view name);
bool IsSystemValue(std::string_view name);  // begins with SV_
// What a semantic is there. Direction: kIn or kOut.
BuiltinVariable PlaceOfSemantic(std::string_view name, Stage stage, Direction direction);

}  // namespace kiln::ir
