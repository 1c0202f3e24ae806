// SPDX-License-Identifier: MIT
// Code expressions become instructions in the open block of the builder.
#pragma once

#include <vector>

#include "compiler/front/rpl/lower_cexpr.h"
#include "compiler/front/rpl/lower_context.h"
#include "compiler/front/rpl/visible_names.h"

namespace kiln::rpl {

class ExprLowerer {
 public:
  ExprLowerer(LowerContext& context, CexprLowerer& cexprs, VisibleNames& names)
      : context_(context),
        ast_(context.ast),
        lexed_(context.lexed),
        builder_(context.builder),
        cexprs_(cexprs),
        names_(names),
        insts_(context.ast.exprs.size()) {}

  // Adds the instructions of the expression; returns its value.
  ir::InstId LowerExpr(const ExprRange& range);

 private:
  ir::InstId InstOfRow(const Expr& expr);
  ir::InstId LowerName(const Expr& expr);
  ir::InstId LowerLiteral(const Expr& expr, uint32_t bits, Span span);
  ir::InstId LowerCall(const Expr& expr);
  ir::InstId LowerConstruct(const Expr& expr);
  ir::InstId LowerSelect(const Expr& expr);
  ir::ListId LowerItems(uint32_t list);
  void BeginValueBlock();
  ir::BlockId EndValueBlock(ir::InstId value);
  ir::InstSpans Spans(const Expr& expr) {
    return {.main = context_.AddSpan(expr.span),
            .aux = context_.AddSpan(context_.SpanOf(expr.token))};
  }

  LowerContext& context_;
  const Ast& ast_;
  const LexResult& lexed_;
  ir::Builder& builder_;
  CexprLowerer& cexprs_;
  VisibleNames& names_;
  std::vector<ir::InstId> insts_;    // by expression row
  std::vector<ir::BlockId> blocks_;  // open value blocks
};

}  // namespace kiln::rpl
