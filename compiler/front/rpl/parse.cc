// SPDX-License-Identifier: MIT
// The cursor, errors and recovery of the parser, and the selection of what is reported.
#include "compiler/front/rpl/parse.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/front/common/identifier.h"
#include "compiler/front/rpl/advise.h"
#include "compiler/front/rpl/parser.h"

namespace kiln::rpl {
namespace {

// Keeps the first error of every construct; the lexer knows no constructs, so its errors come on
// top. Constructs nest; an error belongs to the smallest one around it.
void KeepFirstOfEachConstruct(std::vector<Diagnostic>& found, std::vector<Span> constructs) {
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
    if (d.severity != Severity::kError || open.empty()) {
      return false;
    }
    return std::exchange(open.back().second, true);
  });
}

}  // namespace

ParseResult ParseTokens(std::string_view text, const LexResult& lexed, uint32_t module,
                        const LanguageLimits& limits) {
  ParseResult out;
  out.ast.exprs.reserve(lexed.tokens.size() / 2 + 16);
  out.ast.stmts.reserve(lexed.tokens.size() / 12 + 8);
  out.ast.lists.reserve(lexed.tokens.size() / 8 + 8);
  Parser(text, lexed, module, limits, out).File();
  SortAndMerge(out.diagnostics);
  AddAdvice(text, lexed, out.ast.version, out.diagnostics);
  SortAndMerge(out.diagnostics);  // with what was added
  return out;
}

// --- constructs ----------------------------------------------------------------------------------

Parser::Construct::Construct(Parser& parser)
    : parser_(parser), outer_reported_(parser.reported_), begin_(parser.Peek().begin) {
  parser.reported_ = false;
  if (parser.found_.size() >= kMaxFound) {
    parser.pos_ = static_cast<uint32_t>(parser.lexed_.tokens.size()) - 1;
    parser.end_reported_ = true;
  }
}

Parser::Construct::~Construct() {
  parser_.reported_ = outer_reported_;
  if (!parser_.lexed_.diagnostics.empty()) {
    // a missing ';' is reported right behind the last token, and at the end of the file
    const bool at_end = parser_.Kind() == TokenKind::kEnd;
    const uint32_t end =
        (at_end ? parser_.Peek().begin : parser_.SpanOf(parser_.Previous()).end) + 1;
    parser_.constructs_.push_back({begin_, std::max(begin_ + 1, end)});
  }
}

void Parser::File() {
  option_of_symbol_.assign(lexed_.symbols.size(), kNone);
  if (KeywordAt() == Keyword::kRpl && Kind(1) == TokenKind::kDecimal) {
    VersionHeader();
  }
  while (Kind() != TokenKind::kEnd) {
    CheckStop();
    Declaration();
  }
  if (!lexed_.diagnostics.empty()) {
    found_.insert(found_.end(), lexed_.diagnostics.begin(), lexed_.diagnostics.end());
    KeepFirstOfEachConstruct(found_, std::move(constructs_));
  }
}

const Word& Parser::WordAt(uint32_t ahead) const { return lexed_.symbols[Peek(ahead).value].word; }

bool Parser::OnNewLine() const { return pos_ == 0 || StartsLine(pos_); }

// --- errors --------------------------------------------------------------------------------------

Diagnostic* Parser::Report(Code code, Span span, std::initializer_list<Argument> arguments) {
  const bool is_error = CodeSeverity(code) == Severity::kError;
  if (is_error && std::exchange(reported_, true)) {
    return nullptr;
  }
  Diagnostic& made = found_.emplace_back(Make(code, At(span)));
  made.arguments = arguments;
  return &made;
}

bool Parser::FailHere(Code code, std::initializer_list<Argument> arguments) {
  const Token& token = Peek();
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
    made->arguments.emplace_back("text", TextOfToken(pos_));
  }
  return false;
}

std::string Parser::Describe(const ConstructName& what) const {
  std::string out(what.kind);
  if (what.name != kNone) {
    out += " '" + TextOfToken(what.name) + "'";
  }
  return out;
}

void Parser::SetOwner(const ConstructName& what) {
  owner_ = what;
  owner_span_ = SpanOf(what.name == kNone ? pos_ : what.name);
}

bool Parser::Expect(TokenKind kind, const ConstructName& after) {
  if (Accept(kind)) {
    return true;
  }
  return FailHere(Code::kRpl1113, {{"token", TokenKindText(kind)}, {"what", Describe(after)}});
}

