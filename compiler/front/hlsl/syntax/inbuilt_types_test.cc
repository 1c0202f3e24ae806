// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/syntax/inbuilt_types.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::hlsl::syntax {
namespace {

constexpr std::string_view kScalars[] = {
#define KILN_HLSL_SCALAR(enumerator, name, item) name,
#include "compiler/front/hlsl/syntax/types.def"
};
constexpr std::string_view kTypes[] = {
#define KILN_HLSL_TYPE(enumerator, name, arguments) name,
#include "compiler/front/hlsl/syntax/types.def"
};

TEST(InbuiltTypes, EveryScalar_HasAllShapes) {
  for (const std::string_view scalar : kScalars) {
    const std::string name(scalar);
    const std::optional<InbuiltType> plain = FindInbuiltType(name);
    ASSERT_TRUE(plain.has_value()) << name;
    EXPECT_EQ(InbuiltNameText(plain->name), name);
    EXPECT_TRUE(IsScalar(plain->name)) << name;
    EXPECT_EQ(plain->rows, 0) << name;
    for (uint8_t rows = 1; rows <= 4; ++rows) {
      const std::string vector = name + std::to_string(rows);
      EXPECT_EQ(FindInbuiltType(vector), (InbuiltType{plain->name, rows, 0})) << vector;
      for (uint8_t columns = 1; columns <= 4; ++columns) {
        const std::string matrix = vector + "x" + std::to_string(columns);
        EXPECT_EQ(FindInbuiltType(matrix), (InbuiltType{plain->name, rows, columns})) << matrix;
      }
    }
  }
}

TEST(InbuiltTypes, OtherTypes_HaveNoShape) {
  for (const std::string_view type : kTypes) {
    const std::optional<InbuiltType> found = FindInbuiltType(type);
    ASSERT_TRUE(found.has_value()) << type;
    EXPECT_EQ(InbuiltNameText(found->name), type);
    EXPECT_FALSE(IsScalar(found->name)) << type;
    EXPECT_FALSE(FindInbuiltType(std::string(type) + "2")) << type;
  }
}

TEST(InbuiltTypes, OtherNames_AreNone) {
  for (const std::string_view text :
       {"",        "4",       "x",        "x4",       "1x4",       "float0",
        "float5",  "float3x", "float3x5", "float0x1", "float33",   "float3x3x3",
        "floatx3", "Float",   "vector4",  "Texture2", "texture2D", "BufferPointer",
        "int8_t",  "floa",    "float4 "}) {
    EXPECT_FALSE(FindInbuiltType(text)) << text;
  }
}

TEST(InbuiltTypes, Arguments_AreThoseOfTheTable) {
  EXPECT_EQ(InbuiltNameArguments(InbuiltName::kFloat), TypeArguments::kNone);
  EXPECT_EQ(InbuiltNameArguments(InbuiltName::kVector), TypeArguments::kShape);
  EXPECT_EQ(InbuiltNameArguments(InbuiltName::kTexture2DMS), TypeArguments::kOneOrTwo);
  EXPECT_EQ(InbuiltNameArguments(InbuiltName::kStructuredBuffer), TypeArguments::kOne);
}

}  // namespace
}  // namespace kiln::hlsl::syntax
