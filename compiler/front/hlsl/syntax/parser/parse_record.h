// SPDX-License-Identifier: MIT
// What has members in braces: structs, enums, constant blocks.
#pragma once

#include <vector>

#include "compiler/front/hlsl/syntax/parser/nested_types.h"
#include "compiler/front/hlsl/syntax/parser/parse_context.h"

namespace kiln::hlsl::syntax {

struct Parsers;

class RecordParser {
 public:
  RecordParser(ParseContext& context, Parsers& parsers) : context_(context), parsers_(parsers) {}

  // ( 'struct' | 'class' ) [ ID ] '{' … '}'. Adds its rows; `row` is the first.
  bool Record(uint32_t* row, const RowRange& attributes);
  // 'enum' [ 'class' | 'struct' ] ID [ ':' type ] '{' … '}'
  bool Enum(const RowRange& attributes);
  // ( 'cbuffer' | 'tbuffer' ) ID { place } '{' … '}'
  bool Block(const RowRange& attributes);

  // A row that is filled by Close.
  uint32_t Open(const Decl& decl);
  void Close(uint32_t row);

 private:
  bool FailUnclosed(const ConstructName& what, uint32_t open);
  bool Base(uint32_t record);
  bool Members(const ConstructName& what);
  void Member();
  bool MemberBody();
  void BlockMember();
  bool Enumerators(uint32_t row, uint32_t scope);
  void FindNestedTypes(uint32_t brace);
  void DeclareNestedTypes(uint32_t brace);

  ParseContext& context_;
  Parsers& parsers_;
  uint32_t depth_ = 0;              // of records in each other
  std::vector<NestedType> nested_;  // of the outermost record, by brace
};

}  // namespace kiln::hlsl::syntax
