// SPDX-License-Identifier: MIT
#include "compiler/layout/combined_pairs.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace kiln::layout {
namespace {

// The number that a source gives a resource: of `vk::binding`, or of its register. Nothing if it
// gives none.
std::optional<uint64_t> WrittenSlot(const Parameter& parameter) {
  if (parameter.slot && parameter.slot->index) {
    return uint64_t{parameter.slot->space.value_or(0)} << 32 | *parameter.slot->index;
  }
  if (parameter.registers.size() != 1 || parameter.registers[0].text.size() < 2) {
    return std::nullopt;
  }
  const std::string_view digits = parameter.registers[0].text.substr(1);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return uint64_t{parameter.registers[0].space.value_or(0)} << 32 | number;
}

}  // namespace

// What has no number of its own gets one that nobody else has, so it is in no pair.
void CombinedPairs::Add(const ir::SpecialisedDecl& decl, Parameter& parameter,
                        const ir::Pool& pool) {
  const std::optional<uint64_t> slot = WrittenSlot(parameter);
  if (!slot.has_value()) {
    return;
  }
  uint64_t items = 1;
  ir::TypeId type = decl.type;
  for (; pool[type].kind == ir::TypeKind::kArray; type = ir::TypeId{pool[type].element}) {
    items *= pool[type].extent;
  }
  Kind kind = pool[type].kind == ir::TypeKind::kSampler ? Kind::kSampler : Kind::kOther;
  if (pool[type].kind == ir::TypeKind::kImage) {
    const ir::ImageTraits traits = ir::UnpackImage(pool[type].extent);
    const bool sampled = !traits.storage && traits.dim != ir::ImageDim::kBuffer;
    kind = sampled ? Kind::kTexture : Kind::kOther;
  }
  members_.push_back({.slot = *slot, .kind = kind, .items = items, .parameter = &parameter});
}

// Sorted by number and kind, a pair is two members of one number, the texture first.
void CombinedPairs::Mark() {
  std::ranges::sort(members_, {},
                    [](const Member& member) { return std::pair(member.slot, member.kind); });
  for (size_t first = 0, end = 0; first < members_.size(); first = end) {
    while (end < members_.size() && members_[end].slot == members_[first].slot) {
      ++end;
    }
    const bool pair = end == first + 2 && members_[first].kind == Kind::kTexture &&
                      members_[first + 1].kind == Kind::kSampler &&
                      members_[first].items == members_[first + 1].items;
    for (size_t i = first; pair && i < end; ++i) {
      members_[i].parameter->may_alias = true;
    }
  }
}

}  // namespace kiln::layout
