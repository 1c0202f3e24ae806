// SPDX-License-Identifier: MIT
// The names of inbuilt types: text → row of types.def and shape. What they mean is another matter.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::hlsl::syntax {

enum class InbuiltName : uint8_t {
#define KILN_HLSL_SCALAR(enumerator, name, item) k##enumerator,
#define KILN_HLSL_TYPE(enumerator, name, arguments) k##enumerator,
#include "compiler/front/hlsl/syntax/types.def"
};

enum class TypeArguments : uint8_t { kNone, kOptional, kOne, kOneOrTwo, kShape, kAny };

// "float3x4" is (kFloat, 3, 4); "float3" is (kFloat, 3, 0); a plain name has 0 and 0. "float1" and
// "float1x1" keep their ones.
struct InbuiltType {
  InbuiltName name{};
  uint8_t rows = 0;     // of a vector its size
  uint8_t columns = 0;  // of matrices only

  friend bool operator==(const InbuiltType&, const InbuiltType&) = default;
};

// Names of the space vk are given with it: "vk::BufferPointer".
std::optional<InbuiltType> FindInbuiltType(std::string_view text);

bool IsScalar(InbuiltName name);
std::string_view InbuiltNameText(InbuiltName name);    // "float"
TypeArguments InbuiltNameArguments(InbuiltName name);  // kNone of scalars

}  // namespace kiln::hlsl::syntax
