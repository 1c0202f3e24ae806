// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/typed/host_structs.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"

namespace kiln::wgsl {

bool HostStructs::Add(ir::TypeId type, layout::Rules rules) {
  Place place;
  return PlaceOf(type, rules, place);
}

// Recursion is as deep as types are nested.
bool HostStructs::PlaceOf(ir::TypeId type, layout::Rules rules, Place& place) {
  CheckStop();
  const ir::Type t = types_.pool()[type];
  if (t.kind == ir::TypeKind::kStruct) {
    return AddStruct(type, rules, place);
  }
  if (t.kind == ir::TypeKind::kArray || t.kind == ir::TypeKind::kRuntimeArray) {
    Place item;
    if (!PlaceOf(ir::TypeId{t.element}, rules, item)) {
      return false;
    }
    const uint64_t stride = layout::RoundUp(item.size, item.alignment);
    place = {.size = stride * t.extent, .alignment = item.alignment};
    return layouts_.Of(type, rules).stride == stride;
  }
  const layout::TypeLayout& natural = layouts_.Of(type, layout::Rules::kWgsl);
  place = {.size = natural.size, .alignment = natural.alignment};
  return layouts_.Of(type, rules).size == natural.size;
}

// A size is written on a member where the next one lies further on than WGSL puts it. Nearer, or
// where its alignment does not allow it, there is no way to say it.
bool HostStructs::AddStruct(ir::TypeId type, layout::Rules rules, Place& place) {
  const std::vector<uint64_t> offsets = layouts_.Of(type, rules).offsets;
  if (const auto known = std::ranges::find(rows_, type, &Row::type); known != rows_.end()) {
    place = known->place;
    return known->offsets == offsets;
  }
  Row row{.type = type, .place = {}, .offsets = offsets, .sizes = {}};
  row.sizes.assign(offsets.size(), 0);
  const std::span<const ir::ShapeMember> members = types_.pool().Members(type);
  uint64_t end = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    Place member;
    if (members[i].order == ir::MatrixOrder::kRow || !PlaceOf(members[i].type, rules, member)) {
      return false;
    }
    const uint64_t natural = layout::RoundUp(end, member.alignment);
    if (offsets[i] < natural || offsets[i] % member.alignment != 0) {
      return false;
    }
    if (offsets[i] != natural) {
      if (i == 0) {
        return false;
      }
      row.sizes[i - 1] = offsets[i] - offsets[i - 1];
    }
    end = offsets[i] + member.size;
    row.place.alignment = std::max(row.place.alignment, member.alignment);
  }
  row.place.size = layout::RoundUp(end, row.place.alignment);
  place = row.place;
  rows_.push_back(std::move(row));
  return true;
}

std::string HostStructs::Text(const std::string& name, ir::TypeId type,
                              std::span<const uint32_t> atomic, uint32_t first) {
  const auto known = std::ranges::find(rows_, type, &Row::type);
  std::string text = fmt::format("struct {} {{\n", name);
  const std::span<const ir::ShapeMember> members = types_.pool().Members(type);
  for (size_t i = 0; i < members.size(); ++i) {
    const uint64_t size = known == rows_.end() ? 0 : known->sizes[i];
    text += fmt::format("  {}{} : {},\n", size == 0 ? "" : fmt::format("@size({}) ", size),
                        types_.Member(types_.pool().Text(members[i].name)),
                        types_.Memory(members[i].type, atomic, first));
    first += types_.LeavesOf(members[i].type);
  }
  return text + "}\n";
}

}  // namespace kiln::wgsl
