// SPDX-License-Identifier: MIT
// Formats of Vulkan as words of manifests ("rgba16_float"), as names for messages, and by what a
// shader can write to them or read from them. Everything is derived from a table of families.
#include "runtime/pipeline/formats.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::runtime {
namespace {

using artifact::ItemFormat;
using artifact::OutputItem;

// Formats of one shape lie side by side in VkFormat, one per numeric kind, in this order. The
// suffixes of a family are in the order of the specification; a family may end early and never has
// a gap.
struct Family {
  VkFormat first;
  uint32_t components;
  std::string_view prefix;
  std::string_view suffixes;  // blank-separated, in order of VkFormat
};

constexpr std::string_view k8Bit = "UNORM SNORM USCALED SSCALED UINT SINT SRGB";
constexpr std::string_view k10Bit =
    "UNORM_PACK32 SNORM_PACK32 USCALED_PACK32 SSCALED_PACK32 "
    "UINT_PACK32 SINT_PACK32";
constexpr std::string_view k16Bit = "UNORM SNORM USCALED SSCALED UINT SINT SFLOAT";
constexpr std::string_view k32Bit = "UINT SINT SFLOAT";

// The numbers of VkFormat are fixed by the specification, so a format of a family is its first one
// plus the position of the suffix. Formats outside of this order, such as compressed ones, are no
// targets and are not listed.
constexpr auto kFamilies = std::to_array<Family>({
    {VK_FORMAT_R5G6B5_UNORM_PACK16, 3, "R5G6B5", "UNORM_PACK16"},
    {VK_FORMAT_A1R5G5B5_UNORM_PACK16, 4, "A1R5G5B5", "UNORM_PACK16"},
    {VK_FORMAT_R8_UNORM, 1, "R8", k8Bit},
    {VK_FORMAT_R8G8_UNORM, 2, "R8G8", k8Bit},
    {VK_FORMAT_R8G8B8_UNORM, 3, "R8G8B8", k8Bit},
    {VK_FORMAT_R8G8B8A8_UNORM, 4, "R8G8B8A8", k8Bit},
    {VK_FORMAT_B8G8R8A8_UNORM, 4, "B8G8R8A8", k8Bit},
    {VK_FORMAT_A2R10G10B10_UNORM_PACK32, 4, "A2R10G10B10", k10Bit},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4, "A2B10G10R10", k10Bit},
    {VK_FORMAT_R16_UNORM, 1, "R16", k16Bit},
    {VK_FORMAT_R16G16_UNORM, 2, "R16G16", k16Bit},
    {VK_FORMAT_R16G16B16_UNORM, 3, "R16G16B16", k16Bit},
    {VK_FORMAT_R16G16B16A16_UNORM, 4, "R16G16B16A16", k16Bit},
    {VK_FORMAT_R32_UINT, 1, "R32", k32Bit},
    {VK_FORMAT_R32G32_UINT, 2, "R32G32", k32Bit},
    {VK_FORMAT_R32G32B32_UINT, 3, "R32G32B32", k32Bit},
    {VK_FORMAT_R32G32B32A32_UINT, 4, "R32G32B32A32", k32Bit},
    {VK_FORMAT_B10G11R11_UFLOAT_PACK32, 3, "B10G11R11", "UFLOAT_PACK32"},
});

struct FormatMatch {
  const Family* family;
  std::string_view suffix;
};

// A linear search over about a hundred formats: it is asked for when pipelines are made or messages
// printed, and never for each draw.
std::optional<FormatMatch> Find(VkFormat format) {
  // The position of a suffix and the number of the format go up in step.
  for (const Family& family : kFamilies) {
    std::string_view rest = family.suffixes;
    for (int kind = family.first; !rest.empty(); ++kind) {
      const std::string_view suffix = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), suffix.size() + 1));
      if (kind == format) {
        return FormatMatch{&family, suffix};
      }
    }
  }
  return std::nullopt;
}

