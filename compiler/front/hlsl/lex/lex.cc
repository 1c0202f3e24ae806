// SPDX-License-Identifier: MIT
// The lexer: a dispatch on the class of the next byte. `At` reads zero behind the end of the text,
// so no step needs a bounds check of its own.
#include "compiler/front/hlsl/lex/lex.h"

#include <algorithm>

#include "compiler/base/push.h"
#include "compiler/base/text/utf8.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/common/identifier.h"
#include "compiler/front/hlsl/lex/number_form.h"
#include "compiler/front/hlsl/lex/punctuation.h"
#include "compiler/front/hlsl/lex/spliced_text.h"

namespace kiln::hlsl {
namespace {

using front::ByteClass;
using front::ClassOf;

// One token of `text`, wherever it starts.
class Scanner {
 public:
  Scanner(std::string_view text, SymbolTable& symbols)
      : text_(text), size_(static_cast<uint32_t>(text.size())), symbols_(symbols) {}

  uint32_t size() const { return size_; }
  // Behind the text there are zeros, which begin no token and continue none.
  char At(uint32_t offset) const { return offset < size_ ? text_[offset] : '\0'; }

  struct Lexeme {
    TokenKind kind;
    uint32_t symbol;
    uint32_t end;
  };
  // The token that starts at `at`, which is neither a space nor the start of a comment.
  // Order: words first, as most tokens are, then numbers, strings and punctuators by their
  // longest spelling.
  Lexeme Scan(uint32_t at) {
    const char c = text_[at];
    const ByteClass byte_class = ClassOf(c);
    if (byte_class == ByteClass::kLetter) {
      const SymbolTable::Identifier word = symbols_.ScanIdentifier(text_, at);
      return {SymbolTable::KindOf(word.symbol), word.symbol, word.end};
    }
    if (byte_class == ByteClass::kDigit || (c == '.' && ClassOf(At(at + 1)) == ByteClass::kDigit)) {
      const uint32_t end = NumberEnd(text_, at);
      const std::string_view spelling = text_.substr(at, end - at);
      return {NumberKind(spelling), symbols_.Intern(spelling), end};
    }
    if (c == '"') {
      return String(at);
    }
    const TokenKind kind = PunctuatorAt(c, At(at + 1), At(at + 2));
    if (kind != TokenKind::kUnknown) {
      const auto length = static_cast<uint32_t>(TokenKindText(kind).size());
      return {kind, static_cast<uint32_t>(kind), at + length};
    }
    // What is no token takes one code point, not one byte, so that a message can quote it.
    const uint32_t end = at + std::max(1u, DecodeUtf8(text_.substr(at)).size);
    return {kind, symbols_.Intern(text_.substr(at, end - at)), end};
  }

  // '<' at `at`: the path up to the '>' on its line; kLess if there is none.
  // Behind `#include` only: elsewhere `<` is an operator. A path ends on its line.
  Lexeme HeaderName(uint32_t at) {
    uint32_t end = at + 1;
    while (end < size_ && text_[end] != '>' && !IsLineEnd(text_[end])) {
      ++end;
    }
    if (At(end) != '>') {
      return Scan(at);
    }
    return {TokenKind::kHeaderName, symbols_.Intern(text_.substr(at, end + 1 - at)), end + 1};
  }

  static bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

 private:
  // A backslash before a quote or a backslash keeps the string open.
  // An open string ends with its line. It is an error only if it comes to the parser: in a
  // group that is skipped, text with a lone quote is common.
  Lexeme String(uint32_t at) {
    uint32_t end = at + 1;
    while (end < size_ && text_[end] != '"' && !IsLineEnd(text_[end])) {
      // The escape may be the last byte of the text, so `end` may be one beyond it.
      end += text_[end] == '\\' && (At(end + 1) == '"' || At(end + 1) == '\\') ? 2 : 1;
    }
    const bool closed = At(end) == '"';
    end = std::min(end, size_) + (closed ? 1 : 0);
    const TokenKind kind = closed ? TokenKind::kString : TokenKind::kOpenString;
    return {kind, symbols_.Intern(text_.substr(at, end - at)), end};
  }

  std::string_view text_;
  uint32_t size_;
  SymbolTable& symbols_;
};

// The end of the line comment, or of the text.
uint32_t LineCommentEnd(std::string_view text, uint32_t at) {
  return static_cast<uint32_t>(std::min(text.find_first_of("\n\r", at), text.size()));
}

// Flags say what stands before a token: a line end or a space. They are all that the
// preprocessor needs of layout, and enough for `#` and for dumps.
class Lexer {
 public:
  Lexer(std::string_view source, uint32_t first, LexTarget target)
      : source_(source), scanner_(source_.text(), target.symbols), first_(first), target_(target) {}

