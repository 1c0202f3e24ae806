// SPDX-License-Identifier: MIT
#include "tests/support/texels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>

#include "compiler/base/bytes.h"
#include "compiler/base/check.h"
#include "compiler/resolve/values/half.h"
#include "tests/support/interpreter_cells.h"

namespace kiln::oracle {
namespace {

using ir::ImageFormat;

enum class Item : uint8_t { kFloat32, kFloat16, kUnorm8, kSnorm8, kSigned, kUnsigned };
struct Row {
  ImageFormat format;
  VkFormat vulkan;
  Item item;
  size_t components;
  size_t bytes;  // of a component
};
constexpr Row kRows[] = {
    {ImageFormat::kRgba32Float, VK_FORMAT_R32G32B32A32_SFLOAT, Item::kFloat32, 4, 4},
    {ImageFormat::kRgba16Float, VK_FORMAT_R16G16B16A16_SFLOAT, Item::kFloat16, 4, 2},
    {ImageFormat::kR32Float, VK_FORMAT_R32_SFLOAT, Item::kFloat32, 1, 4},
    {ImageFormat::kRgba8Unorm, VK_FORMAT_R8G8B8A8_UNORM, Item::kUnorm8, 4, 1},
    {ImageFormat::kRgba8Snorm, VK_FORMAT_R8G8B8A8_SNORM, Item::kSnorm8, 4, 1},
    {ImageFormat::kRgba32Sint, VK_FORMAT_R32G32B32A32_SINT, Item::kSigned, 4, 4},
    {ImageFormat::kRgba16Sint, VK_FORMAT_R16G16B16A16_SINT, Item::kSigned, 4, 2},
    {ImageFormat::kRgba8Sint, VK_FORMAT_R8G8B8A8_SINT, Item::kSigned, 4, 1},
    {ImageFormat::kR32Sint, VK_FORMAT_R32_SINT, Item::kSigned, 1, 4},
    {ImageFormat::kRgba32Uint, VK_FORMAT_R32G32B32A32_UINT, Item::kUnsigned, 4, 4},
    {ImageFormat::kRgba16Uint, VK_FORMAT_R16G16B16A16_UINT, Item::kUnsigned, 4, 2},
    {ImageFormat::kRgba8Uint, VK_FORMAT_R8G8B8A8_UINT, Item::kUnsigned, 4, 1},
    {ImageFormat::kR32Uint, VK_FORMAT_R32_UINT, Item::kUnsigned, 1, 4},
};

const Row& RowOf(ImageFormat format) {
  const Row* const row = std::ranges::find(kRows, format, &Row::format);
  KILN_CHECK(row != std::end(kRows));
  return *row;
}

uint32_t Encoded(Item item, const Cell& cell) {
  switch (item) {
    case Item::kFloat16:
      return resolve::HalfBits(FloatOf(cell));
    case Item::kUnorm8:
      return static_cast<uint32_t>(std::lround(FloatOf(cell) * 255));
    case Item::kSnorm8:
      return static_cast<uint32_t>(std::lround(FloatOf(cell) * 127));
    case Item::kFloat32:
    case Item::kSigned:
    case Item::kUnsigned:
      return cell.bits;
  }
  KILN_UNREACHABLE();
}

// `word` holds the low bytes of a component.
Cell Decoded(const Row& row, uint32_t word) {
  const auto unused = static_cast<uint32_t>(32 - 8 * row.bytes);
  const int32_t number = static_cast<int32_t>(word << unused) >> unused;
  switch (row.item) {
    case Item::kFloat16:
      return {.bits = std::bit_cast<uint32_t>(FloatOfHalf(word)), .error = 0};
    case Item::kUnorm8:
      return Near(word / 255.0, 2);
    case Item::kSnorm8:
      return Near(std::max(number / 127.0, -1.0), 2);
    case Item::kSigned:
      return {.bits = static_cast<uint32_t>(number), .error = 0};
    case Item::kFloat32:
    case Item::kUnsigned:
      return {.bits = word, .error = 0};
  }
  KILN_UNREACHABLE();
}

}  // namespace

VkFormat FormatOf(ImageFormat format) { return RowOf(format).vulkan; }

bool HoldsFloats(ImageFormat format) {
  const Item item = RowOf(format).item;
  return item != Item::kSigned && item != Item::kUnsigned;
}

std::vector<std::byte> EncodeTexels(const StorageImage& image) {
  const Row& row = RowOf(image.format);
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < image.texels.size(); ++i) {
    if (i % 4 < row.components) {
      const uint32_t word = Encoded(row.item, image.texels[i]);
      for (size_t part = 0; part < row.bytes; ++part) {
        bytes.push_back(static_cast<std::byte>(word >> (8 * part)));
      }
    }
  }
  return bytes;
}

Value DecodeTexels(ImageFormat format, std::span<const std::byte> bytes) {
  const Row& row = RowOf(format);
  const uint32_t one =
      row.item == Item::kSigned || row.item == Item::kUnsigned ? 1 : std::bit_cast<uint32_t>(1.0F);
  Value value;
  for (size_t at = 0; at < bytes.size();) {
    Value texel = {{0, 0}, {0, 0}, {0, 0}, {one, 0}};
    for (size_t i = 0; i < row.components; ++i) {
      uint32_t word = 0;
      for (size_t part = 0; part < row.bytes; ++part) {
        word |= static_cast<uint32_t>(bytes[at++]) << (8 * part);
      }
      texel[i] = Decoded(row, word);
    }
    value.insert(value.end(), texel.begin(), texel.end());
  }
  return value;
}

}  // namespace kiln::oracle
