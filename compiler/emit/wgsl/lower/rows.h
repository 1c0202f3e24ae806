// SPDX-License-Identifier: MIT
// operators.def, builtins.def and helpers.def as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/emit/wgsl/text_object.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/insts.h"

namespace kiln::wgsl {

enum class BinaryForm : uint8_t {
  kNone,
  kPlain,
  kDivide,
  kModulus,
  kShift,
  kLogicalShift,
  kArithmeticShift,
  kNotEqual,
};
struct BinaryRow {
  std::string_view text;
  BinaryForm f, u, s, b;
};
const BinaryRow& RowOf(ir::BinaryOp op);
BinaryForm FormOf(const BinaryRow& row, ir::Scalar scalar);

// Empty: there is no such operator, or it does nothing (plus).
std::string_view TextOf(ir::UnaryOp op, ir::Scalar scalar);

enum class BuiltinForm : uint8_t {
  kCall,
  kRangeCall,
  kVectorCall,
  kHelper,
  kSampling,
  kImage,
  kMemory,
  kSpecialising,
  kMissing,
};
struct BuiltinRow {
  BuiltinForm form;
  std::string_view text;
};
const BuiltinRow& RowOf(ir::Builtin builtin);

struct HelperRow {
  std::string_view name;
  bool half;
  std::string_view text;
};
const HelperRow& RowOf(Helper helper);
inline constexpr uint32_t kHelperCount = 0
#define KILN_HELPER(name, function, half, text) +1
#include "compiler/emit/wgsl/helpers.def"
    ;
inline std::string_view HelperName(Helper helper) { return RowOf(helper).name; }

// What computes a builtin of `type` that WGSL lacks.
std::optional<Helper> HelperOf(ir::Builtin builtin, const ir::Type& type);

// A float that no literal has, read from the variable that holds its bits.
std::string SpecialText(const SpecialBits& special);

}  // namespace kiln::wgsl
