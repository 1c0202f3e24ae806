// SPDX-License-Identifier: MIT
// Expressions, types and what stands at declarators as text. Private to the dump.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/token_stream.h"

namespace kiln::hlsl::syntax {

class DumpText {
 public:
  DumpText(const TokenStream& stream, const Ast& ast) : stream_(stream), ast_(ast) {}

  std::string_view Token(uint32_t token) const { return stream_.Text(stream_.tokens[token]); }
  std::string Expression(const ExprRange& range) const;      // "" if there is none
  std::string TypeText(uint32_t row) const;                  // with its modifiers in front
  std::string VariableText(const Variable& variable) const;  // without its type and attributes
  std::string Places(const RowRange& rows) const;            // " : SV_Position"
  std::string Attributes(const RowRange& rows) const;        // "[unroll 4] "
  std::string Path(uint32_t list, uint32_t name) const;      // "A::f"

 private:
  std::string Extents(uint32_t list) const;
  std::string Row(const ExprRange& range, std::vector<std::string>& texts, uint32_t row) const;
  std::string Literal(const Expr& e) const;

  const TokenStream& stream_;
  const Ast& ast_;
};

}  // namespace kiln::hlsl::syntax
