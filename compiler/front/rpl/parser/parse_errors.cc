// SPDX-License-Identifier: MIT
// One mistake makes many tokens unexpected. So an error counts for the smallest construct around
// it, and only the first of each construct is kept: the flag `reported_` is the construct's, saved
// and restored around nested ones. The lexer's errors were found before there were constructs; if
// there are any, the spans of all constructs are kept and the selection is made once, at the end.
#include "compiler/front/rpl/parser/parse_errors.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace kiln::rpl {
namespace {

// Keeps the first error of every construct; the lexer knows no constructs, so its errors come on
// top. Constructs nest; an error belongs to the smallest one around it.
void KeepFirstOfEachConstruct(std::vector<Diagnostic>& found, std::vector<Span> constructs) {
  // Errors by place, constructs by their beginning, outer ones first. One pass over both keeps a
  // stack of the constructs around the current error; sorting is what it costs.
  std::ranges::sort(found, {}, [](const Diagnostic& d) { return d.primary.bytes.begin; });
  std::ranges::sort(constructs, [](Span a, Span b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::pair<uint32_t, bool>> open;  // end of each construct around, has an error
  size_t next = 0;
  std::erase_if(found, [&](const Diagnostic& d) {
    const uint32_t at = d.primary.bytes.begin;
    for (; next < constructs.size() && constructs[next].begin <= at; ++next) {
      while (!open.empty() && open.back().first <= constructs[next].begin) {
        open.pop_back();
      }
      open.emplace_back(constructs[next].end, false);
    }
    while (!open.empty() && open.back().first <= at) {
      open.pop_back();
    }
    // Warnings are no consequence of a mistake, so all are kept.
    if (d.severity != Severity::kError || open.empty()) {
      return false;
    }
    return std::exchange(open.back().second, true);
  });
}

}  // namespace

ParseErrors::Construct::Construct(ParseErrors& errors)
    : errors_(errors), outer_reported_(errors.reported_), begin_(errors.at_.Peek().begin) {
  errors.reported_ = false;
  // A source with so many errors is not worth reading on. The cursor goes to the end, where every
  // rule stops, and nothing more is reported.
  if (errors.count_.IsFull()) {
    errors.at_.MoveTo(static_cast<uint32_t>(errors.at_.lexed().tokens.size()) - 1);
    errors.end_reported_ = true;
  }
}

ParseErrors::Construct::~Construct() {
  errors_.reported_ = outer_reported_;
  const TokenCursor& at = errors_.at_;
  if (!at.lexed().diagnostics.empty()) {
    // a missing ';' is reported right behind the last token, and at the end of the file
    const bool at_end = at.Kind() == TokenKind::kEnd;
    const uint32_t end = (at_end ? at.Peek().begin : at.SpanOf(at.Previous()).end) + 1;
    errors_.constructs_.push_back({begin_, std::max(begin_ + 1, end)});
  }
}

void ParseErrors::Finish() {
  const LexResult& lexed = at_.lexed();
  if (!lexed.diagnostics.empty()) {
    found_.insert(found_.end(), lexed.diagnostics.begin(), lexed.diagnostics.end());
    KeepFirstOfEachConstruct(found_, std::move(constructs_));
  }
}

Diagnostic* ParseErrors::Report(Code code, Span span, std::initializer_list<Argument> arguments) {
  const bool is_error = CodeSeverity(code) == Severity::kError;
  // Only errors are bound to a construct; a warning is always told.
  if (is_error && std::exchange(reported_, true)) {
    return nullptr;
  }
  if (!count_.Take(CodeSeverity(code))) {
    return nullptr;
  }
  Diagnostic& made = found_.emplace_back(Make(code, At(span)));
  made.arguments = arguments;
  return &made;
}

// The one place where "this token is not what is due" becomes a message. Two tokens are special:
// one that the lexer has reported already needs no second error, and the end of the file says what
// is unfinished instead of what is missing.
bool ParseErrors::FailHere(Code code, std::initializer_list<Argument> arguments) {
  const Token& token = at_.Peek();
  if (token.kind == TokenKind::kError) {
    reported_ = true;  // by the lexer
    return false;
  }
  if (token.kind == TokenKind::kEnd) {
    if (std::exchange(end_reported_, true)) {
      return false;
    }
    const std::string what = Describe(owner_);
    Diagnostic* made = Report(Code::kRpl1112, token.span(), {{"what", what}});
    if (made != nullptr && owner_.kind != "file") {
      std::move(*made).Label(LabelKind::kOpenedHere, At(owner_span_), {{"what", what}});
    }
    return false;
  }
  if (Diagnostic* made = Report(code, token.span(), arguments)) {
    made->arguments.emplace_back("text", at_.TextOfToken(at_.pos()));
  }
  return false;
}

std::string ParseErrors::Describe(const ConstructName& what) const {
  std::string out(what.kind);
  if (what.name != kNone) {
    out += " '" + at_.TextOfToken(what.name) + "'";
  }
  return out;
}

void ParseErrors::SetOwner(const ConstructName& what) {
  owner_ = what;
  owner_span_ = at_.SpanOf(what.name == kNone ? at_.pos() : what.name);
}

bool ParseErrors::Expect(TokenKind kind, const ConstructName& after) {
  if (at_.Accept(kind)) {
    return true;
  }
  return FailHere(Code::kRpl1113, {{"token", TokenKindText(kind)}, {"what", Describe(after)}});
}

bool ParseErrors::ExpectClose(TokenKind kind, const ConstructName& what, uint32_t open) {
  if (at_.Accept(kind)) {
    return true;
  }
  const size_t before = found_.size();
  FailHere(Code::kRpl1111, {{"token", TokenKindText(kind)}, {"what", Describe(what)}});
  if (found_.size() > before && found_.back().code == Code::kRpl1111) {
    std::move(found_.back())
        .Label(LabelKind::kOpenedHere, At(at_.SpanOf(open)), {{"what", Describe(what)}});
  }
  return false;
}

// A line that lacks its ';' is told from one that goes on wrongly: what follows on a line of its
// own starts something new, so nothing has to be skipped.
bool ParseErrors::ExpectSemicolon(const ConstructName& after) {
  if (at_.Accept(TokenKind::kSemicolon)) {
    return true;
  }
  if (at_.OnNewLine() && (at_.Kind() == TokenKind::kIdentifier || at_.Kind() == TokenKind::kVoid)) {
    FailSemicolon(after);
    return true;
  }
  return FailHere(Code::kRpl1110, {{"what", Describe(after)}});
}

// It is missing behind the last token: what follows is another construct.
void ParseErrors::FailSemicolon(const ConstructName& after) {
  const uint32_t end = at_.SpanOf(at_.Previous()).end;
  if (Diagnostic* made =
          Report(Code::kRpl1110, {end, end},
                 {{"what", Describe(after)}, {"text", at_.TextOfToken(at_.pos())}})) {
    Propose(*made, {end, end}, ";");
  }
}

bool ParseErrors::CloseExpression(TokenKind kind, const ConstructName& what, uint32_t open) {
  return at_.Kind() != kind && at_.StartsOperand() ? FailOperator() : ExpectClose(kind, what, open);
}

bool ParseErrors::EndExpression(const ConstructName& what) {
  if (at_.StartsOperand() && !at_.OnNewLine()) {
    return FailOperator();
  }
  if (ExpectSemicolon(what)) {
    return true;
  }
  const bool extra = at_.Kind() == TokenKind::kCloseBrace && at_.Kind(1) == TokenKind::kSemicolon &&
                     at_.lexed().tokens[at_.Previous()].kind == TokenKind::kCloseBrace &&
                     !at_.OnNewLine();
  at_.Skip(extra ? 1 : 0);  // one '}' too many behind a constructor ends no scope
  return false;
}

bool ParseErrors::FailOperator() {
  if (at_.Kind() == TokenKind::kNot || at_.Kind() == TokenKind::kComplement) {
    return FailHere(Code::kRpl1171);
  }
  const bool name = at_.Kind() == TokenKind::kIdentifier;
  const bool string = at_.Kind() == TokenKind::kString;
  return FailHere(Code::kRpl1170, {{"kind", name ? "name" : string ? "string" : "literal"}});
}

bool ParseErrors::ExpectName(uint32_t* name) {
  if (at_.Kind() == TokenKind::kIdentifier) {
    *name = at_.Advance();
    return true;
  }
  // A reserved word was meant as a name: the error says so, and it is taken as one, so that its
  // declaration is read on.
  if (IsName(at_.Kind())) {
    Report(Code::kRpl1106, at_.Peek().span(), {{"name", at_.TextOfToken(at_.pos())}});
    *name = at_.Advance();
    return true;
  }
  const size_t before = found_.size();
  FailHere(Code::kRpl1109, {{"found", at_.TextOfToken(at_.pos())}});
  if (found_.size() > before && found_.back().code == Code::kRpl1109) {
    // The argument `found` is what should have been a name; the text that FailHere added would
    // repeat it, so it becomes the token before, behind which the name is due.
    found_.back().arguments[1].value = at_.TextOfToken(at_.Previous());
  }
  return false;
}

// A word becomes an inbuilt function with the version that has it: older sources may use it as a
// name.
void ParseErrors::CheckDeclaredName(uint32_t name) {
  const Token& token = at_.lexed().tokens[name];
  if (token.kind != TokenKind::kIdentifier) {
    return;
  }
  const std::optional<InbuiltFunction>& function = at_.lexed().symbols[token.value].word.function;
  if (function && function->version <= version_) {
    Report(Code::kRpl1107, token.span(), {{"name", at_.TextOfToken(name)}});
  }
}

// One more than the limit is reported, so there is one message for each function.
void ParseErrors::CountLocal(uint32_t name) {
  if (++locals_ == max_locals_ + 1) {
    Report(Code::kLim1001, at_.SpanOf(name),
           {{"what", Describe(owner_)},
            {"parts", "variables, arguments and aliases"},
            {"limit", max_locals_}});
  }
}

// Said once: one line mends all of it.
void ParseErrors::NeedVersion2(uint32_t token) {
  if (version_ >= 2 || needs_version_2_ || reported_) {
    return;
  }
  needs_version_2_ = true;
  // The header goes in front of everything but a byte order mark, which must stay the first thing.
  const uint32_t begin = at_.text().starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  Diagnostic* made = Report(Code::kRpl1192, at_.SpanOf(token), {{"text", at_.TextOfToken(token)}});
  if (made != nullptr && !has_header_) {
    // A source that has a header gets no second one; its author has to change it.
    Propose(*made, {begin, begin}, "rpl 2;\n");
  }
}

void ParseErrors::Suggest(Diagnostic& found, std::string_view meant) const {
  if (!meant.empty()) {
    Propose(found, at_.Peek().span(), meant, Confidence::kGuess);
    std::move(found).Note(NoteKind::kSimilarName, {{"name", meant}});
  }
}

void ParseErrors::Propose(Diagnostic& found, Span where, std::string_view text,
                          Confidence confidence) const {
  found.fix = Fix{.form = Fix::Form::kReplace,
                  .confidence = confidence,
                  .where = At(where),
                  .text = std::string(text)};
}

// The '}' of `what` is missing before the current token.
bool ParseErrors::FailUnclosed(const ConstructName& what) {
  const size_t before = found_.size();
  FailHere(Code::kRpl1111,
           {{"token", TokenKindText(TokenKind::kCloseBrace)}, {"what", Describe(what)}});
  if (found_.size() > before && found_.back().code == Code::kRpl1111 && what.name != kNone) {
    std::move(found_.back())
        .Label(LabelKind::kOpenedHere, At(at_.SpanOf(what.name)), {{"what", Describe(what)}});
  }
  return false;
}

}  // namespace kiln::rpl
