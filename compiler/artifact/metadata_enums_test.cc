// SPDX-License-Identifier: MIT
#include "compiler/artifact/metadata_enums.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace kiln::artifact {
namespace {

template <class E>
void ExpectRoundTrip() {
  std::set<std::string_view> seen;
  for (const std::string_view name : NamesOf<E>()) {
    EXPECT_TRUE(seen.insert(name).second) << name << " is listed twice";
    const std::optional<E> value = FromName<E>(name);
    ASSERT_TRUE(value.has_value()) << name;
    EXPECT_EQ(NameOf(*value), name);
  }
  EXPECT_EQ(FromName<E>(""), std::nullopt);
  EXPECT_EQ(FromName<E>("unheard_of"), std::nullopt);
}

TEST(MetadataEnums, EveryName_IsUniqueAndRoundTrips) {
  ExpectRoundTrip<PipelineType>();
  ExpectRoundTrip<Stage>();
  ExpectRoundTrip<PolygonMode>();
  ExpectRoundTrip<CullMode>();
  ExpectRoundTrip<CompareOperation>();
  ExpectRoundTrip<StencilOperation>();
  ExpectRoundTrip<BlendFactor>();
  ExpectRoundTrip<BlendOperation>();
  ExpectRoundTrip<OutputItem>();
  ExpectRoundTrip<InputRate>();
  ExpectRoundTrip<AttributeClass>();
  ExpectRoundTrip<ItemFormat>();
  ExpectRoundTrip<ParameterType>();
  ExpectRoundTrip<BufferType>();
  ExpectRoundTrip<ImageType>();
  ExpectRoundTrip<Topology>();
  ExpectRoundTrip<FrontFace>();
  ExpectRoundTrip<ViewportY>();
  ExpectRoundTrip<DynamicState>();
  ExpectRoundTrip<OptionType>();
}

TEST(MetadataEnums, Spellings_BelongToTheirEnumerator) {
  EXPECT_EQ(NameOf(CompareOperation::kLessOrEqual), "less_or_equal");
  EXPECT_EQ(NameOf(StencilOperation::kInvert), "invert");
  EXPECT_EQ(NameOf(BlendFactor::kOneMinusDestinationAlpha), "one_minus_destination_alpha");
  EXPECT_EQ(NameOf(BlendOperation::kReverseSubtract), "reverse_subtract");
  EXPECT_EQ(NameOf(ItemFormat::kSnorm16), "snorm16");
  EXPECT_EQ(NameOf(ImageType::kDepthCube), "image_depth_cube");
  EXPECT_EQ(NameOf(ParameterType::kF3x3), "f3x3");
  EXPECT_EQ(NameOf(AttributeClass::kMatrix3x3), "matrix3x3");
}

TEST(MetadataEnums, ShapesAndSizes_FollowTheName) {
  for (size_t i = 0; i < NamesOf<ItemFormat>().size(); ++i) {
    const auto format = static_cast<ItemFormat>(i);
    const std::string_view name = NameOf(format);
    const uint32_t bits = name.ends_with("32") ? 32 : name.ends_with("16") ? 16 : 8;
    EXPECT_EQ(ItemSize(format) * 8, bits) << name;
  }
  for (size_t i = 0; i < NamesOf<ParameterType>().size(); ++i) {
    const auto type = static_cast<ParameterType>(i);
    const std::string_view name = NameOf(type);
    const bool matrix = name.size() == 4;  // columns x rows
    EXPECT_EQ(ShapeOf(type).rows, static_cast<uint32_t>(name[matrix ? 3 : 1] - '0')) << name;
    EXPECT_EQ(ShapeOf(type).columns, matrix ? static_cast<uint32_t>(name[1] - '0') : 1U) << name;
  }
  EXPECT_EQ(ShapeOf(AttributeClass::kVector3).rows, 3U);
  EXPECT_EQ(ShapeOf(AttributeClass::kMatrix4x4).columns, 4U);
}

}  // namespace
}  // namespace kiln::artifact
