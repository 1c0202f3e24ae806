// SPDX-License-Identifier: MIT
#include "runtime/pipeline/formats.h"

#include <cctype>
#include <string>

#include <gtest/gtest.h>

namespace kiln::runtime {
namespace {

using artifact::ItemFormat;
using artifact::OutputItem;

// "snorm16" and 3 give "VK_FORMAT_R16G16B16_SNORM".
std::string ExpectedName(ItemFormat item, uint32_t components) {
  std::string kind(NameOf(item));
  const size_t digits = kind.find_first_of("0123456789");
  const std::string bits = kind.substr(digits);
  kind.resize(digits);
  if (kind == "float") {
    kind = "sfloat";
  }
  std::string name = "VK_FORMAT_";
  for (uint32_t i = 0; i < components; ++i) {
    name += "RGBA"[i] + bits;
  }
  name += '_';
  for (const char c : kind) {
    name += static_cast<char>(std::toupper(c));
  }
  return name;
}

TEST(VertexFormat, EveryItemAndCount_IsTheItemRepeated) {
  for (size_t i = 0; i < artifact::NamesOf<ItemFormat>().size(); ++i) {
    const auto item = static_cast<ItemFormat>(i);
    for (uint32_t components = 1; components <= 4; ++components) {
      EXPECT_EQ(FormatName(VertexFormat(item, components)), ExpectedName(item, components));
    }
  }
}

TEST(VertexFormat, NamesOfThePrinter_AreVulkans) {
  EXPECT_EQ(FormatName(VK_FORMAT_R8G8B8A8_SRGB), "VK_FORMAT_R8G8B8A8_SRGB");
  EXPECT_EQ(FormatName(VK_FORMAT_R16G16_SFLOAT), "VK_FORMAT_R16G16_SFLOAT");
  EXPECT_EQ(FormatName(VK_FORMAT_R32_SINT), "VK_FORMAT_R32_SINT");
  EXPECT_EQ(FormatName(VK_FORMAT_A2B10G10R10_UINT_PACK32), "VK_FORMAT_A2B10G10R10_UINT_PACK32");
  EXPECT_EQ(FormatName(VK_FORMAT_ASTC_4x4_SRGB_BLOCK), "VkFormat 158");
}

TEST(FormatNamed, WordsOfManifests_AreVulkans) {
  struct Row {
    const char* word;
    VkFormat format;
  };
  for (const Row& row : {Row{"rgba16_float", VK_FORMAT_R16G16B16A16_SFLOAT},
                         {"rgba8_unorm", VK_FORMAT_R8G8B8A8_UNORM},
                         {"rgba8_srgb", VK_FORMAT_R8G8B8A8_SRGB},
                         {"bgra8_srgb", VK_FORMAT_B8G8R8A8_SRGB},
                         {"r8_unorm", VK_FORMAT_R8_UNORM},
                         {"rg16_snorm", VK_FORMAT_R16G16_SNORM},
                         {"r32_uint", VK_FORMAT_R32_UINT},
                         {"rgba32_sint", VK_FORMAT_R32G32B32A32_SINT},
                         {"a2b10g10r10_unorm", VK_FORMAT_A2B10G10R10_UNORM_PACK32},
                         {"b10g11r11_ufloat", VK_FORMAT_B10G11R11_UFLOAT_PACK32},
                         {"r5g6b5_unorm", VK_FORMAT_R5G6B5_UNORM_PACK16},
                         {"d16_unorm", VK_FORMAT_D16_UNORM},
                         {"d32_float", VK_FORMAT_D32_SFLOAT},
                         {"s8_uint", VK_FORMAT_S8_UINT},
                         {"d24_unorm_s8_uint", VK_FORMAT_D24_UNORM_S8_UINT},
                         {"d32_float_s8_uint", VK_FORMAT_D32_SFLOAT_S8_UINT}}) {
    EXPECT_EQ(FormatNamed(row.word), row.format) << row.word;
    EXPECT_EQ(FormatWord(row.format), row.word);
  }
  for (const char* const word : {"", "rgba16", "RGBA8_UNORM", "rgba8_uscaled", "rgba8_unorm ",
                                 "r8g8b8a8_unorm", "d32_sfloat", "swapchain", "rgba64_float"}) {
    EXPECT_EQ(FormatNamed(word), VK_FORMAT_UNDEFINED) << word;
  }
  EXPECT_EQ(FormatWord(VK_FORMAT_ASTC_4x4_SRGB_BLOCK), "");
}

TEST(DescribeColorFormat, SaysWhatAnAttachmentHolds) {
  struct Row {
    VkFormat format;
    OutputItem item;
    uint32_t components;
  };
  for (const Row& row : {Row{VK_FORMAT_R8G8B8A8_UNORM, OutputItem::kFloat, 4},
                         {VK_FORMAT_B8G8R8A8_SRGB, OutputItem::kFloat, 4},
                         {VK_FORMAT_R16_SFLOAT, OutputItem::kFloat, 1},
                         {VK_FORMAT_B10G11R11_UFLOAT_PACK32, OutputItem::kFloat, 3},
                         {VK_FORMAT_R32G32_UINT, OutputItem::kUint, 2},
                         {VK_FORMAT_R16G16B16A16_SINT, OutputItem::kSint, 4}}) {
    const auto found = DescribeColorFormat(row.format);
    ASSERT_TRUE(found.has_value()) << FormatName(row.format);
    EXPECT_EQ(found->item, row.item) << FormatName(row.format);
    EXPECT_EQ(found->components, row.components) << FormatName(row.format);
  }
  EXPECT_FALSE(DescribeColorFormat(VK_FORMAT_UNDEFINED).has_value());
  EXPECT_FALSE(DescribeColorFormat(VK_FORMAT_D32_SFLOAT).has_value());
  EXPECT_FALSE(DescribeColorFormat(VK_FORMAT_R8_USCALED).has_value());
}

}  // namespace
}  // namespace kiln::runtime
