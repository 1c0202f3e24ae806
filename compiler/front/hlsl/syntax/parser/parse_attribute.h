// SPDX-License-Identifier: MIT
// Attributes before declarations, members, parameters and statements.
#pragma once

#include "compiler/front/hlsl/syntax/parser/parse_context.h"

namespace kiln::hlsl::syntax {

struct Parsers;

class AttributeParser {
 public:
  AttributeParser(ParseContext& context, Parsers& parsers) : context_(context), parsers_(parsers) {}

  // All that stand here, of both forms. What is wrong in one is reported; what it stands before is
  // parsed all the same.
  RowRange Attributes();

 private:
  bool Plain();
  bool Scoped();
  bool One(std::string_view space, uint32_t begin);
  bool Known(AttributeName name, uint32_t token, uint32_t begin);
  bool Arguments(uint32_t* list, uint32_t name);
  bool Argument(ExprRange* range);

  ParseContext& context_;
  Parsers& parsers_;
};

}  // namespace kiln::hlsl::syntax
