// SPDX-License-Identifier: MIT
// Statements of functions.
#pragma once

#include "compiler/front/hlsl/syntax/parser/parse_context.h"

namespace kiln::hlsl::syntax {

struct Parsers;

class StatementParser {
 public:
  StatementParser(ParseContext& context, Parsers& parsers) : context_(context), parsers_(parsers) {}

  // '{' { statement } '}' of a function `what`, in its scope. The current token is the '{'.
  bool Body(const ConstructName& what);

 private:
  struct Function {
    ConstructName name;
    uint32_t open = kNone;    // '{'
    uint32_t indent = kNone;  // of its line
  };
  void Statement();
  bool StatementBody(const RowRange& attributes);
  bool Block(const RowRange& attributes);
  bool BlockRows();
  bool EndsFunction();
  bool Declaration(const RowRange& attributes);
  bool Expression(const RowRange& attributes);
  bool Jump(StmtKind kind, const RowRange& attributes);
  bool Return(const RowRange& attributes);
  bool If(const RowRange& attributes);
  bool Switch(const RowRange& attributes);
  bool For(const RowRange& attributes);
  bool ForHead(uint32_t row);
  bool ForInit();
  bool While(const RowRange& attributes);
  bool Do(const RowRange& attributes);
  bool Label(const RowRange& attributes);
  bool Condition(uint32_t row, const ConstructName& what);
  void SetDeclarations(uint32_t row, uint32_t first);
  uint32_t Open(StmtKind kind, const RowRange& attributes);
  void Close(uint32_t row);

  ParseContext& context_;
  Parsers& parsers_;
  Function function_;  // around the current token
};

}  // namespace kiln::hlsl::syntax
