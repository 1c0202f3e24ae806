// SPDX-License-Identifier: MIT
// The formats that the graph knows, with what memory and barriers need to know of them: bytes of a
// texel or block, edge of a block, aspects. A format without a row cannot be declared. Two rows may
// have one format: the first gives the name that is printed, both are read.
#include "runtime/graph/formats.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "compiler/base/text/closest_name.h"

namespace kiln::graph {
namespace {

struct Row {
  std::string_view name;
  std::string_view vulkan;  // without VK_FORMAT_
  VkFormat format;
  FormatInfo info;
};
// The first name of a format is the one that is printed.
constexpr std::array kRows = {
    Row{"R8", "R8_UNORM", VK_FORMAT_R8_UNORM, {1, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R8S", "R8_SNORM", VK_FORMAT_R8_SNORM, {1, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R8UI", "R8_UINT", VK_FORMAT_R8_UINT, {1, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R8I", "R8_SINT", VK_FORMAT_R8_SINT, {1, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R16F", "R16_SFLOAT", VK_FORMAT_R16_SFLOAT, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R16", "R16_UNORM", VK_FORMAT_R16_UNORM, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R16S", "R16_SNORM", VK_FORMAT_R16_SNORM, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R16UI", "R16_UINT", VK_FORMAT_R16_UINT, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R16I", "R16_SINT", VK_FORMAT_R16_SINT, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R32F", "R32_SFLOAT", VK_FORMAT_R32_SFLOAT, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R32UI", "R32_UINT", VK_FORMAT_R32_UINT, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R32I", "R32_SINT", VK_FORMAT_R32_SINT, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R8_SRGB", "R8_SRGB", VK_FORMAT_R8_SRGB, {1, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG8", "R8G8_UNORM", VK_FORMAT_R8G8_UNORM, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG8S", "R8G8_SNORM", VK_FORMAT_R8G8_SNORM, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG8UI", "R8G8_UINT", VK_FORMAT_R8G8_UINT, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG8I", "R8G8_SINT", VK_FORMAT_R8G8_SINT, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG16F", "R16G16_SFLOAT", VK_FORMAT_R16G16_SFLOAT, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG16", "R16G16_UNORM", VK_FORMAT_R16G16_UNORM, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG16S", "R16G16_SNORM", VK_FORMAT_R16G16_SNORM, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG16UI", "R16G16_UINT", VK_FORMAT_R16G16_UINT, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG16I", "R16G16_SINT", VK_FORMAT_R16G16_SINT, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG32F", "R32G32_SFLOAT", VK_FORMAT_R32G32_SFLOAT, {8, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG32UI", "R32G32_UINT", VK_FORMAT_R32G32_UINT, {8, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG32I", "R32G32_SINT", VK_FORMAT_R32G32_SINT, {8, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG8_SRGB", "R8G8_SRGB", VK_FORMAT_R8G8_SRGB, {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB8", "R8G8B8_UNORM", VK_FORMAT_R8G8B8_UNORM, {3, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB8S", "R8G8B8_SNORM", VK_FORMAT_R8G8B8_SNORM, {3, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB8UI", "R8G8B8_UINT", VK_FORMAT_R8G8B8_UINT, {3, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB8I", "R8G8B8_SINT", VK_FORMAT_R8G8B8_SINT, {3, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB16F",
        "R16G16B16_SFLOAT",
        VK_FORMAT_R16G16B16_SFLOAT,
        {6, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB16", "R16G16B16_UNORM", VK_FORMAT_R16G16B16_UNORM, {6, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB16S", "R16G16B16_SNORM", VK_FORMAT_R16G16B16_SNORM, {6, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB16UI", "R16G16B16_UINT", VK_FORMAT_R16G16B16_UINT, {6, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB16I", "R16G16B16_SINT", VK_FORMAT_R16G16B16_SINT, {6, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB32F",
        "R32G32B32_SFLOAT",
        VK_FORMAT_R32G32B32_SFLOAT,
        {12, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB32UI", "R32G32B32_UINT", VK_FORMAT_R32G32B32_UINT, {12, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB32I", "R32G32B32_SINT", VK_FORMAT_R32G32B32_SINT, {12, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA8", "R8G8B8A8_UNORM", VK_FORMAT_R8G8B8A8_UNORM, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA8S", "R8G8B8A8_SNORM", VK_FORMAT_R8G8B8A8_SNORM, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA8UI", "R8G8B8A8_UINT", VK_FORMAT_R8G8B8A8_UINT, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA8I", "R8G8B8A8_SINT", VK_FORMAT_R8G8B8A8_SINT, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA16F",
        "R16G16B16A16_SFLOAT",
        VK_FORMAT_R16G16B16A16_SFLOAT,
        {8, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA16",
        "R16G16B16A16_UNORM",
        VK_FORMAT_R16G16B16A16_UNORM,
        {8, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA16S",
        "R16G16B16A16_SNORM",
        VK_FORMAT_R16G16B16A16_SNORM,
        {8, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA16UI",
        "R16G16B16A16_UINT",
        VK_FORMAT_R16G16B16A16_UINT,
        {8, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA16I",
        "R16G16B16A16_SINT",
        VK_FORMAT_R16G16B16A16_SINT,
        {8, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA32F",
        "R32G32B32A32_SFLOAT",
        VK_FORMAT_R32G32B32A32_SFLOAT,
        {16, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA32UI",
        "R32G32B32A32_UINT",
        VK_FORMAT_R32G32B32A32_UINT,
        {16, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA32I",
        "R32G32B32A32_SINT",
        VK_FORMAT_R32G32B32A32_SINT,
        {16, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGBA8_SRGB", "R8G8B8A8_SRGB", VK_FORMAT_R8G8B8A8_SRGB, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BGRA8", "B8G8R8A8_UNORM", VK_FORMAT_B8G8R8A8_UNORM, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BGRA8_SRGB", "B8G8R8A8_SRGB", VK_FORMAT_B8G8R8A8_SRGB, {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB10A2",
        "A2B10G10R10_UNORM_PACK32",
        VK_FORMAT_A2B10G10R10_UNORM_PACK32,
        {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BGR10A2",
        "A2R10G10B10_UNORM_PACK32",
        VK_FORMAT_A2R10G10B10_UNORM_PACK32,
        {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB10A2UI",
        "A2B10G10R10_UINT_PACK32",
        VK_FORMAT_A2B10G10R10_UINT_PACK32,
        {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RG11B10F",
        "B10G11R11_UFLOAT_PACK32",
        VK_FORMAT_B10G11R11_UFLOAT_PACK32,
        {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R11G11B10F",
        "B10G11R11_UFLOAT_PACK32",
        VK_FORMAT_B10G11R11_UFLOAT_PACK32,
        {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"RGB9E5",
        "E5B9G9R9_UFLOAT_PACK32",
        VK_FORMAT_E5B9G9R9_UFLOAT_PACK32,
        {4, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"R5G6B5",
        "R5G6B5_UNORM_PACK16",
        VK_FORMAT_R5G6B5_UNORM_PACK16,
        {2, 1, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"D16", "D16_UNORM", VK_FORMAT_D16_UNORM, {2, 1, VK_IMAGE_ASPECT_DEPTH_BIT}},
    Row{"D32", "D32_SFLOAT", VK_FORMAT_D32_SFLOAT, {4, 1, VK_IMAGE_ASPECT_DEPTH_BIT}},
    Row{"D32F", "D32_SFLOAT", VK_FORMAT_D32_SFLOAT, {4, 1, VK_IMAGE_ASPECT_DEPTH_BIT}},
    Row{"D24",
        "X8_D24_UNORM_PACK32",
        VK_FORMAT_X8_D24_UNORM_PACK32,
        {4, 1, VK_IMAGE_ASPECT_DEPTH_BIT}},
    Row{"S8", "S8_UINT", VK_FORMAT_S8_UINT, {1, 1, VK_IMAGE_ASPECT_STENCIL_BIT}},
    Row{"D24S8",
        "D24_UNORM_S8_UINT",
        VK_FORMAT_D24_UNORM_S8_UINT,
        {4, 1, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT}},
    Row{"D32S8",
        "D32_SFLOAT_S8_UINT",
        VK_FORMAT_D32_SFLOAT_S8_UINT,
        {8, 1, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT}},
    Row{"D16S8",
        "D16_UNORM_S8_UINT",
        VK_FORMAT_D16_UNORM_S8_UINT,
        {4, 1, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT}},
    Row{"BC1",
        "BC1_RGBA_UNORM_BLOCK",
        VK_FORMAT_BC1_RGBA_UNORM_BLOCK,
        {8, 4, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BC2", "BC2_UNORM_BLOCK", VK_FORMAT_BC2_UNORM_BLOCK, {16, 4, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BC3", "BC3_UNORM_BLOCK", VK_FORMAT_BC3_UNORM_BLOCK, {16, 4, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BC4", "BC4_UNORM_BLOCK", VK_FORMAT_BC4_UNORM_BLOCK, {8, 4, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BC5", "BC5_UNORM_BLOCK", VK_FORMAT_BC5_UNORM_BLOCK, {16, 4, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BC7", "BC7_UNORM_BLOCK", VK_FORMAT_BC7_UNORM_BLOCK, {16, 4, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BC6H",
        "BC6H_UFLOAT_BLOCK",
        VK_FORMAT_BC6H_UFLOAT_BLOCK,
        {16, 4, VK_IMAGE_ASPECT_COLOR_BIT}},
    Row{"BC7_SRGB", "BC7_SRGB_BLOCK", VK_FORMAT_BC7_SRGB_BLOCK, {16, 4, VK_IMAGE_ASPECT_COLOR_BIT}},
};

// By format: 1 + its row.
// A lookup is asked for at each access of each frame, so it is an index. Rows are entered from the
// last to the first, which leaves the first name of a format.
constexpr auto kIndex = [] {
  // One byte for each format of the core: a row number plus one, zero for formats that are not
  // here.
  std::array<uint8_t, VK_FORMAT_ASTC_12x12_SRGB_BLOCK + 1> index{};
  for (size_t i = kRows.size(); i-- > 0;) {
    index[static_cast<size_t>(kRows[i].format)] = static_cast<uint8_t>(i + 1);
  }
  return index;
}();

// Null for a format without a row, and also for those of extensions, whose numbers lie far above
// the table.
const Row* Find(VkFormat format) {
  const auto value = static_cast<size_t>(format);
  return value < kIndex.size() && kIndex[value] != 0 ? &kRows[kIndex[value] - 1] : nullptr;
}

// Bytes of all levels of one layer. A function of its own, since most textures have one level.
[[gnu::noinline]] uint64_t LevelBytes(const TextureDesc& desc, const FormatInfo& info) {
  uint64_t bytes = 0;
  // A level is never smaller than one texel, in any direction.
  const auto level = [](uint32_t edge, uint32_t mip) { return std::max(edge >> mip, 1U); };
  for (uint32_t mip = 0; mip < desc.mips; ++mip) {
    // Compressed formats are counted in blocks, of which the last one may be half empty.
    const uint64_t columns = (level(desc.size.width, mip) + info.block - 1) / info.block;
    const uint64_t rows = (level(desc.size.height, mip) + info.block - 1) / info.block;
    bytes += columns * rows * level(desc.size.depth, mip) * info.bytes;
  }
  return bytes;
}

}  // namespace

// No aspects: the format is not known.
VkImageAspectFlags AspectsOfFormat(VkFormat format) {
  const Row* row = Find(format);
  return row == nullptr ? 0 : row->info.aspects;
}

std::optional<FormatInfo> InfoOf(VkFormat format) {
  const Row* row = Find(format);
  return row == nullptr ? std::nullopt : std::optional(row->info);
}

// Linear, because texts are parsed in files and tests, not in frames.
std::optional<VkFormat> ParseFormat(std::string_view text) {
  constexpr std::string_view kPrefix = "VK_FORMAT_";
  const bool prefixed = text.starts_with(kPrefix);
  if (prefixed) {
    text.remove_prefix(kPrefix.size());
  }
  for (const Row& row : kRows) {
    // With the prefix only the name of Vulkan is meant: `VK_FORMAT_RGBA8` does not exist.
    if (text == row.vulkan || (!prefixed && text == row.name)) {
      return row.format;
    }
  }
  return std::nullopt;
}

std::string_view ClosestFormat(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  // Names of Vulkan are long and would win by their length alone over the short ones, so they are
  // offered only for texts that look like them.
  const bool vulkan = text.find('_') != std::string_view::npos && text.size() > 8;
  const auto same = std::ranges::find(kRows, upper, &Row::name);
  if (same != kRows.end()) {
    return same->name;  // only the case of letters differs
  }
  // The first row wins among equally near ones, so the answer does not depend on anything else.
  ClosestName search(upper);
  std::string_view best;
  std::string_view offered;
  for (const Row& row : kRows) {
    search.Offer(row.name);
    if (vulkan) {
      search.Offer(row.vulkan);
    }
    // The text that was offered last may be a name of Vulkan; the short name of its row is what is
    // suggested.
    if (search.best().data() != offered.data()) {
      offered = search.best();
      best = row.name;
    }
  }
  return best;
}

std::string FormatText(VkFormat format) {
  if (format == VK_FORMAT_UNDEFINED) {
    return "UNDEFINED";
  }
  const Row* row = Find(format);
  return row == nullptr ? fmt::format("{}", static_cast<int>(format)) : std::string(row->name);
}

// The names say it: "UI" and "I" end the names of integer formats and of no others.
bool IsIntegerFormat(VkFormat format) {
  const Row* row = Find(format);
  return row != nullptr && (row->name.ends_with("UI") || row->name.ends_with('I'));
}

uint64_t TexelBytes(const TextureDesc& desc) {
  const Row* row = Find(desc.format);
  if (row == nullptr) {
    return 0;
  }
  // The usual case in one product: one level, no blocks.
  if (desc.mips != 1 || row->info.block != 1) {
    return LevelBytes(desc, row->info) * desc.layers * desc.samples;
  }
  return uint64_t{desc.size.width} * desc.size.height * desc.size.depth * row->info.bytes *
         desc.layers * desc.samples;
}

// The count includes level zero; a texture of one texel has one level.
uint32_t FullMips(VkExtent3D size) {
  // The largest edge is halved until it is one.
  return static_cast<uint32_t>(std::bit_width(std::max({size.width, size.height, size.depth, 1U})));
}

}  // namespace kiln::graph
