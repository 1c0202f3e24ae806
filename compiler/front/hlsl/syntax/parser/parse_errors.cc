// SPDX-License-Identifier: MIT
// One mistake makes many tokens unexpected. So an error counts for the smallest construct around
// it, and only the first of each construct is kept: the flag `reported_` is the construct's, saved
// and restored around nested ones.
#include "compiler/front/hlsl/syntax/parser/parse_errors.h"

#include <algorithm>
#include <utility>

namespace kiln::hlsl::syntax {

// A construct begins: nothing was reported in it. If far too much was found already, the parser
// is sent to the end of the source.
ParseErrors::Construct::Construct(ParseErrors& errors)
    : errors_(errors), outer_reported_(errors.reported_), outer_begin_(errors.begin_) {
  errors.reported_ = false;
  errors.begin_ = errors.at_.pos();
  // A source with so many errors is not worth reading on: every rule stops at the end.
  if (errors.count_.IsFull()) {
    errors.at_.MoveTo(errors.at_.last());
    errors.end_reported_ = true;
  }
}

Location ParseErrors::At(uint32_t token) const {
  return at_.stream().Where(at_.stream().tokens[token].origin);
}

// Only errors count; a warning hides nothing.
void ParseErrors::SetEarlier(std::span<const Diagnostic> earlier) {
  for (const Diagnostic& d : earlier) {
    if (d.severity == Severity::kError) {
      earlier_.push_back(d.primary.bytes.begin);
    }
  }
  std::ranges::sort(earlier_);
}

// What the preprocessor refused is no token, so something is missing between the first token of the
// construct and the one where the parser noticed.
bool ParseErrors::HoldsEarlier(uint32_t last) const {
  const auto offset = [&](uint32_t token) {
    return at_.stream().origins.WrittenAt(at_.stream().tokens[token].origin).begin;
  };
  if (earlier_.empty()) {
    return false;
  }
  const auto found = std::ranges::lower_bound(earlier_, offset(begin_));
  return found != earlier_.end() && *found <= offset(last);
}

// Returns the diagnostic, so that the caller may add to it; null if it is not kept. Warnings
// are always kept.
Diagnostic* ParseErrors::Report(Code code, uint32_t first, uint32_t last,
                                std::initializer_list<Argument> arguments) {
  const bool is_error = CodeSeverity(code) == Severity::kError;
  if (is_error && (std::exchange(reported_, true) || HoldsEarlier(last))) {
    return nullptr;
  }
  if (!count_.Take(CodeSeverity(code))) {
    return nullptr;
  }
  const std::vector<Token>& tokens = at_.stream().tokens;
  Diagnostic& made =
      found_.emplace_back(at_.stream().MakeAt(code, tokens[first].origin, tokens[last].origin));
  made.arguments = arguments;
  return &made;
}

// The end of the file ends everything that is open; only the innermost says so.
bool ParseErrors::FailHere(std::string_view what) {
  if (at_.AtEnd() && std::exchange(end_reported_, true)) {
    reported_ = true;
    return false;
  }
  return Fail(Code::kHlsl1040, at_.pos(), {{"what", what}, {"text", at_.TextOfToken(at_.pos())}});
}

std::string ParseErrors::Describe(const ConstructName& what) const {
  std::string out(what.kind);
  if (what.name != kNone) {
    out += " '" + at_.TextOfToken(what.name) + "'";
  }
  return out;
}

// At the end of the file many things are not closed; the innermost says it, with the place
// where it was opened.
bool ParseErrors::FailUnclosed(TokenKind kind, const ConstructName& what, uint32_t open,
                               uint32_t before) {
  if (at_.AtEnd() && std::exchange(end_reported_, true)) {
    reported_ = true;
    return false;
  }
  const std::string described = Describe(what);
  if (Diagnostic* made = Report(Code::kHlsl1041, before, before,
                                {{"what", described},
                                 {"token", TokenKindText(kind)},
                                 {"text", at_.TextOfToken(before)}})) {
    std::move(*made).Label(LabelKind::kOpenedHere, At(open), {{"what", described}});
  }
  return false;
}

bool ParseErrors::Expect(TokenKind kind, const ConstructName& after) {
  if (at_.Accept(kind)) {
    return true;
  }
  return FailHere("'" + std::string(TokenKindText(kind)) + "' after " + Describe(after));
}

bool ParseErrors::ExpectClose(TokenKind kind, const ConstructName& what, uint32_t open) {
  return at_.Accept(kind) || FailUnclosed(kind, what, open, at_.pos());
}

// A line that lacks its ';' is told from one that goes on wrongly: what follows on a line of its
// own starts something new, so nothing has to be skipped. The place is behind the last token then.
bool ParseErrors::ExpectSemicolon(const ConstructName& after) {
  if (at_.Accept(TokenKind::kSemicolon)) {
    return true;
  }
  // Tokens that begin a statement or declaration: a name, a bracket of attributes, most
  // keywords.
  const TokenKind kind = at_.Kind();
  const bool starts = kind == TokenKind::kIdentifier || kind == TokenKind::kCloseBrace ||
                      kind == TokenKind::kOpenBracket ||
                      (kind >= TokenKind::kBreak && kind <= TokenKind::kExport);
  if (!at_.OnNewLine() || !starts) {
    return FailHere("';' after " + Describe(after));
  }
  // The place is empty and behind the last token, and a fix for editors stands there.
  const uint32_t last = at_.Previous();
  if (Diagnostic* made = Report(
          Code::kHlsl1040, last, last,
          {{"what", "';' after " + Describe(after)}, {"text", at_.TextOfToken(at_.pos())}})) {
    made->primary.bytes.begin = made->primary.bytes.end;
    made->fix = Fix{.form = Fix::Form::kReplace, .where = made->primary, .text = ";"};
  }
  return true;
}

bool ParseErrors::ExpectName(std::string_view what, uint32_t* name) {
  if (at_.At(TokenKind::kIdentifier)) {
    *name = at_.Advance();
    return true;
  }
  return FailHere(what);
}

// HLSL8004 for a family that this build lacks (spec/hlsl 2).
void ParseErrors::RefuseFamily(uint32_t first, uint32_t last, std::string_view family) {
  Report(Code::kHlsl8004, first, last, {{"text", at_.TextOfToken(first)}, {"family", family}});
}

// In 2018 the syntax never exists, so it is HLSL1045; in 2021 it does and is not built
// (spec/hlsl 5.5).
void ParseErrors::RefuseDialect(uint32_t first, uint32_t last, std::string_view family) {
  if (version_ == Version::k2021) {
    RefuseFamily(first, last, family);
    return;
  }
  Report(Code::kHlsl1045, first, last, {{"text", at_.TextOfToken(first)}, {"version", "2021"}});
}

void ParseErrors::IgnoreEffect(uint32_t token) {
  Report(Code::kHlsl1044, token, token, {{"text", at_.TextOfToken(token)}});
}

}  // namespace kiln::hlsl::syntax
