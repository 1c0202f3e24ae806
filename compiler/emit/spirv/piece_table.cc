// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/piece_table.h"

#include "compiler/base/check.h"

namespace kiln::spirv {

void PieceTable::Bind(const ir::ClosedDecl& decl, std::span<const VariableVersion> variables) {
  DeclVersion version;
  version.variables = {static_cast<uint32_t>(variables_.size()),
                       static_cast<uint32_t>(variables.size())};
  variables_.insert(variables_.end(), variables.begin(), variables.end());
  decls_.Insert(&decl, version);
}

void PieceTable::Bind(const ir::ClosedDecl& decl, PieceId head, SymbolId function,
                      std::span<const SymbolId> parameters) {
  DeclVersion version{.variables = {}, .head = head, .function = function, .parameters = {}};
  version.parameters = {static_cast<uint32_t>(parameters_.size()),
                        static_cast<uint32_t>(parameters.size())};
  parameters_.insert(parameters_.end(), parameters.begin(), parameters.end());
  decls_.Insert(&decl, version);
}

void PieceTable::Classify(ir::DeclId decl, const DeclClass& decl_class) {
  if (decl.value >= classes_.size()) {
    classes_.resize(decl.value + size_t{1});
  }
  classes_[decl.value] = decl_class;
}

const PieceTable::DeclClass& PieceTable::ClassOf(ir::DeclId decl) const {
  KILN_CHECK(decl.value < classes_.size() && classes_[decl.value].kind != ir::DeclKind::kStruct,
             "declaration {} was not lowered", decl);
  return classes_[decl.value];
}

}  // namespace kiln::spirv
