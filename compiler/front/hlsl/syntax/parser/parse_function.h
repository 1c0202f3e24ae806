// SPDX-License-Identifier: MIT
// Functions and methods: name, parameters, body.
#pragma once

#include "compiler/front/hlsl/syntax/parser/parse_context.h"

namespace kiln::hlsl::syntax {

struct Parsers;

class FunctionParser {
 public:
  FunctionParser(ParseContext& context, Parsers& parsers) : context_(context), parsers_(parsers) {}

  // A name, with or without a path, and '('.
  bool AtFunction() const;
  // What stands behind the type of the result, row `type`; no ';' of a prototype is left. `begin`:
  // the first token of the declaration.
  bool Function(uint32_t type, const RowRange& attributes, uint32_t begin);

 private:
  uint32_t Name(Decl& decl);
  bool Head(uint32_t row, const ConstructName& what);
  bool Parameters(RowRange* rows, const ConstructName& what);
  bool ParameterList();
  bool Body(uint32_t row, const ConstructName& what);

  ParseContext& context_;
  Parsers& parsers_;
};

}  // namespace kiln::hlsl::syntax
