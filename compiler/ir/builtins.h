// SPDX-License-Identifier: MIT
// Facts of builtins.def as data: the enum, the families and their signatures.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/ir/types.h"

namespace kiln::ir {

enum class Builtin : uint16_t {
#define KILN_BUILTIN(name, text, types, parameters, result, lowering, f, u, s) k##name,
#include "compiler/ir/builtins.def"
};

enum class BuiltinTypes : uint8_t {
  kNone,
  kF,
  kFD,
  kF2,
  kF3,
  kFUS,
  kFS,
  kF32,
  kS,
  kV2,
  kB2,
  kI2,
  kI32,
  kU32,
  kM,
  kMA,
  kP2,
  kP4,
  kU1,
};
enum class BuiltinLowering : uint8_t { kGlsl, kOp, kSpecial };

struct BuiltinFacts {
  std::string_view name;
  BuiltinTypes types;
  std::string_view parameters;  // letters T, 1, B, S and u
  char result;                  // a letter of builtins.def
  BuiltinLowering lowering;
};
inline constexpr BuiltinFacts kBuiltinFacts[] = {
#define KILN_BUILTIN(name, text, types, parameters, result, lowering, f, u, s) \
  {text, BuiltinTypes::k##types, parameters, #result[0], BuiltinLowering::k##lowering},
#include "compiler/ir/builtins.def"
};
inline constexpr uint32_t kBuiltinCount = sizeof(kBuiltinFacts) / sizeof(kBuiltinFacts[0]);
constexpr const BuiltinFacts& FactsOf(Builtin builtin) {
  return kBuiltinFacts[static_cast<uint16_t>(builtin)];
}
// Specialising of untyped modules makes none of these.
constexpr bool IsOfTypedModules(Builtin builtin) { return builtin >= Builtin::kNMin; }
// Does the family exist for `type`?
bool ExistsFor(BuiltinTypes types, const Type& type);

}  // namespace kiln::ir
