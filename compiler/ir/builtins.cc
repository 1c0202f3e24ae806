// SPDX-License-Identifier: MIT
// For which types a family of inbuilt functions exists.
#include "compiler/ir/builtins.h"

#include "compiler/base/check.h"

namespace kiln::ir {

bool ExistsFor(BuiltinTypes types, const Type& type) {
  const bool vector = type.kind == TypeKind::kVector;
  const bool real = type.scalar == Scalar::kF32 || type.scalar == Scalar::kF16;
  switch (types) {
    case BuiltinTypes::kNone:
      return false;
    case BuiltinTypes::kF:
      return vector && real;
    case BuiltinTypes::kF2:
      return vector && real && type.rows >= 2;
    case BuiltinTypes::kF3:
      return vector && real && type.rows == 3;
    case BuiltinTypes::kFUS:
      return vector && type.scalar != Scalar::kBool;
    case BuiltinTypes::kFS:
      return vector && (real || type.scalar == Scalar::kS32);
    case BuiltinTypes::kF32:
      return vector && type.scalar == Scalar::kF32;
    case BuiltinTypes::kS:
      return vector && type.scalar == Scalar::kS32;
    case BuiltinTypes::kV2:
      return vector && type.rows >= 2;
    case BuiltinTypes::kB2:
      return vector && type.scalar == Scalar::kBool && type.rows >= 2;
    case BuiltinTypes::kM:
      return type.kind == TypeKind::kMatrix && type.columns == type.rows;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::ir
