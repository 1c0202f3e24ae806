// SPDX-License-Identifier: MIT
// Facts of methods.def as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {

enum class Method : uint8_t {
#define KILN_METHOD(method, name, tier, shapes) k##method,
#include "compiler/front/hlsl/sema/methods.def"
};
// The numbers that GetDimensions gives: sizes of an image from 0 on, its levels or samples,
// elements of a structured buffer and bytes of each, bytes of a buffer of them.
inline constexpr uint32_t kDimensionLevels = 8;
inline constexpr uint32_t kDimensionSamples = 9;
inline constexpr uint32_t kDimensionCount = 10;
inline constexpr uint32_t kDimensionStride = 11;
inline constexpr uint32_t kDimensionBytes = 12;

struct MethodFacts {
  std::string_view name;
  Tier tier;
  uint8_t shapes;
};
inline constexpr MethodFacts kMethodFacts[] = {
#define KILN_METHOD(method, name, tier, shapes) {name, Tier::k##tier, shapes},
#include "compiler/front/hlsl/sema/methods.def"
};
constexpr const MethodFacts& FactsOf(Method method) {
  return kMethodFacts[static_cast<size_t>(method)];
}
constexpr std::optional<Method> FindMethod(std::string_view name) {
  for (size_t i = 0; i < std::size(kMethodFacts); ++i) {
    if (kMethodFacts[i].name == name) {
      return static_cast<Method>(i);
    }
  }
  return std::nullopt;
}

}  // namespace kiln::hlsl
