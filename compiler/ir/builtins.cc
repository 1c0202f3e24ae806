// SPDX-License-Identifier: MIT
// For which types a family of inbuilt functions exists.
#include "compiler/ir/builtins.h"

#include "compiler/base/check.h"

namespace kiln::ir {

// Names of the sets are those of builtins.def; the type decides alone, so a front end may ask
// before it has a module.
bool ExistsFor(BuiltinTypes types, const Type& type) {
  const bool vector = type.kind == TypeKind::kVector;
  const bool matrix = type.kind == TypeKind::kMatrix && IsFloatScalar(type.scalar);
  const bool real = vector && IsFloatScalar(type.scalar);
  const bool integer = vector && IsIntegerScalar(type.scalar);
  // Without a default, so that a new set of types has to say here what is in it.
  switch (types) {
    case BuiltinTypes::kNone:
      return false;
    case BuiltinTypes::kF:
      return real && type.scalar != Scalar::kF64;
    case BuiltinTypes::kFD:
      return real;
    case BuiltinTypes::kF2:
      return real && type.rows >= 2;
    case BuiltinTypes::kF3:
      return real && type.rows == 3;
    case BuiltinTypes::kFUS:
      return vector && type.scalar != Scalar::kBool;
    case BuiltinTypes::kFS:
      return real || (vector && IsSignedScalar(type.scalar));
    case BuiltinTypes::kF32:
      return vector && type.scalar == Scalar::kF32;
    case BuiltinTypes::kS:
      return vector && IsSignedScalar(type.scalar);
    case BuiltinTypes::kV2:
      return vector && type.rows >= 2;
    case BuiltinTypes::kB2:
      return vector && type.scalar == Scalar::kBool && type.rows >= 2;
    case BuiltinTypes::kI2:
      return integer && type.rows >= 2;
    case BuiltinTypes::kI32:
      return integer && BitWidthOf(type.scalar) == 32;
    case BuiltinTypes::kU32:
      return vector && type.scalar == Scalar::kU32;
    case BuiltinTypes::kM:
      return matrix && type.columns == type.rows;
    case BuiltinTypes::kMA:
      return matrix;
    case BuiltinTypes::kP2:
      return type == VectorType(Scalar::kF32, 2);
    case BuiltinTypes::kP4:
      return type == VectorType(Scalar::kF32, 4);
    case BuiltinTypes::kU1:
      return type == VectorType(Scalar::kU32, 1);
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::ir
