// SPDX-License-Identifier: MIT
#include "compiler/layout/attributes.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/layout/bytes.h"

namespace kiln::layout {
namespace {

struct FormatFacts {
  std::string_view text;
  ir::PackClass pack;
  uint8_t bits;
};
// By ItemFormat.
constexpr FormatFacts kFormats[] = {
    {"float16", ir::PackClass::kFloat, 16}, {"float32", ir::PackClass::kFloat, 32},
    {"unorm8", ir::PackClass::kUnorm, 8},   {"unorm16", ir::PackClass::kUnorm, 16},
    {"snorm8", ir::PackClass::kSnorm, 8},   {"snorm16", ir::PackClass::kSnorm, 16},
    {"uint8", ir::PackClass::kUint, 8},     {"uint16", ir::PackClass::kUint, 16},
    {"uint32", ir::PackClass::kUint, 32},   {"sint8", ir::PackClass::kSint, 8},
    {"sint16", ir::PackClass::kSint, 16},   {"sint32", ir::PackClass::kSint, 32},
};

const FormatFacts& FactsOf(ItemFormat format) { return kFormats[static_cast<size_t>(format)]; }

ItemFormat FormatOf(const ir::ClosedMember& field) {
  const auto* found =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&field](const FormatFacts& facts) {
        return facts.pack == field.pack && facts.bits == field.pack_bits;
      });
  KILN_CHECK(found != std::end(kFormats), "pack class {} of {} bits", field.pack,
             static_cast<uint32_t>(field.pack_bits));
  return static_cast<ItemFormat>(found - std::begin(kFormats));
}

}  // namespace

std::string_view ItemFormatText(ItemFormat format) { return FactsOf(format).text; }

uint32_t ItemSize(ItemFormat format) { return FactsOf(format).bits / 8; }

VertexSource PackAttributes(const ir::Pool& pool, const ir::ClosedDecl& container) {
  VertexSource source;
  source.container = container.decl;
  source.per_instance = container.container() == ir::ContainerKind::kInstanceAttributes;
  source.attributes.reserve(container.members.size());
  uint64_t end = 0;
  uint32_t alignment = 1;
  for (const ir::ClosedMember& field : container.members) {
    const ir::Type& type = pool[field.type];
    const ItemFormat format = FormatOf(field);
    const uint32_t item_size = ItemSize(format);
    const uint32_t column_size = type.rows * item_size;
    const uint32_t columns = LocationsOf(type);
    const uint64_t offset = RoundUp(end, item_size);
    source.attributes.push_back({.member = field.member,
                                 .format = format,
                                 .location_count = columns,
                                 .offset = static_cast<uint32_t>(offset),
                                 .column_stride = columns > 1 ? column_size : 0});
    end = offset + uint64_t{columns} * column_size;
    alignment = std::max(alignment, item_size);
  }
  // A source has at most 4 MiB, so its fields of at most 64 bytes cannot reach 2^32.
  const uint64_t stride = RoundUp(end, alignment);
  KILN_CHECK(stride <= 0xffffffffu, "{} bytes", stride);
  source.stride = static_cast<uint32_t>(stride);
  return source;
}

}  // namespace kiln::layout