// Formats for depth and stencil have a table of their own, as their words say two things.
struct DepthRow {
  std::string_view word;
  VkFormat format;
};
constexpr auto kDepthFormats = std::to_array<DepthRow>({
    {"d16_unorm", VK_FORMAT_D16_UNORM},
    {"d32_float", VK_FORMAT_D32_SFLOAT},
    {"s8_uint", VK_FORMAT_S8_UINT},
    {"d16_unorm_s8_uint", VK_FORMAT_D16_UNORM_S8_UINT},
    {"d24_unorm_s8_uint", VK_FORMAT_D24_UNORM_S8_UINT},
    {"d32_float_s8_uint", VK_FORMAT_D32_SFLOAT_S8_UINT},
});

// "R16G16B16A16", "SFLOAT" -> "rgba16_float"; components of several widths keep theirs.
std::string WordOf(const Family& family, std::string_view suffix) {
  std::string letters, all, width;
  bool same = true;
  // A prefix is letters with their bits. If all components are of one width the width is written
  // once (`rgba8`), otherwise with each letter (`b10g11r11`).
  for (size_t i = 0; i < family.prefix.size();) {
    const char letter = static_cast<char>(family.prefix[i] - 'A' + 'a');
    size_t end = ++i;
    while (end < family.prefix.size() && family.prefix[end] >= '0' && family.prefix[end] <= '9') {
      ++end;
    }
    const std::string bits(family.prefix.substr(i, end - i));
    same = same && (width.empty() || width == bits);
    width = bits;
    letters += letter;
    // Both spellings are made on the way, because whether widths agree is known only at the end.
    all += letter + bits;
    i = end;
  }
  std::string type(suffix.substr(0, suffix.find('_')));
  std::ranges::transform(type, type.begin(),
                         [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  return (same ? letters + width : all) + "_" + (type == "sfloat" ? "float" : type);
}

// Position of the item format among the kinds of a family of its width. Columns: the item format,
// and the format of Vulkan with one to four components of it.
struct ItemRow {
  ItemFormat item;
  std::array<VkFormat, 4> by_components;
};

// NOLINTBEGIN(bugprone-macro-parentheses)
#define KILN_8_OR_16(bits, KIND)                                     \
  {                                                                  \
    VK_FORMAT_R##bits##_##KIND, VK_FORMAT_R##bits##G##bits##_##KIND, \
        VK_FORMAT_R##bits##G##bits##B##bits##_##KIND,                \
        VK_FORMAT_R##bits##G##bits##B##bits##A##bits##_##KIND        \
  }
// NOLINTEND(bugprone-macro-parentheses)

constexpr auto kItems = std::to_array<ItemRow>({
    {ItemFormat::kFloat16, KILN_8_OR_16(16, SFLOAT)},
    {ItemFormat::kFloat32, KILN_8_OR_16(32, SFLOAT)},
    {ItemFormat::kUnorm8, KILN_8_OR_16(8, UNORM)},
    {ItemFormat::kUnorm16, KILN_8_OR_16(16, UNORM)},
    {ItemFormat::kSnorm8, KILN_8_OR_16(8, SNORM)},
    {ItemFormat::kSnorm16, KILN_8_OR_16(16, SNORM)},
    {ItemFormat::kUint8, KILN_8_OR_16(8, UINT)},
    {ItemFormat::kUint16, KILN_8_OR_16(16, UINT)},
    {ItemFormat::kUint32, KILN_8_OR_16(32, UINT)},
    {ItemFormat::kSint8, KILN_8_OR_16(8, SINT)},
    {ItemFormat::kSint16, KILN_8_OR_16(16, SINT)},
    {ItemFormat::kSint32, KILN_8_OR_16(32, SINT)},
});

#undef KILN_8_OR_16

}  // namespace

VkFormat VertexFormat(ItemFormat item, uint32_t components) {
  KILN_CHECK(components >= 1 && components <= 4, "components {}", components);
  // The rows have the order of the enumeration, which the check below makes sure of.
  const ItemRow& row = kItems[static_cast<size_t>(item)];
  KILN_CHECK(row.item == item, "item {}", item);
  return row.by_components[components - 1];
}

// Many devices have no vertex formats of three small components. Four are read instead if they end
// within the element; the shader ignores the fourth, whatever lies there.
std::optional<VkFormat> DeviceVertexFormat(ItemFormat item, uint32_t components, uint32_t offset,
                                           uint32_t stride, const DeviceCaps& caps) {
  const auto usable = [&](VkFormat format) {
    return (caps.Format(format).bufferFeatures & VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT) != 0;
  };
  const VkFormat exact = VertexFormat(item, components);
  if (usable(exact)) {
    return exact;
  }
  if (components == 3) {
    const VkFormat wider = VertexFormat(item, 4);
    // The read must not go beyond the element: the last one may end with the buffer.
    const uint64_t end = uint64_t{offset} + uint64_t{4} * artifact::ItemSize(item);
    if (end <= stride && usable(wider)) {
      return wider;
    }
  }
  return std::nullopt;
}

// Scaled formats are for vertices; as color targets they have no kind of number that an output
// could be compared with. Nothing as well for formats that this table does not have, such as
// compressed ones.
std::optional<ColorFormat> DescribeColorFormat(VkFormat format) {
  const std::optional<FormatMatch> found = Find(format);
  if (!found || found->suffix.starts_with("USCALED") || found->suffix.starts_with("SSCALED")) {
    return std::nullopt;
  }
  OutputItem item = OutputItem::kFloat;
  if (found->suffix.starts_with("UINT")) {
    item = OutputItem::kUint;
  } else if (found->suffix.starts_with("SINT")) {
    item = OutputItem::kSint;
  }
  return ColorFormat{item, found->family->components};
}

// The formats that metadata can name for storage images; the word of any other, and `unknown`, is
// no format. A test holds them to the formats of the IR.
VkFormat StorageFormat(std::string_view name) {
  struct Row {
    std::string_view name;
    VkFormat format;
  };
  static constexpr auto kRows = std::to_array<Row>({
      {"rgba32_float", VK_FORMAT_R32G32B32A32_SFLOAT},
      {"rgba16_float", VK_FORMAT_R16G16B16A16_SFLOAT},
      {"r32_float", VK_FORMAT_R32_SFLOAT},
      {"rgba8_unorm", VK_FORMAT_R8G8B8A8_UNORM},
      {"rgba8_snorm", VK_FORMAT_R8G8B8A8_SNORM},
      {"rgba32_sint", VK_FORMAT_R32G32B32A32_SINT},
      {"rgba16_sint", VK_FORMAT_R16G16B16A16_SINT},
      {"rgba8_sint", VK_FORMAT_R8G8B8A8_SINT},
      {"r32_sint", VK_FORMAT_R32_SINT},
      {"rgba32_uint", VK_FORMAT_R32G32B32A32_UINT},
      {"rgba16_uint", VK_FORMAT_R16G16B16A16_UINT},
      {"rgba8_uint", VK_FORMAT_R8G8B8A8_UINT},
      {"r32_uint", VK_FORMAT_R32_UINT},
      {"rg32_float", VK_FORMAT_R32G32_SFLOAT},
      {"rg16_float", VK_FORMAT_R16G16_SFLOAT},
      {"r11g11b10_float", VK_FORMAT_B10G11R11_UFLOAT_PACK32},
      {"r16_float", VK_FORMAT_R16_SFLOAT},
      {"rgba16_unorm", VK_FORMAT_R16G16B16A16_UNORM},
      {"rgb10a2_unorm", VK_FORMAT_A2B10G10R10_UNORM_PACK32},
      {"rg16_unorm", VK_FORMAT_R16G16_UNORM},
      {"rg8_unorm", VK_FORMAT_R8G8_UNORM},
      {"r16_unorm", VK_FORMAT_R16_UNORM},
      {"r8_unorm", VK_FORMAT_R8_UNORM},
      {"rgba16_snorm", VK_FORMAT_R16G16B16A16_SNORM},
      {"rg16_snorm", VK_FORMAT_R16G16_SNORM},
      {"rg8_snorm", VK_FORMAT_R8G8_SNORM},
      {"r16_snorm", VK_FORMAT_R16_SNORM},
      {"r8_snorm", VK_FORMAT_R8_SNORM},
      {"rg32_sint", VK_FORMAT_R32G32_SINT},
      {"rg16_sint", VK_FORMAT_R16G16_SINT},
      {"rg8_sint", VK_FORMAT_R8G8_SINT},
      {"r16_sint", VK_FORMAT_R16_SINT},
      {"r8_sint", VK_FORMAT_R8_SINT},
      {"rgb10a2_uint", VK_FORMAT_A2B10G10R10_UINT_PACK32},
      {"rg32_uint", VK_FORMAT_R32G32_UINT},
      {"rg16_uint", VK_FORMAT_R16G16_UINT},
      {"rg8_uint", VK_FORMAT_R8G8_UINT},
      {"r16_uint", VK_FORMAT_R16_UINT},
      {"r8_uint", VK_FORMAT_R8_UINT},
      {"r64_sint", VK_FORMAT_R64_SINT},
      {"r64_uint", VK_FORMAT_R64_UINT},
  });
  const auto row = std::ranges::find(kRows, name, &Row::name);
  return row == kRows.end() ? VK_FORMAT_UNDEFINED : row->format;
}

// The word of each format is made and compared, rather than taking the word apart: so this function
// and FormatWord cannot disagree.
VkFormat FormatNamed(std::string_view word) {
  for (const DepthRow& row : kDepthFormats) {
    if (row.word == word) {
      return row.format;
    }
  }
  for (const Family& family : kFamilies) {
    std::string_view rest = family.suffixes;
    for (int kind = family.first; !rest.empty(); ++kind) {
      const std::string_view suffix = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), suffix.size() + 1));
      const auto format = static_cast<VkFormat>(kind);
      // Formats for vertices only are passed over, since no pass could name them.
      if (DescribeColorFormat(format) && WordOf(family, suffix) == word) {
        return format;
      }
    }
  }
  return VK_FORMAT_UNDEFINED;
}

