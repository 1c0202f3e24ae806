// SPDX-License-Identifier: MIT
// Global declarations, and so the whole of a source.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/front/rpl/parser/parse_argument.h"
#include "compiler/front/rpl/parser/parse_context.h"
#include "compiler/front/rpl/parser/parse_expr.h"
#include "compiler/front/rpl/parser/parse_field.h"
#include "compiler/front/rpl/parser/parse_resource.h"
#include "compiler/front/rpl/parser/parse_stmt.h"

namespace kiln::rpl {

class DeclarationParser {
 public:
  // `context` outlives it.
  explicit DeclarationParser(ParseContext& context)
      : at_(context.at),
        errors_(context.errors),
        recovery_(context.recovery),
        ast_(context.ast),
        items_(context.items),
        expressions_(context),
        fields_(context, expressions_),
        arguments_(context, fields_),
        resources_(context, expressions_, fields_),
        statements_(context, expressions_, fields_) {}
  DeclarationParser(const DeclarationParser&) = delete;
  DeclarationParser& operator=(const DeclarationParser&) = delete;

  // All of them, to the end of the source.
  void File();

 private:
  void VersionHeader();
  void Declaration();
  bool DeclarationBody(Decl& decl);
  bool Option(Decl& decl, ir::OptionScope scope);
  bool OptionBody(Decl& decl);
  bool FlagDefault(Decl& decl);
  bool OptionDefault(Decl& decl, std::string_view type);
  bool EnumValues(Decl& decl);
  bool Constant(Decl& decl);
  bool Setting(Decl& decl);
  bool SettingBlock(Decl& decl);
  bool Dotted(Decl& decl);
  bool Function(Decl& decl);
  bool FailDeclaration();

  TokenCursor& at_;
  ParseErrors& errors_;
  Recovery& recovery_;
  Ast& ast_;
  std::vector<uint32_t>& items_;
  ExpressionParser expressions_;
  FieldParser fields_;
  ArgumentParser arguments_;
  ResourceParser resources_;
  StatementParser statements_;
  std::vector<uint32_t> option_of_symbol_;  // token of the name, by symbol; kNone
};

}  // namespace kiln::rpl
