// SPDX-License-Identifier: MIT
// Facts of objects.def as data.
#pragma once

#include <string_view>

#include "compiler/front/hlsl/sema/type.h"
#include "compiler/ir/types.h"

namespace kiln::hlsl {

enum class ObjectShape : uint8_t { kImage, kSampler, kBlock, kStructured, kBytes, kOther };
enum class Tier : uint8_t { kT0, kT1, kT2 };

struct ObjectFacts {
  std::string_view name;
  Tier tier;
  ObjectShape shape;
  ir::ImageDim dim;
  bool arrayed, multisampled, writable, comparison;
};
inline constexpr ObjectFacts kObjectFacts[] = {
#define KILN_OBJECT(object, name, tier, shape, dim, flags) \
  {name,                                                   \
   Tier::k##tier,                                          \
   ObjectShape::k##shape,                                  \
   ir::ImageDim::k##dim,                                   \
   ((flags)&1) != 0,                                       \
   ((flags)&2) != 0,                                       \
   ((flags)&4) != 0,                                       \
   ((flags)&8) != 0},
#include "compiler/front/hlsl/sema/objects.def"
};
inline constexpr uint32_t kObjectCount = sizeof(kObjectFacts) / sizeof(kObjectFacts[0]);
constexpr const ObjectFacts& FactsOf(ObjectKind object) {
  return kObjectFacts[static_cast<size_t>(object)];
}

}  // namespace kiln::hlsl