bool Parser::ExpectClose(TokenKind kind, const ConstructName& what, uint32_t open) {
  if (Accept(kind)) {
    return true;
  }
  const size_t before = found_.size();
  FailHere(Code::kRpl1111, {{"token", TokenKindText(kind)}, {"what", Describe(what)}});
  if (found_.size() > before && found_.back().code == Code::kRpl1111) {
    std::move(found_.back())
        .Label(LabelKind::kOpenedHere, At(SpanOf(open)), {{"what", Describe(what)}});
  }
  return false;
}

// A line that lacks its ';' is told from one that goes on wrongly: what follows on a line of its
// own starts something new, so nothing has to be skipped.
bool Parser::ExpectSemicolon(const ConstructName& after) {
  if (Accept(TokenKind::kSemicolon)) {
    return true;
  }
  if (OnNewLine() && (Kind() == TokenKind::kIdentifier || Kind() == TokenKind::kVoid)) {
    FailSemicolon(after);
    return true;
  }
  return FailHere(Code::kRpl1110, {{"what", Describe(after)}});
}

// It is missing behind the last token: what follows is another construct.
void Parser::FailSemicolon(const ConstructName& after) {
  const uint32_t end = SpanOf(Previous()).end;
  if (Diagnostic* made = Report(Code::kRpl1110, {end, end},
                                {{"what", Describe(after)}, {"text", TextOfToken(pos_)}})) {
    Propose(*made, {end, end}, ";");
  }
}

bool Parser::CloseExpression(TokenKind kind, const ConstructName& what, uint32_t open) {
  return Kind() != kind && StartsOperand() ? FailOperator() : ExpectClose(kind, what, open);
}

bool Parser::EndExpression(const ConstructName& what) {
  if (StartsOperand() && !OnNewLine()) {
    return FailOperator();
  }
  if (ExpectSemicolon(what)) {
    return true;
  }
  const bool extra = Kind() == TokenKind::kCloseBrace && Kind(1) == TokenKind::kSemicolon &&
                     lexed_.tokens[Previous()].kind == TokenKind::kCloseBrace && !OnNewLine();
  pos_ += extra ? 1 : 0;  // one '}' too many behind a constructor ends no scope
  return false;
}

bool Parser::StartsOperand() const {
  const TokenKind kind = Kind();
  return kind == TokenKind::kIdentifier ||
         (kind >= TokenKind::kTrue && kind <= TokenKind::kString) || kind == TokenKind::kNot ||
         kind == TokenKind::kComplement;
}

bool Parser::FailOperator() {
  if (Kind() == TokenKind::kNot || Kind() == TokenKind::kComplement) {
    return FailHere(Code::kRpl1171);
  }
  const bool name = Kind() == TokenKind::kIdentifier;
  const bool string = Kind() == TokenKind::kString;
  return FailHere(Code::kRpl1170, {{"kind", name ? "name" : string ? "string" : "literal"}});
}

bool Parser::ExpectName(uint32_t* name) {
  if (Kind() == TokenKind::kIdentifier) {
    *name = Advance();
    return true;
  }
  if (IsName(Kind())) {
    Report(Code::kRpl1106, Peek().span(), {{"name", TextOfToken(pos_)}});
    *name = Advance();
    return true;
  }
  const size_t before = found_.size();
  FailHere(Code::kRpl1109, {{"found", TextOfToken(pos_)}});
  if (found_.size() > before && found_.back().code == Code::kRpl1109) {
    found_.back().arguments[1].value = TextOfToken(Previous());
  }
  return false;
}

void Parser::CheckDeclaredName(uint32_t name) {
  const Token& token = lexed_.tokens[name];
  if (token.kind != TokenKind::kIdentifier) {
    return;
  }
  const std::optional<InbuiltFunction>& function = lexed_.symbols[token.value].word.function;
  if (function && function->version <= ast_.version) {
    Report(Code::kRpl1107, token.span(), {{"name", TextOfToken(name)}});
  }
}

void Parser::CountLocal(uint32_t name) {
  if (++locals_ == max_locals_ + 1) {
    Report(Code::kLim1001, SpanOf(name),
           {{"what", Describe(owner_)},
            {"parts", "variables, arguments and aliases"},
            {"limit", max_locals_}});
  }
}

// Said once: one line mends all of it.
void Parser::NeedVersion2(uint32_t token) {
  if (ast_.version >= 2 || needs_version_2_ || reported_) {
    return;
  }
  needs_version_2_ = true;
  const uint32_t begin = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  Diagnostic* made = Report(Code::kRpl1192, SpanOf(token), {{"text", TextOfToken(token)}});
  if (made != nullptr && !has_header_) {
    Propose(*made, {begin, begin}, "rpl 2;\n");
  }
}

void Parser::Suggest(Diagnostic& found, std::string_view meant) const {
  if (!meant.empty()) {
    Propose(found, Peek().span(), meant, Confidence::kGuess);
    std::move(found).Note(NoteKind::kSimilarName, {{"name", meant}});
  }
}

