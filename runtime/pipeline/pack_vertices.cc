// SPDX-License-Identifier: MIT
#include "runtime/pipeline/pack_vertices.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::runtime {
namespace {

using artifact::Attribute;
using artifact::ItemFormat;

enum class Feed : uint8_t { kFloat, kUint, kSint };  // index of AttributeData::values

Feed FeedOf(ItemFormat format) {
  switch (format) {
    case ItemFormat::kFloat16:
    case ItemFormat::kFloat32:
    case ItemFormat::kUnorm8:
    case ItemFormat::kUnorm16:
    case ItemFormat::kSnorm8:
    case ItemFormat::kSnorm16:
      return Feed::kFloat;
    case ItemFormat::kUint8:
    case ItemFormat::kUint16:
    case ItemFormat::kUint32:
      return Feed::kUint;
    case ItemFormat::kSint8:
    case ItemFormat::kSint16:
    case ItemFormat::kSint32:
      return Feed::kSint;
  }
  KILN_UNREACHABLE();
}

// Clamped to [least, 1] (not a number: 0), times the largest integer, to nearest.
int32_t Normalised(float value, float least, float largest) {
  const float clamped = std::isnan(value) ? 0.0F : std::clamp(value, least, 1.0F);
  return static_cast<int32_t>(std::lrintf(clamped * largest));
}

// The bits of one item, in its low bytes.
// Little-endian machines alone are supported, so the low bytes of the word are the item in memory.
uint32_t ItemBits(ItemFormat format, float value) {
  switch (format) {
    case ItemFormat::kFloat16:
      return HalfFromFloat(value);
    case ItemFormat::kUnorm8:
      return static_cast<uint32_t>(Normalised(value, 0.0F, 255.0F));
    case ItemFormat::kUnorm16:
      return static_cast<uint32_t>(Normalised(value, 0.0F, 65535.0F));
    case ItemFormat::kSnorm8:
      return static_cast<uint32_t>(Normalised(value, -1.0F, 127.0F));
    case ItemFormat::kSnorm16:
      return static_cast<uint32_t>(Normalised(value, -1.0F, 32767.0F));
    case ItemFormat::kFloat32:
    case ItemFormat::kUint8:
    case ItemFormat::kUint16:
    case ItemFormat::kUint32:
    case ItemFormat::kSint8:
    case ItemFormat::kSint16:
    case ItemFormat::kSint32:
      return std::bit_cast<uint32_t>(value);
  }
  KILN_UNREACHABLE();
}
// Integers keep their low bytes.
uint32_t ItemBits(ItemFormat /*format*/, uint32_t value) { return value; }
uint32_t ItemBits(ItemFormat /*format*/, int32_t value) { return static_cast<uint32_t>(value); }

// Data that have fewer components than the attribute are filled with 0, 0, 0, 1, as Vulkan fills
// them; a matrix is filled with zeros.
template <class T>
void PackAttribute(const Attribute& attribute, uint32_t stride, std::span<const T> values,
                   uint32_t per_element, std::span<std::byte> out) {
  const artifact::AttributeShape shape = ShapeOf(attribute.kind);
  const uint32_t size = ItemSize(attribute.item_format);
  // The output was made in whole elements.
  const size_t count = out.size() / stride;
  for (size_t element = 0; element < count; ++element) {
    for (uint32_t i = 0; i < shape.rows * shape.columns; ++i) {
      const T value = i < per_element ? values[element * per_element + i]
                                      : static_cast<T>(shape.columns == 1 && i == 3 ? 1 : 0);
      const uint32_t bits = ItemBits(attribute.item_format, value);
      // The stride of an element is that of the whole block, and columns of a matrix have one of
      // their own.
      const size_t at = element * stride + attribute.offset +
                        size_t{i / shape.rows} * attribute.column_stride +
                        size_t{i % shape.rows} * size;
      std::memcpy(out.data() + at, &bits, size);
    }
  }
}

// Metadata may be damaged and data come from a caller, so all sizes are checked in 64 bits before
// anything is written.
Result<void> CheckAttribute(const artifact::AttributeSource& source, const Attribute& attribute,
                            const AttributeData& data, uint32_t count) {
  const artifact::AttributeShape shape = ShapeOf(attribute.kind);
  const uint64_t end = attribute.offset + uint64_t{shape.columns - 1} * attribute.column_stride +
                       uint64_t{shape.rows} * ItemSize(attribute.item_format);
  if (end > source.block_size) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("attribute '{}' ends at byte {} of {}", attribute.name, end, source.block_size),
        "METADATA_INVALID"};
  }
  if (data.values.index() != static_cast<size_t>(FeedOf(attribute.item_format))) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("data of attribute '{}' are of another kind than {}", attribute.name,
                             NameOf(attribute.item_format)),
                 ""};
  }
  // All alternatives are spans, so the count is asked in the same way of each.
  const size_t have = std::visit([](const auto& values) { return values.size(); }, data.values);
  if (have < size_t{count} * data.components) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("attribute '{}' has {} values, {} elements of {} are needed",
                             attribute.name, have, count, data.components),
                 ""};
  }
  return {};
}

}  // namespace

// Rounds to nearest, ties to even. All NaNs become one quiet NaN, because the payload does not fit.
uint16_t HalfFromFloat(float value) {
  constexpr uint32_t kInfinity = 0x7f80'0000;
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7fff'ffffU;
  if (magnitude > kInfinity) {
    // The highest bit of the mantissa makes a NaN quiet.
    return sign | 0x7e00U;  // not a number
  }
  // From here on the exponent does not fit. Values between the largest half and this limit round by
  // themselves, and reach infinity by the carry below.
  if (magnitude >= 0x4780'0000U) {
    return sign | 0x7c00U;  // 65536 and above
  }
  if (magnitude < 0x3880'0000U) {
    // Below 2^-14: adding 0.5 makes the sum's lowest bits count 2^-24, rounded as the processor
    // does.
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) & 0x07ffU));
  }
  // Rebias the exponent, then round the 13 bits that go; a carry runs into the exponent as it
  // should.
  const uint32_t rebiased = magnitude - (uint32_t{127 - 15} << 23);
  const uint32_t rounded = rebiased + 0x0fffU + (rebiased >> 13 & 1U);
  return static_cast<uint16_t>(sign | rounded >> 13);
}

Result<Bytes> PackVertices(const artifact::AttributeSource& source,
                           std::span<const AttributeData> data, uint32_t count) {
  // Padding stays zero, so equal data give equal bytes.
  Bytes out(size_t{source.block_size} * count);
  for (const AttributeData& item : data) {
    const auto attribute = std::ranges::find(source.attributes, item.name, &Attribute::name);
    if (attribute == source.attributes.end()) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("attribute source '{}' has no attribute '{}'", source.name, item.name), ""};
    }
    KILN_TRY_VOID(CheckAttribute(source, *attribute, item, count));
    std::visit(
        [&](const auto& values) {
          PackAttribute(*attribute, source.block_size, values, item.components, out);
        },
        item.values);
  }
  return out;
}

}  // namespace kiln::runtime
