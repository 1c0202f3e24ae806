// SPDX-License-Identifier: MIT
// Random block types for tests of byte layouts, and their GLSL spelling. Equal seeds give equal
// types.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/types.h"

namespace kiln::layout {

class RandomBlocks {
 public:
  RandomBlocks(ir::Pool& pool, uint32_t seed) : pool_(pool), random_(seed) {}

  // A struct of 1 to 8 members, at most three structs deep, that ends in a `probe` scalar so that
  // the size of what is before it shows.
  ir::TypeId Block(uint32_t number) {
    std::vector<ir::ShapeMember> members = Members(0);
    members.push_back({pool_.InternText("probe"), pool_.Vector(ir::Scalar::kU32, 1)});
    return pool_.InternStruct(fmt::format("block{}_{}", number, next_struct_++), members);
  }

 private:
  uint32_t Below(uint32_t limit) { return random_() % limit; }

  std::vector<ir::ShapeMember> Members(int depth) {
    std::vector<ir::ShapeMember> members(1 + Below(8));
    for (size_t i = 0; i < members.size(); ++i) {
      members[i] = {pool_.InternText(fmt::format("m{}", i)), Member(depth)};
    }
    return members;
  }
  ir::TypeId Member(int depth) {
    ir::TypeId type = Item(depth);
    for (uint32_t dimensions = Below(4) == 0 ? 1 + Below(2) : 0; dimensions > 0; --dimensions) {
      type = pool_.Intern(ir::ArrayType(type, 1 + Below(5)));
    }
    return type;
  }
  ir::TypeId Item(int depth) {
    constexpr ir::Scalar kScalars[] = {ir::Scalar::kF32, ir::Scalar::kU32, ir::Scalar::kS32};
    switch (Below(depth < 2 ? 5 : 4)) {
      case 4: {
        // a name of its own, because equal shapes are one type in the pool
        const std::vector<ir::ShapeMember> members = Members(depth + 1);
        return pool_.InternStruct(fmt::format("s{}", next_struct_++), members);
      }
      case 3:
        return pool_.Matrix(ir::Scalar::kF32, 2 + Below(3), 2 + Below(3));
      default:
        return pool_.Vector(kScalars[Below(3)], 1 + Below(4));
    }
  }

  ir::Pool& pool_;
  std::mt19937 random_;
  uint32_t next_struct_ = 0;
};

// Spells types of a pool in GLSL: every struct is declared once, before its first use.
class GlslText {
 public:
  explicit GlslText(const ir::Pool& pool) : pool_(pool) {}

  // "layout(...) buffer name { ... } name_v;"
  void Block(ir::TypeId type, const std::string& qualifiers, const std::string& name) {
    const std::string members = Members(type);
    text_ += fmt::format("{} {} {{\n{}}} {}_v;\n", qualifiers, name, members, name);
  }
  const std::string& text() const { return text_; }

 private:
  std::string Members(ir::TypeId type) {
    std::string members;
    for (const ir::ShapeMember& member : pool_.Members(type)) {
      std::string extents;
      ir::TypeId item = member.type;
      for (; pool_[item].kind == ir::TypeKind::kArray; item = ir::TypeId{pool_[item].element}) {
        extents += fmt::format("[{}]", pool_[item].extent);
      }
      members += fmt::format("  {} {}{};\n", Item(item), pool_.Text(member.name), extents);
    }
    return members;
  }
  std::string Item(ir::TypeId id) {
    const ir::Type& type = pool_[id];
    if (type.kind == ir::TypeKind::kMatrix) {
      return fmt::format("mat{}x{}", type.columns, type.rows);
    }
    if (type.kind == ir::TypeKind::kStruct) {
      if (id.value >= declared_.size()) {
        declared_.resize(id.value + 1);
      }
      std::string name(pool_.Text(pool_.ShapeOf(id).name));
      if (!declared_[id.value]) {
        declared_[id.value] = true;
        const std::string members = Members(id);
        text_ += fmt::format("struct {} {{\n{}}};\n", name, members);
      }
      return name;
    }
    const char* prefix = type.scalar == ir::Scalar::kU32   ? "u"
                         : type.scalar == ir::Scalar::kS32 ? "i"
                                                           : "";
    const char* scalar = type.scalar == ir::Scalar::kU32   ? "uint"
                         : type.scalar == ir::Scalar::kS32 ? "int"
                                                           : "float";
    return type.rows == 1 ? scalar : fmt::format("{}vec{}", prefix, type.rows);
  }

  const ir::Pool& pool_;
  std::string text_;
  std::vector<bool> declared_;
};

}  // namespace kiln::layout
