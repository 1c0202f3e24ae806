// SPDX-License-Identifier: MIT
// Which names a program mentions, and where: read off the generic IR once, for what is said about a
// program as a whole.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/resolve/program.h"

namespace kiln::resolve {

// Names that one function mentions, repeated as they are in the source.
struct FunctionMentions {
  std::vector<NameId> calls;
  std::vector<NameId>
      values;  // in code and in compile-time expressions: options, constants, blocks
};

class Mentions {
 public:
  explicit Mentions(const Program& program);

  bool Local(ir::LocalId local) const { return locals_[local.value]; }
  bool Member(NameId name) const { return members_[name.value]; }           // behind a '.'
  bool Constructed(NameId name) const { return constructed_[name.value]; }  // name { ... }
  bool Value(NameId name) const { return values_[name.value]; }             // anywhere
  // Outside of functions: in what every variant looks at.
  bool ValueOfInterface(NameId name) const { return interface_values_[name.value]; }
  const FunctionMentions& Of(ir::DeclId function) const { return functions_[function.value]; }

 private:
  void ReadModule(uint32_t m);
  void ReadDecl(uint32_t m, ir::DeclId id, FunctionMentions* function);
  void ReadFunction(uint32_t m, ir::DeclId id);
  void ReadInst(uint32_t m, const ir::Inst& inst, FunctionMentions& function);
  void ReadType(uint32_t m, ir::TypeId type, FunctionMentions* function);
  void ReadCexpr(uint32_t m, ir::CexprId id, FunctionMentions* function);
  void AddValue(NameId name, FunctionMentions* function);

  const Program& program_;
  std::vector<bool> locals_;   // by LocalId
  std::vector<bool> members_;  // by NameId, as all that follow
  std::vector<bool> constructed_;
  std::vector<bool> values_;
  std::vector<bool> interface_values_;
  std::vector<FunctionMentions> functions_;  // by DeclId
  std::vector<ir::CexprId> pending_;
};

}  // namespace kiln::resolve
