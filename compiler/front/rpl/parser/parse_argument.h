// SPDX-License-Identifier: MIT
// Arguments of functions.
#pragma once

#include "compiler/front/rpl/parser/parse_context.h"
#include "compiler/front/rpl/parser/parse_field.h"

namespace kiln::rpl {

class ArgumentParser {
 public:
  ArgumentParser(ParseContext& context, FieldParser& fields)
      : at_(context.at),
        errors_(context.errors),
        recovery_(context.recovery),
        ast_(context.ast),
        fields_(fields) {}

  // '(' ( 'void' | argument { ',' argument } ) ')'. True if the tokens are behind the ')'.
  bool Arguments(Decl& decl);

 private:
  bool ArgumentList(Decl& decl);
  bool ArgumentItem(const ConstructName& function);
  bool ArgumentAccess(Field& argument, const ConstructName& function);

  TokenCursor& at_;
  ParseErrors& errors_;
  Recovery& recovery_;
  Ast& ast_;
  FieldParser& fields_;
};

}  // namespace kiln::rpl
