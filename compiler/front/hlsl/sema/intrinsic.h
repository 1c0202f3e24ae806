// SPDX-License-Identifier: MIT
// Facts of intrinsics.def as data, and what is known of names that are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/front/hlsl/sema/object.h"
#include "compiler/ir/builtins.h"

namespace kiln::hlsl {

enum class Intrinsic : uint8_t {
#define KILN_INTRINSIC(name, text, tier, count, shapes, items, result, f, s, u) k##name,
#include "compiler/front/hlsl/sema/intrinsics.def"
};
enum class ArgumentShapes : uint8_t { kAny, kVector, kOwn };
enum class ArgumentItems : uint8_t { kFloat, kNumber, kInteger, kBool, kAll };
enum class IntrinsicResult : uint8_t { kSame, kScalar, kBool, kOne, kInt, kUint, kOwn };

struct IntrinsicFacts {
  std::string_view name;
  Tier tier;
  uint8_t count;
  ArgumentShapes shapes;
  ArgumentItems items;
  IntrinsicResult result;
  std::optional<ir::Builtin> of_float, of_signed, of_unsigned;
};
const IntrinsicFacts& FactsOf(Intrinsic intrinsic);
extern const uint32_t kIntrinsicCount;

std::optional<Intrinsic> FindIntrinsic(std::string_view name);

// Why a name of HLSL is no intrinsic here.
struct RefusedIntrinsic {
  std::string_view family;       // HLSL8004, or
  std::string_view replacement;  // HLSL2035, or both empty: HLSL2036
};
std::optional<RefusedIntrinsic> FindRefusedIntrinsic(std::string_view name);

}  // namespace kiln::hlsl
