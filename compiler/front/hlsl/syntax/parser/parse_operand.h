// SPDX-License-Identifier: MIT
// Operands: literals, names, calls, constructors, casts, and what stands before and behind them.
#pragma once

#include "compiler/front/hlsl/syntax/literals.h"
#include "compiler/front/hlsl/syntax/parser/parse_expr.h"

namespace kiln::hlsl::syntax {

class OperandParser {
 public:
  OperandParser(ParseContext& context, Parsers& parsers) : context_(context), parsers_(parsers) {}

  // unary of the grammar; its operators stay pending.
  bool Prefixed(Operand* operand);
  // '(' [ assign { ',' assign } ] ')'. The current token is the '('.
  bool Arguments(uint32_t* list, const ConstructName& of);

 private:
  enum class Extents : uint8_t { kRefused, kAllowed };
  bool Cast();
  bool Primary(Operand* operand);
  void Integer(Operand* operand);
  void Float(Operand* operand);
  void String(Operand* operand);
  void CheckLiteral(uint32_t token, LiteralError error, uint32_t bits);
  bool Group(Operand* operand);
  bool Name(Operand* operand);
  bool Constructor(Operand* operand);
  bool Postfix(Operand* operand);
  bool Member(Operand* operand);
  bool Index(Operand* operand);
  bool Call(Operand* operand);
  void PostfixOperator(Operand* operand, UnaryOp op);
  bool TypeRows(Extents extents, uint32_t* type, uint32_t* first);
  uint32_t NextRow() const { return static_cast<uint32_t>(context_.ast.exprs.size()); }

  ParseContext& context_;
  Parsers& parsers_;
};

}  // namespace kiln::hlsl::syntax
