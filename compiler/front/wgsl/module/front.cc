// SPDX-License-Identifier: MIT
// The pipeline of the front end in one function: lex, parse, check, lower. Each stage is a pure
// function of the one before, and the dumps below stop behind one of them. Errors end it before
// checking, so a module never comes of a source that has any.
#include "compiler/front/wgsl/module/front.h"

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/check/check.h"
#include "compiler/front/wgsl/lex/lex.h"
#include "compiler/front/wgsl/lower/module.h"
#include "compiler/front/wgsl/syntax/dump.h"
#include "compiler/front/wgsl/syntax/parse.h"

namespace kiln::wgsl::front {
namespace {

void Append(std::vector<Diagnostic>& all, std::vector<Diagnostic>&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// The message has no place in the source: it is about all of it.
bool IsTooLarge(size_t size, size_t limit, std::string_view what, uint32_t ordinal,
                std::vector<Diagnostic>& diagnostics) {
  if (size <= limit) {
    return false;
  }
  diagnostics.push_back(Make(Code::kWgsl1007, {.module = ordinal, .bytes = {0, 0}})
                            .With("what", what)
                            .With("limit", limit));
  return true;
}

}  // namespace

// Each stage runs only if those before it found nothing wrong.
// Limits are looked at between stages, since each makes more rows than the one before: of the
// tree before it is checked, of both before it is lowered.
Diagnosed<ir::Module> Parse(const SourceFile& source, const Hash128& fingerprint, uint32_t ordinal,
                            const LanguageLimits& limits) {
  Diagnosed<ir::Module> out;
  if (IsTooLarge(source.text.size(), limits.source_bytes, "source in bytes", ordinal,
                 out.diagnostics)) {
    return out;
  }
  LexResult lexed = Lex(source.text, ordinal, limits);
  syntax::ParseResult parsed = syntax::Parse(lexed.stream, ordinal, limits);
  Append(out.diagnostics, std::move(lexed.diagnostics));
  Append(out.diagnostics, std::move(parsed.diagnostics));
  // A lexed text is parsed even with errors, for a wrong literal hides no other mistake.
  const size_t nodes = parsed.ast.exprs.size() + parsed.ast.stmts.size() + parsed.ast.decls.size();
  if (!HasErrors(out.diagnostics) &&
      !IsTooLarge(nodes, limits.nodes, "syntax tree", ordinal, out.diagnostics)) {
    // Tables of the stages below are charged as they grow and gone when there is a module.
    const ChargedMemory tables;
    CheckResult checked = Check(lexed.stream, parsed.ast, ordinal, limits);
    Append(out.diagnostics, std::move(checked.diagnostics));
    if (!HasErrors(out.diagnostics) && !IsTooLarge(nodes + checked.unit.exprs.size(), limits.nodes,
                                                   "checked tree", ordinal, out.diagnostics)) {
      out.value = Lower(checked.unit, lexed.stream, fingerprint);
    }
  }
  // In the order of the source, whatever stage found them; the same message twice is one.
  SortAndMerge(out.diagnostics);
  return out;
}

Diagnosed<std::string> DumpTokens(const SourceFile& source, uint32_t ordinal) {
  LexResult lexed = Lex(source.text, ordinal);
  Diagnosed<std::string> out{.value = {}, .diagnostics = std::move(lexed.diagnostics)};
  if (!HasErrors(out.diagnostics)) {
    out.value = syntax::TokensText(lexed.stream);
  }
  SortAndMerge(out.diagnostics);
  return out;
}

Diagnosed<std::string> DumpAst(const SourceFile& source, uint32_t ordinal) {
  LexResult lexed = Lex(source.text, ordinal);
  syntax::ParseResult parsed = syntax::Parse(lexed.stream, ordinal);
  Diagnosed<std::string> out{.value = {}, .diagnostics = std::move(lexed.diagnostics)};
  Append(out.diagnostics, std::move(parsed.diagnostics));
  if (!HasErrors(out.diagnostics)) {
    out.value = syntax::AstText(lexed.stream, parsed.ast);
  }
  SortAndMerge(out.diagnostics);
  return out;
}

}  // namespace kiln::wgsl::front
