// SPDX-License-Identifier: MIT
#include "compiler/front/rpl/front.h"

#include <string>
#include <utility>

#include "compiler/front/rpl/dump.h"
#include "compiler/front/rpl/lex.h"
#include "compiler/front/rpl/lower.h"
#include "compiler/front/rpl/parse.h"

namespace kiln::rpl {
namespace {

size_t NodesOf(const Ast& ast) {
  return ast.decls.size() + ast.fields.size() + ast.stmts.size() + ast.exprs.size();
}

size_t NodesOf(const ir::ModuleView& view) {
  return view.options.size() + view.decls.size() + view.members.size() + view.locals.size() +
         view.cexprs.size() + view.insts.size() + view.blocks.size();
}

// The limit is about the source as a whole, so the message has no place in it.
Diagnostic TooManyNodes(uint32_t ordinal, const LanguageLimits& limits) {
  return Make(Code::kLim1001, {.module = ordinal, .bytes = {0, 0}})
      .With("what", "source")
      .With("parts", "syntax and IR nodes")
      .With("limit", limits.nodes);
}

}  // namespace

// The nodes are counted when they are there: their number is bounded by that of the tokens, and a
// source that has too many pays for them once.
Diagnosed<ir::Module> Parse(const SourceFile& source, const Hash128& fingerprint, uint32_t ordinal,
                            const LanguageLimits& limits) {
  const LexResult lexed = Lex(source.text, ordinal, limits);
  ParseResult parsed = ParseTokens(source.text, lexed, ordinal, limits);
  Diagnosed<ir::Module> out{.value = {}, .diagnostics = std::move(parsed.diagnostics)};
  if (HasErrors(out.diagnostics)) {
    return out;
  }
  // The tree is counted before it is lowered, and tree and module together behind that: a source
  // never pays for a module that is thrown away because its tree alone is too large.
  const size_t nodes = NodesOf(parsed.ast);
  if (nodes <= limits.nodes) {
    out.value = Lower(source.text, lexed, parsed.ast, fingerprint);
  }
  if (!out.value.has_value() || nodes + NodesOf(out.value->view()) > limits.nodes) {
    out.value.reset();
    out.diagnostics.push_back(TooManyNodes(ordinal, limits));
    SortAndMerge(out.diagnostics);
  }
  return out;
}

// A wrong source has tokens as well, and the dump is asked for when something is wrong.
Diagnosed<std::string> DumpTokens(const SourceFile& source, uint32_t ordinal) {
  const LexResult lexed = Lex(source.text, ordinal);
  return {.value = DumpTokens(source.text, lexed), .diagnostics = lexed.diagnostics};
}

Diagnosed<std::string> DumpAst(const SourceFile& source, uint32_t ordinal) {
  const LexResult lexed = Lex(source.text, ordinal);
  ParseResult parsed = ParseTokens(source.text, lexed, ordinal);
  Diagnosed<std::string> out{.value = {}, .diagnostics = std::move(parsed.diagnostics)};
  if (!HasErrors(out.diagnostics)) {
    out.value = DumpAst(source.text, lexed, parsed.ast);
  }
  return out;
}

}  // namespace kiln::rpl
