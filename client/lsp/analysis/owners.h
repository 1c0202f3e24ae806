// SPDX-License-Identifier: MIT
// Which declarations a value may be of: what can stand behind its '.'. One pass over the generic
// instructions of a program, operands before users, so nothing recurses and every chain of members
// is looked at once. Conditions are taken as unknown: a value may have several.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "compiler/resolve/program.h"

namespace kiln::lsp {

// A written type of a module, or a declaration whose fields are looked into.
struct ValueShape {
  std::vector<ir::DeclId> owners;  // structs, blocks, containers
  uint32_t module = 0;
  ir::TypeId type{};  // of the module, where one is known: vectors and matrices have components
  friend bool operator==(const ValueShape&, const ValueShape&) = default;
};

class Owners {
 public:
  explicit Owners(const resolve::Program& program);

  // Of an instruction of a module.
  const ValueShape& Of(uint32_t module, ir::InstId inst) const {
    return shapes_[by_inst_[module][inst.value]];
  }
  // Of what a local name holds; of an alias what it stands for. `local` is a row of the module.
  const ValueShape& OfLocal(uint32_t module, ir::LocalId local) const {
    return shapes_[by_local_[module][local.value]];
  }
  // Of what a global name denotes: a block, container or typed constant.
  ValueShape OfGlobal(resolve::NameId name) const;
  // Of a member of a shape; empty if it has none of that name.
  ValueShape Member(const ValueShape& shape, resolve::NameId name) const;
  // The members of that name, of all owners.
  std::vector<ir::MemberId> Members(const ValueShape& shape, resolve::NameId name) const;
  // Of a written type, without its arrays.
  ValueShape OfType(uint32_t module, ir::TypeId type) const;
  // Of what a function of that name returns.
  ValueShape OfCall(resolve::NameId name) const;

 private:
  uint32_t Keep(ValueShape shape);
  void ReadModule(uint32_t module);
  ValueShape ShapeOf(uint32_t module, const ir::Inst& inst) const;
  ValueShape OfName(uint32_t module, const ir::NameRefInst& ref) const;
  // What the block of an alias yields.
  ValueShape OfBlock(uint32_t module, ir::BlockId block) const;

  const resolve::Program& program_;
  std::vector<ValueShape> shapes_;
  std::map<std::vector<uint32_t>, uint32_t> numbers_;  // by the words of a shape
  std::vector<std::vector<uint32_t>> by_inst_;         // by module and InstId
  std::vector<std::vector<uint32_t>> by_local_;        // by module and LocalId
};

}  // namespace kiln::lsp
