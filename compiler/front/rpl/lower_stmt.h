// SPDX-License-Identifier: MIT
// Functions and their statements.
#pragma once

#include <vector>

#include "compiler/front/rpl/lower_cexpr.h"
#include "compiler/front/rpl/lower_context.h"
#include "compiler/front/rpl/lower_expr.h"
#include "compiler/front/rpl/visible_names.h"

namespace kiln::rpl {

class StmtLowerer {
 public:
  StmtLowerer(LowerContext& context, CexprLowerer& cexprs)
      : context_(context),
        ast_(context.ast),
        lexed_(context.lexed),
        builder_(context.builder),
        cexprs_(cexprs),
        names_(context),
        exprs_(context, cexprs, names_) {}
  StmtLowerer(const StmtLowerer&) = delete;
  StmtLowerer& operator=(const StmtLowerer&) = delete;

  // `row` and `spans`: what every declaration has.
  void LowerFunction(const Decl& decl, ir::Decl row, ir::DeclSpans spans);

 private:
  void LowerParameter(const Field& field);
  void LowerStmts(uint32_t row, uint32_t end);
  void LowerStmt(uint32_t row);
  ir::BlockId LowerBlock(uint32_t scope);  // a kScope row
  ir::BlockId LowerBranch(uint32_t row);   // a kScope or kIf row
  void LowerScope(const Stmt& stmt, uint32_t row);
  void LowerAlias(const Stmt& stmt);
  void LowerVariable(const Stmt& stmt);
  void LowerIf(const Stmt& stmt, uint32_t row);
  void LowerFor(const Stmt& stmt, uint32_t row);
  void LowerLoop(const Stmt& stmt, uint32_t body);
  ir::InstSpans Spans(const Stmt& stmt) { return {.main = context_.AddSpan(stmt.span)}; }

  LowerContext& context_;
  const Ast& ast_;
  const LexResult& lexed_;
  ir::Builder& builder_;
  CexprLowerer& cexprs_;
  VisibleNames names_;
  ExprLowerer exprs_;
  std::vector<ir::LocalId> loops_;  // exits of the loops around
};

}  // namespace kiln::rpl
