// SPDX-License-Identifier: MIT
#include "examples/demo/engine/values.h"

#include <gtest/gtest.h>

namespace kiln::demo {
namespace {

using artifact::Buffer;
using artifact::ParameterType;

Buffer Lamps() {
  return {.name = "lamps",
          .type = artifact::BufferType::kReadOnlyStorage,
          .main_size = 48,
          .tail_item_size = 16,
          .main_parameters = {{.name = "count", .type = ParameterType::kU4, .tags = {"lamp_count"}},
                              {.name = "haze.color",
                               .type = ParameterType::kF4,
                               .offset = 16,
                               .total_item_count = 2,
                               .dimensions = {2},
                               .array_stride = 16}},
          .tail_offset = 48,
          .tail_field = "pose",
          .tail_type = "f4"};
}

ValueTable Values() {
  ValueTable values;
  values.SetUints("lamp_count", {3, 0, 0, 0});
  values.Set("lamps.haze.color", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  values.Set("lamps.pose", {20, 21, 22, 23, 24, 25, 26, 27});
  return values;
}

TEST(FillBuffer, Values_LandByTagByNameAndInTheTail) {
  const auto bytes = FillBuffer(Lamps(), Values());
  ASSERT_TRUE(bytes.ok()) << ErrorText(bytes.error());
  ASSERT_EQ(bytes->size(), 80U);
  EXPECT_EQ(ReadLittle<uint32_t>(*bytes, 0), 3U);
  EXPECT_EQ(ReadLittle<float>(*bytes, 16), 1);
  EXPECT_EQ(ReadLittle<float>(*bytes, 44), 8);  // the third item has no place
  EXPECT_EQ(ReadLittle<float>(*bytes, 48), 20);
  EXPECT_EQ(ReadLittle<float>(*bytes, 76), 27);
}

TEST(FillBuffer, MissingOrOddValue_IsNamed) {
  const auto error = [](const ValueTable& values) {
    return FillBuffer(Lamps(), values).error().context;
  };
  EXPECT_EQ(error({}), "no value is given for 'lamps.count'");
  ValueTable values = Values();
  values.Set("lamps.haze.color", {1, 2, 3});
  EXPECT_EQ(error(values), "the value of 'haze.color' has 12 bytes, items have 16");
  ValueTable no_tail;
  no_tail.SetUints("lamp_count", {3, 0, 0, 0});
  no_tail.Set("lamps.haze.color", {1, 2, 3, 4});
  EXPECT_EQ(error(no_tail), "no value is given for 'lamps.pose'");
}

TEST(ValueTable, AddMissing_KeepsWhatIsThere) {
  ValueTable values;
  values.Set("a", {1});
  ValueTable other;
  other.Set("a", {2});
  other.Set("b", {3});
  values.AddMissing(other);
  EXPECT_EQ(ReadLittle<float>(*values.Find("a")), 1);
  EXPECT_EQ(ReadLittle<float>(*values.Find("b")), 3);
  EXPECT_EQ(values.Find("c"), nullptr);
}

}  // namespace
}  // namespace kiln::demo