std::string FormatWord(VkFormat format) {
  for (const DepthRow& row : kDepthFormats) {
    if (row.format == format) {
      return std::string(row.word);
    }
  }
  const std::optional<FormatMatch> found = Find(format);
  return found && DescribeColorFormat(format) ? WordOf(*found->family, found->suffix) : "";
}

// Names for people. A format that has no name here is told by its number.
std::string FormatName(VkFormat format) {
  if (const std::optional<FormatMatch> found = Find(format)) {
    return fmt::format("VK_FORMAT_{}_{}", found->family->prefix, found->suffix);
  }
  switch (static_cast<int>(format)) {
    case VK_FORMAT_UNDEFINED:
      return "VK_FORMAT_UNDEFINED";
    case VK_FORMAT_D16_UNORM:
      return "VK_FORMAT_D16_UNORM";
    case VK_FORMAT_D32_SFLOAT:
      return "VK_FORMAT_D32_SFLOAT";
    case VK_FORMAT_S8_UINT:
      return "VK_FORMAT_S8_UINT";
    case VK_FORMAT_D24_UNORM_S8_UINT:
      return "VK_FORMAT_D24_UNORM_S8_UINT";
    case VK_FORMAT_D32_SFLOAT_S8_UINT:
      return "VK_FORMAT_D32_SFLOAT_S8_UINT";
    default:
      return fmt::format("VkFormat {}", static_cast<int>(format));
  }
}

}  // namespace kiln::runtime
