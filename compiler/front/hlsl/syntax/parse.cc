// SPDX-License-Identifier: MIT
// The face of the parser. Errors of the preprocessor are handed in, for a statement that lost a
// token there is wrong for that reason and must not be reported twice.
#include "compiler/front/hlsl/syntax/parse.h"

#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {
namespace {

// All rows that a module keeps of its tree, of whatever kind.
size_t RowCount(const Ast& ast) {
  return ast.decls.size() + ast.variables.size() + ast.enumerators.size() + ast.types.size() +
         ast.arguments.size() + ast.places.size() + ast.attributes.size() + ast.stmts.size() +
         ast.exprs.size();
}

}  // namespace

ParseResult Parse(const TokenStream& stream, std::span<const std::string_view> texts,
                  Version version, const LanguageLimits& limits,
                  std::span<const Diagnostic> earlier) {
  ParseResult out;
  const size_t tokens = stream.tokens.size();
  // Room for usual sources: half as many expressions as tokens, a statement for twelve.
  out.ast.exprs.reserve(tokens / 2 + 16);
  out.ast.stmts.reserve(tokens / 12 + 8);
  out.ast.lists.reserve(tokens / 8 + 8);
  ParseContext context(stream, texts, version, limits, out);
  // What the preprocessor said counts as an error of the statement it stands in, so that
  // nothing is said twice.
  context.errors.SetEarlier(earlier);
  Parsers(context).declarations.Unit();
  // Checked behind the parser, not in it: rows are a small multiple of tokens, which have a
  // limit.
  if (RowCount(out.ast) > limits.nodes) {
    out.diagnostics.push_back(stream.MakeAt(Code::kLim1001, stream.tokens.front().origin)
                                  .With("what", "source")
                                  .With("parts", "rows of its syntax tree")
                                  .With("limit", limits.nodes));
  }
  SortAndMerge(out.diagnostics);
  return out;
}

}  // namespace kiln::hlsl::syntax
