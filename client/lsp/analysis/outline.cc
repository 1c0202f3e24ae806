// SPDX-License-Identifier: MIT
// Questions about the tree of one source: which declaration is at a byte, what its head says, what
// the comment above it says. All spans are of the mended text, which has the same offsets as the
// text as typed.
#include "client/lsp/analysis/outline.h"

#include <algorithm>
#include <span>

#include "compiler/base/threads/stop.h"

namespace kiln::lsp {
namespace {

using rpl::TokenKind;

// The end counts as inside, because a cursor behind the last letter of a name means that name.
bool Covers(Span span, uint32_t offset) { return span.begin <= offset && offset <= span.end; }

// The tokens that begin at the byte or behind it; they are in the order of the text.
std::span<const rpl::Token> TokensFrom(const Source& source, uint32_t offset) {
  const std::vector<rpl::Token>& tokens = source.mended_tokens().tokens;
  const auto first = std::ranges::lower_bound(tokens, offset, {},
                                              [](const rpl::Token& token) { return token.begin; });
  return {first, tokens.end()};
}

}  // namespace

const rpl::Decl* DeclAt(const Source& source, uint32_t offset) {
  // Declarations do not nest and are in the order of the text, so a binary search finds the one
  // around a byte. Fields and statements below are few enough for a walk.
  const std::vector<rpl::Decl>& decls = source.ast().decls;
  const auto behind = std::ranges::upper_bound(
      decls, offset, {}, [](const rpl::Decl& decl) { return decl.span.begin; });
  if (behind == decls.begin()) {
    return nullptr;
  }
  const rpl::Decl& decl = *(behind - 1);
  return Covers(decl.span, offset) ? &decl : nullptr;
}

// An empty span for a token that is not there, which covers no text.
Span SpanOfToken(const Source& source, uint32_t token) {
  const std::vector<rpl::Token>& tokens = source.mended_tokens().tokens;
  return token < tokens.size() ? tokens[token].span() : Span{};
}

// Names of several tokens, as those of settings, count from the first to the last.
Span NameSpan(const Source& source, const rpl::Decl& decl) {
  const Span first = SpanOfToken(source, decl.name);
  return decl.name_last == rpl::kNone ? first : Cover(first, SpanOfToken(source, decl.name_last));
}

std::string_view NameText(const Source& source, const rpl::Decl& decl) {
  return TextOf(source.mended_text(), NameSpan(source, decl));
}

// Only where the name begins: this is the other direction of NameLocation and not a search around a
// cursor.
const rpl::Decl* DeclNamedAt(const Source& source, uint32_t offset) {
  const rpl::Decl* decl = DeclAt(source, offset);
  return decl != nullptr && NameSpan(source, *decl).begin == offset ? decl : nullptr;
}

const rpl::Field* FieldNamedAt(const Source& source, uint32_t offset) {
  const rpl::Decl* decl = DeclAt(source, offset);
  for (uint32_t i = 0; decl != nullptr && i < decl->field_count; ++i) {
    const rpl::Field& field = source.ast().fields[decl->first_field + i];
    if (SpanOfToken(source, field.name).begin == offset) {
      return &field;
    }
  }
  return nullptr;
}

// Put together from tokens, so that comments between them are left out. An outline asks for each of
// its rows, so tokens in front of the bytes are skipped by a search.
std::string OneLine(const Source& source, Span bytes) {
  std::string text;
  uint32_t end = 0;
  for (const rpl::Token& token : TokensFrom(source, bytes.begin)) {
    if (token.end() > bytes.end || token.kind == TokenKind::kEnd) {
      break;
    }
    CheckStop();
    // Any white space or comment between two tokens becomes one space; tokens that touch stay
    // together.
    text += !text.empty() && token.begin > end ? " " : "";
    text += TextOf(source.mended_text(), token.span());
    end = token.end();
  }
  return text;
}

// The declaration without its body or fields, in one line, as one would quote it.
std::string HeadText(const Source& source, const rpl::Decl& decl) {
  Span head = decl.span;
  const bool has_body = decl.form == rpl::DeclForm::kFunction;
  const bool has_fields = decl.field_count > 0 && !has_body;
  // The head ends in front of the first brace behind the name. A brace before the name cannot be
  // the body's: conditions and array sizes have none.
  if (has_body || has_fields) {
    const auto behind = TokensFrom(source, NameSpan(source, decl).end);
    const auto brace = std::ranges::find_if(
        behind, [](const rpl::Token& token) { return token.kind == TokenKind::kOpenBrace; });
    if (brace != behind.end()) {
      head.end = brace->begin;
    }
  }
  return OneLine(source, head);
}

// A blank line ends the comment, so a licence at the top of the file is not taken for a
// description.
std::string CommentAbove(const Source& source, uint32_t offset) {
  const std::string& text = source.file().text;
  std::vector<std::string_view> lines;
  // Upwards from the line above, until a line is no comment. Read from the text as it is, since
  // comments are not tokens.
  for (uint32_t line = source.lines().LineOf(offset); line > 0; --line) {
    std::string_view above = TextOf(text, source.lines().LineSpan(text, line - 1));
    above.remove_prefix(std::min(above.find_first_not_of(" \t"), above.size()));
    if (!above.starts_with("//")) {
      break;
    }
    above.remove_prefix(2);
    above.remove_prefix(above.starts_with(' ') ? 1 : 0);
    lines.push_back(above);
  }
  std::string comment;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    comment += comment.empty() ? "" : "\n";
    comment += *line;
  }
  return comment;
}

// Every part of the file that a condition can remove, sorted by place. Parts nest, as a field does
// in its block.
std::vector<ConditionalPart> ConditionalParts(const Source& source) {
  const rpl::Ast& ast = source.ast();
  std::vector<ConditionalPart> parts;
  const auto add = [&](Span whole, const rpl::ExprRange& condition) {
    if (!condition.empty()) {
      parts.push_back({.whole = whole, .condition = ast.exprs[condition.root].span});
    }
  };
  for (const rpl::Decl& decl : ast.decls) {
    add(decl.span, decl.condition);
  }
  for (const rpl::Field& field : ast.fields) {
    add(field.span, field.condition);
  }
  for (const rpl::Stmt& stmt : ast.stmts) {
    // Other statements have a condition as well, an `if` for example, but one of run time. Only
    // these two can be missing from a variant.
    if (stmt.kind == rpl::StmtKind::kScope || stmt.kind == rpl::StmtKind::kAlias) {
      add(stmt.span, stmt.condition);
    }
  }
  // The outer part comes before the inner one where both begin at one byte: the longer one first.
  std::ranges::sort(parts, [](const ConditionalPart& a, const ConditionalPart& b) {
    return std::tuple(a.whole.begin, b.whole.end, a.condition.begin) <
           std::tuple(b.whole.begin, a.whole.end, b.condition.begin);
  });
  return parts;
}

}  // namespace kiln::lsp
