// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/lower/rows.h"

#include <cstddef>
#include <iterator>

#include "compiler/base/check.h"

namespace kiln::wgsl {
namespace {

// The tables are the .def files, each read twice: once for the rows and once for the enumerators,
// so that the compiler can check that row i is about enumerator i.
// `f`, `u`, `s` and `b` say how the operator is written for floats, unsigned, signed and
// booleans.
constexpr BinaryRow kBinaryRows[] = {
#define KILN_WGSL_BINARY(op, text, f, u, s, b) \
  {text, BinaryForm::k##f, BinaryForm::k##u, BinaryForm::k##s, BinaryForm::k##b},
#define KILN_WGSL_UNARY(op, text, f, u, s, b)
#include "compiler/emit/wgsl/operators.def"
};
constexpr ir::BinaryOp kBinaryOps[] = {
#define KILN_WGSL_BINARY(op, text, f, u, s, b) ir::BinaryOp::k##op,
#define KILN_WGSL_UNARY(op, text, f, u, s, b)
#include "compiler/emit/wgsl/operators.def"
};
constexpr BinaryRow kUnaryRows[] = {
#define KILN_WGSL_BINARY(op, text, f, u, s, b)
#define KILN_WGSL_UNARY(op, text, f, u, s, b) \
  {text, BinaryForm::k##f, BinaryForm::k##u, BinaryForm::k##s, BinaryForm::k##b},
#include "compiler/emit/wgsl/operators.def"
};
constexpr BuiltinRow kBuiltins[] = {
#define KILN_WGSL_BUILTIN(name, form, text) {BuiltinForm::k##form, text},
#include "compiler/emit/wgsl/builtins.def"
};
constexpr ir::Builtin kBuiltinOrder[] = {
#define KILN_WGSL_BUILTIN(name, form, text) ir::Builtin::k##name,
#include "compiler/emit/wgsl/builtins.def"
};
constexpr HelperRow kHelpers[] = {
#define KILN_HELPER(name, function, half, text) {function, half, text},
#include "compiler/emit/wgsl/helpers.def"
};

// Row i is that of enumerator i.
template <class Enum, size_t kCount>
consteval bool InOrder(const Enum (&rows)[kCount]) {
  for (size_t i = 0; i < kCount; ++i) {
    if (static_cast<size_t>(rows[i]) != i) {
      return false;
    }
  }
  return true;
}
static_assert(InOrder(kBinaryOps) &&
              std::size(kBinaryRows) == static_cast<size_t>(ir::BinaryOp::kNotEqualOrdered) + 1);
static_assert(std::size(kUnaryRows) == static_cast<size_t>(ir::UnaryOp::kPlus) + 1);
static_assert(InOrder(kBuiltinOrder) && std::size(kBuiltins) == ir::kBuiltinCount);
static_assert(kHelperCount <= 32);

}  // namespace

const BinaryRow& RowOf(ir::BinaryOp op) { return kBinaryRows[static_cast<size_t>(op)]; }

// What is none of these scalars cannot be said in WGSL.
BinaryForm FormOf(const BinaryRow& row, ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::kF32:
    case ir::Scalar::kF16:
      return row.f;
    case ir::Scalar::kU32:
      return row.u;
    case ir::Scalar::kS32:
      return row.s;
    case ir::Scalar::kBool:
      return row.b;
    case ir::Scalar::kNone:
    case ir::Scalar::kF64:
    case ir::Scalar::kS64:
    case ir::Scalar::kU64:
    case ir::Scalar::kS16:
    case ir::Scalar::kU16:
      break;
  }
  return BinaryForm::kNone;
}

// Empty where WGSL lacks the operator for this scalar.
std::string_view TextOf(ir::UnaryOp op, ir::Scalar scalar) {
  const BinaryRow& row = kUnaryRows[static_cast<size_t>(op)];
  return FormOf(row, scalar) == BinaryForm::kNone ? std::string_view{} : row.text;
}

const BuiltinRow& RowOf(ir::Builtin builtin) { return kBuiltins[static_cast<size_t>(builtin)]; }

const HelperRow& RowOf(Helper helper) { return kHelpers[static_cast<size_t>(helper)]; }

// WGSL has neither an inverse, nor reflect and refract of scalars; these are functions that kiln
// adds to the module.
// A helper is written once into a module, however often it is called.
std::optional<Helper> HelperOf(ir::Builtin builtin, const ir::Type& type) {
  const bool half = type.scalar == ir::Scalar::kF16;
  if (builtin == ir::Builtin::kInverse) {
    return type.columns == 3 ? Helper::kInverse3 : Helper::kInverse4;
  }
  if (type.rows == 1 && builtin == ir::Builtin::kReflect) {
    return half ? Helper::kReflectHalf : Helper::kReflect;
  }
  if (type.rows == 1 && builtin == ir::Builtin::kRefract) {
    return half ? Helper::kRefractHalf : Helper::kRefract;
  }
  return std::nullopt;
}

}  // namespace kiln::wgsl
