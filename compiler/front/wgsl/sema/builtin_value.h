// SPDX-License-Identifier: MIT
// Built-in values of entry points as data.
#pragma once

#include <string_view>

#include "compiler/front/wgsl/sema/type.h"

namespace kiln::wgsl::front {

enum class BuiltinUse : uint8_t { kNone, kIn, kOut, kBoth };
struct BuiltinValue {
  std::string_view name;
  std::string_view variable;  // of ir/interface/builtin_variables.def
  ScalarKind scalar = ScalarKind::kU32;
  uint32_t rows = 1;
  BuiltinUse uses[3] = {};  // by ir::Stage
};

inline constexpr BuiltinValue kBuiltinValues[] = {
#define KILN_WGSL_BUILTIN(name, variable, scalar, rows, vertex, fragment, compute) \
  {name,                                                                           \
   variable,                                                                       \
   ScalarKind::k##scalar,                                                          \
   rows,                                                                           \
   {BuiltinUse::k##vertex, BuiltinUse::k##fragment, BuiltinUse::k##compute}},
#include "compiler/front/wgsl/sema/builtin_values.def"
};

constexpr const BuiltinValue* FindBuiltinValue(std::string_view name) {
  for (const BuiltinValue& row : kBuiltinValues) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace kiln::wgsl::front