void Parser::Propose(Diagnostic& found, Span where, std::string_view text,
                     Confidence confidence) const {
  found.fix = Fix{.form = Fix::Form::kReplace,
                  .confidence = confidence,
                  .where = At(where),
                  .text = std::string(text)};
}

// --- recovery ------------------------------------------------------------------------------------

void Parser::Recover() {
  while (true) {
    switch (Kind()) {
      case TokenKind::kEnd:
        open_braces_ = 0;
        return;
      case TokenKind::kCloseBrace:
        if (open_braces_ == 0) {
          return;
        }
        --open_braces_;
        Advance();
        break;
      case TokenKind::kSemicolon:
        open_braces_ = 0;
        Advance();
        return;
      case TokenKind::kOpenBrace:
        if (SkipBraces()) {
          open_braces_ = 0;
          Accept(TokenKind::kSemicolon);
          return;
        }
        break;
      default:  // everything else belongs to what is skipped
        Advance();
        break;
    }
  }
}

// ( 'void' | ID ) ID '(' and what starts an argument list
bool Parser::AtFunction() const {
  if (!(Kind() == TokenKind::kVoid || Kind() == TokenKind::kIdentifier) ||
      Kind(1) != TokenKind::kIdentifier || Kind(2) != TokenKind::kOpenParen) {
    return false;
  }
  const Keyword first = KeywordAt(3);
  return Kind() == TokenKind::kVoid || Kind(3) == TokenKind::kVoid || first == Keyword::kIn ||
         first == Keyword::kOut;
}

bool Parser::AtDeclaration() const {
  if (AtFunction()) {
    return true;
  }
  const TokenKind second = Kind(1);
  const TokenKind third = Kind(2);
  if (Kind() != TokenKind::kIdentifier || second != TokenKind::kIdentifier) {
    return false;
  }
  switch (KeywordAt()) {
    case Keyword::kGlobal:
    case Keyword::kInstance:
      return third == TokenKind::kColon;
    case Keyword::kConstant:
      return third == TokenKind::kAssign;
    case Keyword::kSetting:
      return third == TokenKind::kAssign || KeywordAt(2) == Keyword::kBlock;
    case Keyword::kStruct:
    case Keyword::kPushConstant:
    case Keyword::kVertexAttributeContainer:
    case Keyword::kInstancedAttributeContainer:
    case Keyword::kStateContainer:
    case Keyword::kColorOutputContainer:
      return third == TokenKind::kOpenBrace;
    case Keyword::kSetPass:
    case Keyword::kSetMaterial:
    case Keyword::kSetObject:
    case Keyword::kSetShared:
      return third == TokenKind::kIdentifier;
    default:  // a plain name
      return false;
  }
}

// A declaration behind 'conditional (…)'. Conditions of declarations are short; a longer one is not
// looked through.
bool Parser::AtConditionalDeclaration() {
  constexpr uint32_t kLongest = 256;
  if (!AtPrefix(Keyword::kConditional)) {
    return false;
  }
  uint32_t depth = 0;
  for (uint32_t ahead = 1; ahead < kLongest; ++ahead) {
    if (Kind(ahead) == TokenKind::kOpenParen) {
      ++depth;
    } else if (Kind(ahead) == TokenKind::kCloseParen && --depth == 0) {
      return Behind(ahead + 1, &Parser::AtDeclaration);
    } else if (Kind(ahead) == TokenKind::kSemicolon || Kind(ahead) == TokenKind::kEnd) {
      return false;
    }
  }
  return false;
}

bool Parser::AtLineStart() const {
  const uint32_t begin = Peek().begin;
  return begin == 0 || text_[begin - 1] == '\n';
}

// The '}' of `what` is missing before the current token.
bool Parser::FailUnclosed(const ConstructName& what) {
  const size_t before = found_.size();
  FailHere(Code::kRpl1111,
           {{"token", TokenKindText(TokenKind::kCloseBrace)}, {"what", Describe(what)}});
  if (found_.size() > before && found_.back().code == Code::kRpl1111 && what.name != kNone) {
    std::move(found_.back())
        .Label(LabelKind::kOpenedHere, At(SpanOf(what.name)), {{"what", Describe(what)}});
  }
  return false;
}

bool Parser::FailUnclosedScope() {
  const bool at_end = Kind() == TokenKind::kEnd;
  const Span noticed = Peek().span();
  const uint32_t brace = FindUnclosedBrace();
  const size_t before = found_.size();
  if (at_end) {
    FailHere(Code::kRpl1112);
  } else {
    FailUnclosed(owner_);
  }
  if (found_.size() == before || brace == kNone) {
    return false;
  }
  found_.back().primary = At(SpanOf(brace));
  std::move(found_.back()).Label(LabelKind::kNoticedHere, At(noticed));
  return false;
}