  std::optional<Span> Run() {
    while (SkipSpace()) {
      CheckStop();
      Next();
    }
    // The end of the text starts a line, so a directive in the last line ends before it.
    flags_ = Token::kStartsLine;
    Add({TokenKind::kEnd, 0, at_});
    return unclosed_;
  }

 private:
  // Moves to the next token and finds what stands before it; false at the end.
  bool SkipSpace() {
    while (at_ < scanner_.size()) {
      const char c = scanner_.At(at_);
      if (Scanner::IsLineEnd(c)) {
        flags_ = Token::kStartsLine;
        ++at_;
      } else if (ClassOf(c) == ByteClass::kSeparator) {
        flags_ |= Token::kSpaceBefore;
        ++at_;
      } else if (c == '/' && scanner_.At(at_ + 1) == '/') {
        at_ = LineCommentEnd(source_.text(), at_);
      } else if (c == '/' && scanner_.At(at_ + 1) == '*') {
        flags_ |= Token::kSpaceBefore;
        BlockComment();
      } else {
        return true;
      }
    }
    return false;
  }

  // spec/hlsl 4.1: a comment that is not closed is HLSL1003, reported by the caller, who knows
  // the file.
  void BlockComment() {
    const size_t close = source_.text().find("*/", at_ + 2);
    if (close == std::string_view::npos) {
      unclosed_ = source_.InSource(at_, at_ + 2);
      at_ = scanner_.size();
    } else {
      at_ = static_cast<uint32_t>(close) + 2;
    }
  }

  void Next() {
    // The header name is the one token whose form depends on those before it. Directives are
    // listed by their row, so that groups which are skipped are left without a look at what is
    // in them.
    const bool path = include_ && scanner_.At(at_) == '<';
    const Scanner::Lexeme scanned = path ? scanner_.HeaderName(at_) : scanner_.Scan(at_);
    const auto row = static_cast<uint32_t>(target_.tokens.rows.size());
    const bool starts_line = (flags_ & Token::kStartsLine) != 0;
    include_ = directive_ && !starts_line && scanned.symbol == kWordInclude;
    directive_ = starts_line && scanned.kind == TokenKind::kHash;
    if (directive_) {
      target_.tokens.directives.push_back(row);
    }
    Add(scanned);
  }

  // The text of predefined macros has no place: its tokens get an empty span.
  void Add(const Scanner::Lexeme& scanned) {
    const bool placed = first_ != kNoPlace;
    // Offsets are those of the source, not of the spliced text.
    const Span span = placed ? source_.InSource(at_, scanned.end) : Span{};
    const uint32_t first = placed ? first_ : 0;
    const uint32_t origin =
        target_.origins.AddWritten({.begin = first + span.begin, .end = first + span.end});
    Push(target_.tokens.rows,
         Token{.kind = scanned.kind, .flags = flags_, .symbol = scanned.symbol, .origin = origin});
    flags_ = 0;
    at_ = scanned.end;
  }

  SplicedText source_;
  Scanner scanner_;
  uint32_t first_;
  LexTarget target_;
  std::optional<Span> unclosed_;
  uint32_t at_ = 0;
  uint8_t flags_ = Token::kStartsLine;  // of the next token
  bool directive_ = false;              // the last token was '#' at the start of a line
  bool include_ = false;                // and now it was `include` behind one
};

}  // namespace

// Tokens are 4 bytes apart in usual sources. Capacity grows at least twice, so that a module of
// many small files is not copied once for each.
std::optional<Span> Lex(std::string_view text, uint32_t first, LexTarget target) {
  // room for usual text, without copying all there is for each of many small files
  const size_t rows = target.tokens.rows.size() + text.size() / 4 + 16;
  if (target.tokens.rows.capacity() < rows) {
    target.tokens.rows.reserve(std::max(rows, 2 * target.tokens.rows.capacity()));
    target.origins.ReserveWritten(target.tokens.rows.capacity());
  }
  return Lexer(text, first, target).Run();
}

// For `##`: what was put together must be one token from its first byte to its last. Spaces and
// comments are none.
std::optional<Token> LexSingle(std::string_view text, SymbolTable& symbols) {
  const bool comment = text.starts_with("//") || text.starts_with("/*");
  if (text.empty() || comment || ClassOf(text[0]) == ByteClass::kSeparator) {
    return std::nullopt;
  }
  const Scanner::Lexeme scanned = Scanner(text, symbols).Scan(0);
  if (scanned.end != text.size()) {
    return std::nullopt;
  }
  return Token{.kind = scanned.kind, .symbol = scanned.symbol};
}

}  // namespace kiln::hlsl
