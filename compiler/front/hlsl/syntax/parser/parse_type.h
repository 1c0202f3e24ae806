// SPDX-License-Identifier: MIT
// Types as they are written: modifiers, a name, its arguments; and extents of arrays.
#pragma once

#include "compiler/front/hlsl/syntax/parser/parse_context.h"

namespace kiln::hlsl::syntax {

struct Parsers;

class TypeParser {
 public:
  TypeParser(ParseContext& context, Parsers& parsers) : context_(context), parsers_(parsers) {}

  // { modifier } name [ '<' args '>' ] { modifier }; `row` is that of the table.
  bool SimpleType(uint32_t* row);
  bool TypeWithExtents(uint32_t* row);
  // The same, where a record may be defined in its place: `attributes` are also its own.
  bool TypeOrRecord(uint32_t* row, const RowRange& attributes);
  // { '[' [ cond ] ']' }: list of two words each, kNone if there are none.
  bool Extents(uint32_t* list);

 private:
  enum class Order : uint8_t { kFirst, kLater };
  enum class Records : uint8_t { kRefused, kAllowed };
  bool Written(uint32_t* row, Records records, const RowRange& attributes);
  void Modifiers(Type& type);
  bool RefuseModifier();
  bool Name(Type& type);
  bool NamePath(Type& type);
  bool TemplateArguments(Type& type);
  bool Argument(Order order);
  bool AcceptArgumentsEnd();

  ParseContext& context_;
  Parsers& parsers_;
  uint32_t depth_ = 0;  // of '<' around the current token
  bool half_ = false;   // the first '>' of the '>>' that is the current token is used up
};

}  // namespace kiln::hlsl::syntax
