// SPDX-License-Identifier: MIT
// Compile-time expressions, and types, whose sizes are such expressions.
#pragma once

#include <vector>

#include "compiler/front/rpl/lower_context.h"

namespace kiln::rpl {

class CexprLowerer {
 public:
  enum class Runtime : uint8_t { kNo, kYes };
  enum class Composites : uint8_t { kInvalid, kAllowed };

  explicit CexprLowerer(LowerContext& context)
      : context_(context),
        ast_(context.ast),
        lexed_(context.lexed),
        builder_(context.builder),
        cexprs_(context.ast.exprs.size()) {}

  ir::CexprId LowerCexpr(const ExprRange& range, ir::SpanId* spans,
                         Composites composites = Composites::kInvalid);
  ir::CexprId LowerCondition(const ExprRange& range, ir::SpanId* spans) {
    return range.empty() ? ir::kTrue : LowerCexpr(range, spans);
  }
  ir::TypeId LowerType(const TypeRef& type, Runtime runtime, ir::SpanId* spans);

  // For code expressions, too: is `row` a literal whose user is a unary minus, and what are the
  // two?
  bool FoldsIntoUser(uint32_t row, uint32_t root) const;
  static uint32_t Negated(const Expr& literal);

 private:
  ir::CexprId CexprOfRow(uint32_t row, Composites composites);
  ir::CexprId CexprOfConstructor(uint32_t row, Composites composites);
  ir::CexprId Invalid(ir::InvalidCexpr kind, Span text, uint32_t number = 0);
  ir::CexprId BinaryCexpr(ir::CexprOp op, const Expr& expr);
  void AppendSpans(uint32_t root, Composites composites);

  LowerContext& context_;
  const Ast& ast_;
  const LexResult& lexed_;
  ir::Builder& builder_;
  std::vector<ir::CexprId> cexprs_;  // by expression row
  std::vector<uint32_t> rows_;       // scratch: stack of rows
};

}  // namespace kiln::rpl
