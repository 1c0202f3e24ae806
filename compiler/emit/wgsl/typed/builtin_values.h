// SPDX-License-Identifier: MIT
// Built-in values of entry points of typed modules, and small questions about rows and constants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/ir/specialised.h"

namespace kiln::wgsl {

struct BuiltinValue {
  std::string_view name;  // of the IR
  std::string_view wgsl;
  ir::Scalar scalar = ir::Scalar::kF32;
  uint32_t rows = 1;
  std::string_view feature;
};
// Null: the row is no built-in value, or one that WGSL lacks.
const BuiltinValue* BuiltinValueOf(const ir::Pool& pool, const ir::InterfaceRow& row);

// What WGSL exchanges for a row: of an array of one item the item.
ir::TypeId ValueTypeOf(const ir::Pool& pool, const ir::InterfaceRow& row);

// A label of a switch. Requires: a scalar of integers.
std::string ConstantLabel(const ir::Pool& pool, ir::ConstId label);

}  // namespace kiln::wgsl
