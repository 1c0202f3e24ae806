// SPDX-License-Identifier: MIT
#include "compiler/layout/attributes.h"

#include <algorithm>
#include <iterator>

#include "compiler/base/check.h"
#include "compiler/layout/bytes.h"

namespace kiln::layout {
namespace {

struct FormatFacts {
  std::string_view text;
  uint32_t size;
};
// By ItemFormat.
constexpr FormatFacts kFormats[] = {
    {"float16", 2}, {"float32", 4}, {"unorm8", 1}, {"unorm16", 2}, {"snorm8", 1}, {"snorm16", 2},
    {"uint8", 1},   {"uint16", 2},  {"uint32", 4}, {"sint8", 1},   {"sint16", 2}, {"sint32", 4},
};

}  // namespace

std::string_view ItemFormatText(ItemFormat format) {
  return kFormats[static_cast<size_t>(format)].text;
}

// Twelve rows are searched in order.
std::optional<ItemFormat> FindItemFormat(std::string_view text) {
  const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [&](const FormatFacts& facts) { return facts.text == text; });
  if (found == std::end(kFormats)) {
    return std::nullopt;
  }
  return static_cast<ItemFormat>(found - std::begin(kFormats));
}

uint32_t ItemSize(ItemFormat format) { return kFormats[static_cast<size_t>(format)].size; }

// Every float is stored with 32 bits unless the author packs it (spec/rpl 10.2).
ItemFormat DefaultFormat(ScalarKind scalar) {
  return scalar == ScalarKind::kU32   ? ItemFormat::kUint32
         : scalar == ScalarKind::kI32 ? ItemFormat::kSint32
                                      : ItemFormat::kFloat32;
}

// Fields follow one another, each at a multiple of its item's size and no more: vertex fetch needs
// no alignment beyond that, and buffers are what engines fill in bulk. The stride is a multiple of
// the largest item, so that every vertex is aligned like the first.
PackedBlock PackAttributes(const Types& types, std::span<const PackedField> fields) {
  PackedBlock block;
  block.places.reserve(fields.size());
  uint64_t end = 0;
  uint32_t alignment = 1;
  for (const PackedField& field : fields) {
    const Type& type = types[field.type];
    const uint32_t item_size = ItemSize(field.format);
    const uint32_t column_size = type.rows * item_size;
    const uint32_t columns = LocationsOf(type);
    const uint64_t offset = RoundUp(end, item_size);
    block.places.push_back({.offset = static_cast<uint32_t>(offset),
                            .size = columns * column_size,
                            // A matrix is as many attributes as it has columns, one behind the
                            // other.
                            .column_stride = columns > 1 ? column_size : 0,
                            .location_count = columns});
    end = offset + uint64_t{columns} * column_size;
    alignment = std::max(alignment, item_size);
  }
  const uint64_t stride = RoundUp(end, alignment);
  KILN_CHECK(stride <= 0xffffffffu, "{} bytes", stride);
  block.stride = static_cast<uint32_t>(stride);
  return block;
}

}  // namespace kiln::layout
