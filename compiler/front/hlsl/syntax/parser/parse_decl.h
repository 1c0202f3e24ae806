// SPDX-License-Identifier: MIT
// Declarations of the unit and of namespaces; what begins with a type, wherever it stands.
#pragma once

#include "compiler/front/hlsl/syntax/parser/parse_context.h"

namespace kiln::hlsl::syntax {

struct Parsers;

class DeclarationParser {
 public:
  DeclarationParser(ParseContext& context, Parsers& parsers)
      : context_(context), parsers_(parsers) {}

  void Unit();

  // Where a declaration stands: what it may be depends on that.
  enum class Where : uint8_t { kUnit, kRecord, kBlock, kLocal };
  // function | variables ';' | record [ vars ] ';', the ';' included.
  bool Typed(const RowRange& attributes, Where where);
  // variables, without ';': the head of a loop.
  bool LoopVariables();

  // 'template', 'export': syntax that this build lacks.
  bool AtRefused() const;

 private:
  void Declaration();
  bool DeclarationBody();
  bool FailDeclaration();
  bool Namespace();
  bool Refused();
  bool AtEffect() const;
  bool Effect();
  bool RefuseOperator();
  bool AtRecordVariables() const;
  bool VariableRow(uint32_t type, const RowRange& attributes, uint32_t begin, RowRange* items);

  ParseContext& context_;
  Parsers& parsers_;
  // What is here is no declaration, and that is reported; the same of what was before it.
  bool lost_ = false;
  bool was_lost_ = false;
};

}  // namespace kiln::hlsl::syntax