uint32_t Parser::IndentOf(uint32_t token) const {
  constexpr uint32_t kFarthest = 256;  // bytes looked at, because a line may be as long as a source
  const uint32_t at = SpanOf(token).begin;
  uint32_t indent = 0;
  for (uint32_t before = at; before > 0 && text_[before - 1] != '\n'; --before) {
    if (at - before == kFarthest) {
      return kNone;
    }
    const bool separator = front::ClassOf(text_[before - 1]) == front::ByteClass::kSeparator;
    indent = separator ? indent + 1 : 0;
  }
  return indent;
}

bool Parser::StartsLine(uint32_t token) const {
  const Span between{token == 0 ? 0 : SpanOf(token - 1).end, SpanOf(token).begin};
  return TextAt(between).find('\n') != std::string_view::npos;
}

// The innermost '{' whose '}' is indented less than its line; else the last one that is open.
uint32_t Parser::FindUnclosedBrace() const {
  std::vector<uint32_t> open;
  for (uint32_t token = body_token_; token < pos_; ++token) {
    const TokenKind kind = lexed_.tokens[token].kind;
    if (kind == TokenKind::kOpenBrace) {
      open.push_back(token);
    } else if (kind == TokenKind::kCloseBrace && !open.empty()) {
      const uint32_t indent = StartsLine(token) ? IndentOf(token) : kNone;
      const uint32_t opened = IndentOf(open.back());
      if (indent != kNone && opened != kNone && indent < opened) {
        return open.back();
      }
      open.pop_back();
    }
  }
  return open.empty() ? kNone : open.back();
}

uint32_t Parser::BraceAround() const {
  constexpr uint32_t kFarthest = 4096;  // tokens looked at: this is asked for every brace missing
  uint32_t closed = 0;
  for (uint32_t token = pos_; token > 0 && pos_ - token < kFarthest; --token) {
    const TokenKind kind = lexed_.tokens[token - 1].kind;
    if (kind == TokenKind::kCloseBrace) {
      ++closed;
    } else if (kind == TokenKind::kOpenBrace && closed-- == 0) {
      return token - 1;
    }
  }
  return kNone;
}

bool Parser::RecoverBehind(uint32_t open, Semicolons semicolons) {
  const uint32_t wrong = pos_;
  open_braces_ = 0;
  uint32_t depth = 0;
  for (pos_ = open;;) {
    switch (Kind()) {
      case TokenKind::kOpenParen:
      case TokenKind::kOpenBracket:
        ++depth;
        Advance();
        break;
      case TokenKind::kCloseParen:
      case TokenKind::kCloseBracket:
        Advance();
        if (--depth == 0) {
          const bool found = pos_ > wrong;
          pos_ = std::max(pos_, wrong);
          return found;
        }
        break;
      case TokenKind::kOpenBrace:
        if (BracesHoldStatements()) {
          pos_ = std::max(pos_, wrong);
          return false;
        }
        SkipBraces();
        break;
      case TokenKind::kSemicolon:
        if (semicolons == Semicolons::kInside) {
          Advance();
          break;
        }
        [[fallthrough]];
      case TokenKind::kEnd:
      case TokenKind::kCloseBrace:
        pos_ = std::max(pos_, wrong);
        return false;
      default:  // everything else belongs to what is skipped
        Advance();
        break;
    }
  }
}

bool Parser::SkipBraces() {
  KILN_DCHECK(Kind() == TokenKind::kOpenBrace);
  bool statements = false;
  uint32_t depth = 0;
  do {
    if (Kind() == TokenKind::kOpenBrace) {
      ++depth;
    } else if (Kind() == TokenKind::kCloseBrace) {
      --depth;
    } else if (Kind() == TokenKind::kSemicolon) {
      statements = true;
    } else if (Kind() == TokenKind::kEnd) {
      return statements;
    }
    Advance();
  } while (depth > 0);
  return statements;
}

bool Parser::BracesHoldStatements() const {
  uint32_t depth = 0;
  for (uint32_t ahead = 0; Kind(ahead) != TokenKind::kEnd; ++ahead) {
    if (Kind(ahead) == TokenKind::kSemicolon) {
      return true;
    }
    if (Kind(ahead) == TokenKind::kOpenBrace) {
      ++depth;
    } else if (Kind(ahead) == TokenKind::kCloseBrace && --depth == 0) {
      return ahead == 1;  // "{}"
    }
  }
  return false;
}

}  // namespace kiln::rpl
