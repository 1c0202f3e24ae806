// SPDX-License-Identifier: MIT
// Fields of structs, containers, buffers and push constants, and what arguments and variables share
// with them: prefixes, sizes, the body of an alias.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/front/rpl/parser/parse_context.h"
#include "compiler/front/rpl/parser/parse_expr.h"

namespace kiln::rpl {

struct FieldPrefixes {
  ExprRange condition;
  uint32_t condition_token = kNone;
  uint32_t second_condition = kNone;  // token of a second `conditional`
  uint32_t pack = kNone;              // token of the word `pack`
  uint32_t second_pack = kNone;
  uint32_t pack_format = kNone;  // token
  bool relaxed = false;
};

struct FieldForm {
  uint32_t sizes = kNone;     // token of the first '['
  uint32_t ellipsis = kNone;  // token of the first '...'
  uint32_t mixed = kNone;     // token of what does not go with the first
};

class FieldParser {
 public:
  FieldParser(ParseContext& context, ExpressionParser& expressions)
      : at_(context.at),
        errors_(context.errors),
        recovery_(context.recovery),
        ast_(context.ast),
        expressions_(expressions) {}

  // { field_item } '}' ';'
  bool Fields(Decl& decl, std::string_view kind);
  bool ReadPrefixes(FieldPrefixes* prefixes);
  void CheckPrefixes(const FieldPrefixes& prefixes, const ConstructName& item);
  // Forgets the tags that were read and belong to no field; true if there were any.
  bool TakeTags();
  bool FieldSizes(Field& field, FieldForm* form);
  bool AliasBody(uint32_t* name, ExprRange* value);

 private:
  bool FieldItem(const Decl& decl, const ConstructName& owner);
  bool Meta();
  bool ConditionalPrefix(FieldPrefixes* prefixes);
  bool PackPrefix(FieldPrefixes* prefixes);
  bool FieldAlias(const FieldPrefixes& prefixes);
  bool PlainField(const FieldPrefixes& prefixes, const Decl& decl, const ConstructName& owner);
  void CheckFieldForm(const Field& field, const FieldForm& form, const Decl& decl);
  void ApplyPack(Field& field, const FieldPrefixes& prefixes, const Decl& decl);
  bool EndFields(const ConstructName& owner);

  TokenCursor& at_;
  ParseErrors& errors_;
  Recovery& recovery_;
  Ast& ast_;
  ExpressionParser& expressions_;
  std::vector<uint32_t> tags_;  // of the field that comes next
  uint32_t tags_token_ = kNone;
};

}  // namespace kiln::rpl
