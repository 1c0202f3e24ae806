// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/memory_struct.h"

#include <vector>

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/names.h"

namespace kiln::wgsl {
namespace {

struct BlockMember {
  std::string name;
  ir::TypeId type{};
  uint32_t leaf = 0;
  uint64_t offset = 0;  // bytes
};

// The members of a block, with those of a last struct that ends in a runtime array in its place.
std::vector<BlockMember> MembersOf(ir::TypeId type, layout::Rules rules, Types& types,
                                   layout::TypeLayouts& layouts) {
  const ir::Pool& pool = types.pool();
  std::vector<BlockMember> members;
  std::string path;
  uint64_t base = 0;
  uint32_t leaf = 0;
  while (true) {
    // Copied, because asking for another type may move what the reference points to.
    const std::vector<uint64_t> offsets = layouts.Of(type, rules).offsets;
    const std::span<const ir::ShapeMember> shapes = pool.Members(type);
    for (size_t i = 0; i < shapes.size(); ++i) {
      CheckStop();
      members.push_back({.name = BlockMemberName(path, pool.Text(shapes[i].name)),
                         .type = shapes[i].type,
                         .leaf = leaf,
                         .offset = base + offsets[i]});
      leaf += types.LeavesOf(shapes[i].type);
    }
    // Copied, since the list may lose it below.
    const BlockMember last = members.back();
    // The last member is a struct that ends in a runtime array. Its members take its place, with
    // their names behind its own, and then theirs, until an ordinary member is the last.
    if (!StandsForItsMembers(pool, last.type)) {
      return members;
    }
    members.pop_back();
    path = last.name;
    base = last.offset;
    leaf = last.leaf;
    type = last.type;
  }
}

}  // namespace

// WGSL has runtime arrays at the end of a variable's own struct only.
bool StandsForItsMembers(const ir::Pool& pool, ir::TypeId type) {
  if (pool[type].kind != ir::TypeKind::kStruct) {
    return false;
  }
  while (pool[type].kind == ir::TypeKind::kStruct && !pool.Members(type).empty()) {
    type = pool.Members(type).back().type;
  }
  return pool[type].kind == ir::TypeKind::kRuntimeArray;
}

// The path keeps names apart that two structs share.
std::string BlockMemberName(const std::string& path, std::string_view member) {
  return path.empty() ? MemberName(member) : PartName(path, member);
}

// A struct without atomics is the special case of one with.
std::string StructText(ir::TypeId type, Types& types) {
  return AtomicStructText(type, {}, 0, types);
}

// Members keep their order and names; only the leaves that are atomic have another type. `first`
// counts leaves along, as the set of atomic ones is of the whole variable.
std::string AtomicStructText(ir::TypeId type, std::span<const uint32_t> atomic, uint32_t first,
                             Types& types) {
  std::string text = fmt::format("struct {} {{\n", types.Memory(type, atomic, first));
  for (const ir::ShapeMember& member : types.pool().Members(type)) {
    text += fmt::format("  {} : {},\n", MemberName(types.pool().Text(member.name)),
                        types.Memory(member.type, atomic, first));
    first += types.LeavesOf(member.type);
  }
  return text + "}\n";
}

// WGSL computes offsets by its own rules, from the members before. Where the layout puts a member
// further on, the one before it gets a size that fills the gap. A layout that puts it nearer cannot
// be said; the layout engine refuses it for this target (spec/layout 4.7).
std::string BlockText(const std::string& name, ir::TypeId type, layout::Rules rules,
                      std::span<const uint32_t> atomic, Types& types,
                      layout::TypeLayouts& layouts) {
  const std::vector<BlockMember> members = MembersOf(type, rules, types, layouts);
  std::string text = fmt::format("struct {} {{\n", name);
  for (size_t i = 0; i < members.size(); ++i) {
    const BlockMember& member = members[i];
    std::string size;
    // The last member needs no size: what follows is padding.
    if (i + 1 < members.size()) {
      // Where WGSL would put the next member.
      const layout::TypeLayout& self = layouts.Of(member.type, rules);
      const layout::TypeLayout& next = layouts.Of(members[i + 1].type, layout::Rules::kWgsl);
      const uint64_t natural = layout::RoundUp(member.offset + self.size, next.alignment);
      if (natural != members[i + 1].offset) {
        size = fmt::format("@size({}) ", members[i + 1].offset - member.offset);
      }
    }
    text += fmt::format("  {}{} : {},\n", size, member.name,
                        types.Memory(member.type, atomic, member.leaf));
  }
  return text + "}\n";
}

}  // namespace kiln::wgsl
