// SPDX-License-Identifier: MIT
// Fills Names: walks declarations, expressions of compile time and instructions of every module.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/lsp/analysis/names.h"

namespace kiln::lsp {

class NameCollector {
 public:
  explicit NameCollector(Names& names);

  void Run();

 private:
  uint32_t KeyOf(std::string key);
  uint32_t GlobalKey(resolve::NameId name);
  uint32_t MemberKey(ir::DeclId owner, resolve::NameId name);
  uint32_t LocalKey(ir::LocalId row);

  void Add(ir::SpanId span, uint32_t key, NameRole role, const Occurrence& what = {});
  void ReadModule(uint32_t module);
  void JoinLocals();
  uint32_t RootOf(uint32_t local);
  void ReadDecl(ir::DeclId id);
  void ReadMembers(ir::DeclId owner);
  void ReadAlias(ir::DeclId owner, const ir::Member& member, ir::SpanId run);
  void ReadLocal(ir::LocalId row);
  void ReadInst(uint32_t row);
  void ReadMemberInst(const ir::Inst& inst, ir::SpanId at);
  // A written type: its name, then the runs of its sizes.
  void ReadType(ir::TypeId type, ir::SpanId span);
  void ReadCexpr(ir::CexprId root, ir::SpanId run);
  uint32_t TreeSize(ir::CexprId root);
  void AddGlobalUse(ir::SpanId span, ir::StringId name);

  Names& names_;
  const LinkedSources& sources_;
  const resolve::Program& program_;
  std::map<std::string, uint32_t> numbers_;  // of keys
  // Of the module in work.
  uint32_t module_ = 0;
  const ir::ModuleView* view_ = nullptr;
  std::vector<uint32_t> roots_;  // by LocalId: a local that is the same name
  std::vector<ir::CexprId> pending_;
};

}  // namespace kiln::lsp
