// SPDX-License-Identifier: MIT
// Declarations with fields, and what a set holds: buffers, samplers, images, storage images; and
// workgroup memory.
#pragma once

#include <string_view>

#include "compiler/front/rpl/parser/parse_context.h"
#include "compiler/front/rpl/parser/parse_expr.h"
#include "compiler/front/rpl/parser/parse_field.h"

namespace kiln::rpl {

class ResourceParser {
 public:
  ResourceParser(ParseContext& context, ExpressionParser& expressions, FieldParser& fields)
      : at_(context.at),
        errors_(context.errors),
        ast_(context.ast),
        expressions_(expressions),
        fields_(fields) {}

  bool FieldBlock(Decl& decl, DeclForm form, std::string_view kind);
  bool Resource(Decl& decl, ir::ResourceSet set);
  bool WorkgroupVariable(Decl& decl);

 private:
  bool Sampler(Decl& decl);
  bool Image(Decl& decl);
  bool StorageImage(Decl& decl);

  TokenCursor& at_;
  ParseErrors& errors_;
  Ast& ast_;
  ExpressionParser& expressions_;
  FieldParser& fields_;
};

}  // namespace kiln::rpl
