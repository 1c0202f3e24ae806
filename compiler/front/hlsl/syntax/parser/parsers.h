// SPDX-License-Identifier: MIT
// All parsers of one module. Each holds one kind of rule; rules mention each other in circles, so
// every parser reaches every other.
#pragma once

#include "compiler/front/hlsl/syntax/parser/parse_attribute.h"
#include "compiler/front/hlsl/syntax/parser/parse_context.h"
#include "compiler/front/hlsl/syntax/parser/parse_decl.h"
#include "compiler/front/hlsl/syntax/parser/parse_expr.h"
#include "compiler/front/hlsl/syntax/parser/parse_function.h"
#include "compiler/front/hlsl/syntax/parser/parse_operand.h"
#include "compiler/front/hlsl/syntax/parser/parse_record.h"
#include "compiler/front/hlsl/syntax/parser/parse_stmt.h"
#include "compiler/front/hlsl/syntax/parser/parse_type.h"
#include "compiler/front/hlsl/syntax/parser/parse_variable.h"

namespace kiln::hlsl::syntax {

// The context outlives it.
struct Parsers {
  explicit Parsers(ParseContext& context)
      : expressions(context, *this),
        operands(context, *this),
        types(context, *this),
        attributes(context, *this),
        variables(context, *this),
        records(context, *this),
        functions(context, *this),
        statements(context, *this),
        declarations(context, *this) {}
  Parsers(const Parsers&) = delete;
  Parsers& operator=(const Parsers&) = delete;

  ExpressionParser expressions;
  OperandParser operands;
  TypeParser types;
  AttributeParser attributes;
  VariableParser variables;
  RecordParser records;
  FunctionParser functions;
  StatementParser statements;
  DeclarationParser declarations;
};

}  // namespace kiln::hlsl::syntax
