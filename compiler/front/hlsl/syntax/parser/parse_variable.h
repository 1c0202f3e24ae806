// SPDX-License-Identifier: MIT
// Declarators: variables, members, parameters and aliases, with what may stand behind their names.
#pragma once

#include "compiler/front/hlsl/syntax/parser/parse_context.h"

namespace kiln::hlsl::syntax {

struct Parsers;

class VariableParser {
 public:
  VariableParser(ParseContext& context, Parsers& parsers) : context_(context), parsers_(parsers) {}

  // declarator [ init ] { ',' … } of type row `type`, whose names are declared in the current
  // scope.
  bool Variables(uint32_t type, RowRange* rows);
  // attrs { modifier } type [ declarator ] [ '=' assign ]
  bool Parameter();
  // 'typedef' type declarator { ',' declarator } | 'using' ID '=' type. Adds its row.
  bool Alias(const RowRange& attributes);
  // { ':' … }
  bool Places(RowRange* rows);

 private:
  bool Declarator(uint32_t type);
  bool Initialiser(Variable& variable);
  bool OnePlace();
  bool Register(Place& place);
  bool PackOffset(Place& place);
  void SkipAnnotation();
  bool Typedef(const RowRange& attributes);
  bool Using(const RowRange& attributes);
  void DeclareAlias(const Variable& alias);

  ParseContext& context_;
  Parsers& parsers_;
};

}  // namespace kiln::hlsl::syntax
