// SPDX-License-Identifier: MIT
// The lexer: a dispatch on the class of the next byte. `At` reads zero behind the end of the text,
// so no step needs a bounds check of its own.
#include "compiler/front/rpl/lex.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text/utf8.h"
#include "compiler/base/threads/stop.h"
#include "compiler/diag/message_count.h"
#include "compiler/front/common/identifier.h"
#include "compiler/front/common/number_literal.h"
#include "compiler/front/rpl/symbol_table.h"

namespace kiln::rpl {
namespace {

using front::ByteClass;
using front::ClassOf;
using front::IsDigit;
using front::IsIdentifierByte;

constexpr auto kTokenTexts = std::to_array<std::string_view>({
#define KILN_TOKEN(enumerator, text) text,
#include "compiler/front/rpl/tokens.def"
});

// The length of a token that is always spelled alike; zero for the others.
constexpr auto kTokenLengths = [] {
  std::array<uint8_t, kTokenTexts.size()> lengths{};
  for (size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<uint8_t>(kTokenTexts[i].size());
  }
  return lengths;
}();

constexpr bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Errors do not end the run: each character that begins no token is reported and left out, and what
// follows is read as if it were not there (spec/rpl 1.1).
class Lexer {
 public:
  Lexer(std::string_view text, uint32_t module, LexResult& out)
      : text_(text),
        size_(static_cast<uint32_t>(text.size())),
        module_(module),
        out_(out),
        symbols_(text, out.symbols) {}

  void Run() {
    // The mark is no token and no error; places still count its bytes.
    if (text_.starts_with(kByteOrderMark)) {
      at_ = kByteOrderMark.size();
    }
    // A source with too many errors is not read to its end. Words have no warnings.
    while (at_ < size_ && out_.diagnostics.size() < kMaxFound) {
      CheckStop();
      Next();
    }
    // The token of kind kEnd stands behind the last one, so the parser never asks whether there is
    // a next token.
    out_.tokens.push_back({.begin = at_});
  }

 private:
  char At(uint32_t offset) const { return offset < size_ ? text_[offset] : '\0'; }

  // Longest match without backtracking: the class of the first byte chooses the rule, and each rule
  // looks at most two bytes ahead.
  void Next() {
    const char c = text_[at_];
    switch (ClassOf(c)) {
      case ByteClass::kSeparator:
        do {
          ++at_;
        } while (at_ < size_ && ClassOf(text_[at_]) == ByteClass::kSeparator);
        return;
      case ByteClass::kLetter:
        Identifier();
        return;
      case ByteClass::kDigit:
        Number();
        return;
      case ByteClass::kOther:
        break;
    }
    if (c == '/' && At(at_ + 1) == '/') {
      const size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? size_ : static_cast<uint32_t>(end);
      return;
    }
    if (c == '/' && At(at_ + 1) == '*') {
      BlockComment();
      return;
    }
    if (c == '"') {
      String();
      return;
    }
    if (c == '#' && StartsLine()) {
      Directive();
      return;
    }
    Punctuation(c);
  }

  // No token: the parser sees what would be there without it.
  void BlockComment() {
    const size_t close = text_.find("*/", at_ + 2);
    // The message shows the opening mark only: a comment may be the rest of the source.
    Report(Code::kRpl1010, at_ + 2);
    at_ = close == std::string_view::npos ? size_ : static_cast<uint32_t>(close) + 2;
  }

  // Elsewhere a `#` is only a wrong character, and the rest of its line is read.
  bool StartsLine() const {
    uint32_t before = at_;
    while (before > 0 && (text_[before - 1] == ' ' || text_[before - 1] == '\t')) {
      --before;
    }
    return before == 0 || text_[before - 1] == '\n' || before == kByteOrderMark.size();
  }

  // A line of a preprocessor, and those it goes on in: no tokens either.
  void Directive() {
    Report(Code::kRpl1002, at_ + 1);
    size_t end = at_;
    do {
      end = text_.find('\n', end + 1);
    } while (end != std::string_view::npos && text_[end - 1] == '\\');
    at_ = end == std::string_view::npos ? size_ : static_cast<uint32_t>(end);
  }

  void Push(TokenKind kind, uint32_t end, uint32_t value = 0) {
    out_.tokens.push_back({.begin = at_, .length = end - at_, .kind = kind, .value = value});
    at_ = end;
  }

  Diagnostic& Report(Code code, uint32_t end) {
    return out_.diagnostics.emplace_back(Make(code, {.module = module_, .bytes = {at_, end}})
                                             .With("text", Quoted(text_.substr(at_, end - at_))));
  }

  // The symbol table walks over the identifier and hashes it at once, so every byte is read a
  // single time.
  void Identifier() {
    const auto [symbol, end] = symbols_.ScanIdentifier(at_);
    TokenKind kind = TokenKind::kIdentifier;
    // The three reserved words have four or five letters, so most identifiers are not compared with
    // them.
    if (end - at_ == 4 || end - at_ == 5) {
      kind = Reserved(text_.substr(at_, end - at_));
    }
    Push(kind, end, symbol);
  }

  static TokenKind Reserved(std::string_view text) {
    return text == "true"    ? TokenKind::kTrue
           : text == "false" ? TokenKind::kFalse
           : text == "void"  ? TokenKind::kVoid
                             : TokenKind::kIdentifier;
  }

  // A backslash before a quote keeps the string open; it has no meaning otherwise.
  void String() {
    uint32_t end = at_ + 1;
    while (end < size_ && text_[end] != '"' && text_[end] != '\n') {
      end += text_[end] == '\\' && At(end + 1) == '"' ? 2 : 1;
    }
    if (At(end) == '"') {
      Push(TokenKind::kString, end + 1, symbols_.Intern(at_ + 1, end - at_ - 1));
      return;
    }
    // The string is not closed on its line. It ends before the blanks at the end of the line, so
    // that the span shows the text alone, and the token is there all the same: the parser has no
    // second error then.
    const uint32_t line_end = end;
    while (end > at_ + 1 && ClassOf(text_[end - 1]) == ByteClass::kSeparator) {
      --end;
    }
    Report(Code::kRpl1003, end);
    Push(TokenKind::kString, end, symbols_.Intern(at_ + 1, end - at_ - 1));
    at_ = line_end;
  }

  uint32_t SkipDigits(uint32_t at) const {
    while (IsDigit(At(at))) {
      ++at;
    }
    return at;
  }

  uint32_t SkipIdentifierBytes(uint32_t at) const {
    while (IsIdentifierByte(At(at))) {
      ++at;
    }
    return at;
  }

  void Number() {
    const char second = At(at_ + 1);
    // Only small letters: `0X` is malformed in RPL and comes out of `Integer` as such.
    if (text_[at_] == '0' && (second == 'x' || second == 'b')) {
      PrefixedNumber(second == 'x');
      return;
    }
    const uint32_t end = SkipDigits(at_);
    // "1." is malformed unless a digit follows, because a dot behind a number means nothing else in
    // RPL. It is read as the float that it should have been.
    if (At(end) == '.') {
      if (IsDigit(At(end + 1))) {
        Float(SkipDigits(end + 1));
        return;
      }
      const uint32_t word_end = SkipIdentifierBytes(end + 1);
      const std::string whole(text_.substr(at_, end + 1 - at_));
      ReportDigits(end + 1, word_end, whole + "0");
      Push(TokenKind::kFloat, word_end);
      return;
    }
    Integer(end);
  }

  void PrefixedNumber(bool hexadecimal) {
    const uint32_t digits = at_ + 2;
    uint32_t end = digits;
    while (hexadecimal ? IsHexDigit(At(end)) : At(end) == '0' || At(end) == '1') {
      ++end;
    }
    const TokenKind kind = hexadecimal ? TokenKind::kHexadecimal : TokenKind::kBinary;
    // `0x12g` and `0b12` are one wrong number each, and not a number with a name behind it.
    if (end == digits || IsIdentifierByte(At(end))) {
      Malformed(kind);
      return;
    }
    const std::string_view text = text_.substr(digits, end - digits);
    PushInteger(kind, end, hexadecimal ? front::ParseHexadecimal(text) : front::ParseBinary(text));
  }

  void Integer(uint32_t end) {
    const std::optional<uint32_t> value = front::ParseDecimal(text_.substr(at_, end - at_));
    const char suffix = At(end);
    // A decimal without suffix is signed.
    if (!IsIdentifierByte(suffix)) {
      PushInteger(TokenKind::kDecimal, end, Signed(value));
      return;
    }
    if ((suffix != 'u' && suffix != 's') || IsIdentifierByte(At(end + 1))) {
      Malformed(TokenKind::kDecimal);
      return;
    }
    const bool is_signed = suffix == 's';
    PushInteger(is_signed ? TokenKind::kSigned : TokenKind::kUnsigned, end + 1,
                is_signed ? Signed(value) : value);
  }

  // 2^31 itself may follow a unary minus, which the parser knows.
  static std::optional<uint32_t> Signed(std::optional<uint32_t> value) {
    return value && *value <= 0x80000000u ? value : std::nullopt;
  }

  // A number that is too large is reported and gets the value zero: it is a number, only not this
  // one.
  void PushInteger(TokenKind kind, uint32_t end, std::optional<uint32_t> value) {
    if (!value) {
      const bool is_signed = kind == TokenKind::kDecimal || kind == TokenKind::kSigned;
      const std::string_view name = is_signed ? "signed" : TokenKindText(kind);
      Diagnostic& error = Report(Code::kRpl1006, end);
      error.arguments.emplace_back("kind", name);
    }
    Push(kind, end, value.value_or(0));
  }

  void Float(uint32_t end) {
    // Whatever touches the number was meant as part of it: "1.0f", "1.2.3".
    if (IsIdentifierByte(At(end)) || (At(end) == '.' && IsDigit(At(end + 1)))) {
      Malformed(TokenKind::kFloat);
      return;
    }
    const std::optional<uint32_t> bits = front::ParseFloatBits(text_.substr(at_, end - at_));
    if (!bits) {
      Report(Code::kRpl1007, end);
    }
    Push(TokenKind::kFloat, end, bits.value_or(0));
  }

  // Takes in everything that touches the number and could be meant as part of it.
  void Malformed(TokenKind kind) {
    uint32_t end = SkipIdentifierBytes(at_);
    while (At(end) == '.' && IsDigit(At(end + 1))) {
      end = SkipIdentifierBytes(end + 1);
    }
    const char last = text_[end - 1];
    // An exponent with a sign: the sign belongs to the number in other languages, so it must not be
    // left over as an operator.
    const bool exponent = kind != TokenKind::kHexadecimal && (last == 'e' || last == 'E') &&
                          (At(end) == '-' || At(end) == '+') && IsDigit(At(end + 1));
    if (exponent) {
      end = SkipIdentifierBytes(end + 1);
    }
    Diagnostic& error = Report(Code::kRpl1004, end);
    const std::string_view digits = text_.substr(at_, end - 1 - at_);
    // The suffix of floats in other languages. The edit drops it and adds the digit that RPL wants.
    if ((last == 'f' || last == 'F' || last == 'h') && !exponent &&
        digits.find_first_not_of("0123456789.") == std::string_view::npos) {  // "1.0f", "1f"
      const bool whole = digits.find('.') == std::string_view::npos;
      Propose(error, std::string(digits) + (whole ? ".0" : ""), end);
    } else if (exponent || digits.find_first_of("eE") != std::string_view::npos) {
      error.notes.push_back(
          {.kind = NoteKind::kAdvice,
           .arguments = {Argument("advice", "write all digits: floats have no exponent")}});
    }
    Push(kind, end);
  }

  // RPL1005 of [at_, end). `meant` is sure if no more than an f follows the number, which ends at
  // `number_end`: "1.", ".5f".
  void ReportDigits(uint32_t number_end, uint32_t end, std::string_view meant) {
    Diagnostic& error = Report(Code::kRpl1005, end);
    if (number_end == end || text_.substr(number_end, end - number_end) == "f") {
      Propose(error, meant, end);
    }
  }

  // What stands from here to `end` should be `text`.
  void Propose(Diagnostic& error, std::string_view text, uint32_t end) const {
    std::move(error).Replace({.module = module_, .bytes = {at_, end}}, text);
  }

  void Punctuation(char c) {
    if (c == '.') {
      Dot();
      return;
    }
    const char second = At(at_ + 1);
    const TokenKind kind = Operator(c, second, At(at_ + 2));
    if (kind == TokenKind::kError) {
      const uint32_t size = DecodeUtf8(text_.substr(at_)).size;
      Report(Code::kRpl1002, at_ + size);
      if (c == '@') {  // more of it follows
        Push(kind, at_ + size);
      } else {
        at_ += size;
      }
      return;
    }
    Push(kind, at_ + kTokenLengths[static_cast<size_t>(kind)]);
  }

  void Dot() {
    if (At(at_ + 1) == '.' && At(at_ + 2) == '.') {
      Push(TokenKind::kEllipsis, at_ + 3);
      return;
    }
    // ".5" where nothing could be left of the dot
    if (IsDigit(At(at_ + 1)) && !TouchesOperand()) {
      const uint32_t end = SkipIdentifierBytes(at_ + 1);
      const uint32_t digits = SkipDigits(at_ + 1);
      ReportDigits(digits, end, "0" + std::string(text_.substr(at_, digits - at_)));
      Push(TokenKind::kFloat, end);
      return;
    }
    Push(TokenKind::kDot, at_ + 1);
  }

  // In `a.5` the dot is a member access with a wrong name, and in `f().5` as well.
  bool TouchesOperand() const {
    const char before = at_ == 0 ? '\0' : text_[at_ - 1];
    return IsIdentifierByte(before) || before == ')' || before == ']' || before == '}';
  }

  static TokenKind WithAssign(char next, TokenKind with, TokenKind without) {
    return next == '=' ? with : without;
  }

  // A constant dispatch on the first byte. The compound operators differ from the plain ones by one
  // byte behind them, so nothing is put back.
  static TokenKind Operator(char c, char second, char third) {
    using enum TokenKind;
    switch (c) {
      case '(':
        return kOpenParen;
      case ')':
        return kCloseParen;
      case '[':
        return kOpenBracket;
      case ']':
        return kCloseBracket;
      case '{':
        return kOpenBrace;
      case '}':
        return kCloseBrace;
      case ',':
        return kComma;
      case ';':
        return kSemicolon;
      case ':':
        return kColon;
      case '?':
        return kQuestion;
      case '~':
        return kComplement;
      case '!':
        return WithAssign(second, kNotEqual, kNot);
      case '=':
        return WithAssign(second, kEqual, kAssign);
      case '+':
        return WithAssign(second, kAddAssign, kPlus);
      case '-':
        return WithAssign(second, kSubAssign, kMinus);
      case '*':
        return WithAssign(second, kMulAssign, kStar);
      case '/':
        return WithAssign(second, kDivAssign, kSlash);
      case '%':
        return WithAssign(second, kModAssign, kPercent);
      case '^':
        return WithAssign(second, kXorAssign, kXor);
      case '&':
        return second == '&' ? kLogicalAnd : WithAssign(second, kAndAssign, kAnd);
      case '|':
        return second == '|' ? kLogicalOr : WithAssign(second, kOrAssign, kOr);
      case '<':
        return second == '<' ? WithAssign(third, kShiftLeftAssign, kShiftLeft)
                             : WithAssign(second, kLessEqual, kLess);
      case '>':
        return second == '>' ? WithAssign(third, kShiftRightAssign, kShiftRight)
                             : WithAssign(second, kGreaterEqual, kGreater);
      default:  // any other byte
        return kError;
    }
  }

  std::string_view text_;
  uint32_t size_;
  uint32_t module_;
  LexResult& out_;
  SymbolTable symbols_;
  uint32_t at_ = 0;
};

// A source that is not read: that one error and no tokens but the end.
LexResult Failed(Diagnostic error) {
  LexResult out;
  out.diagnostics.push_back(std::move(error));
  out.tokens.push_back({});
  return out;
}

// Identifiers and strings that are too long. There are far fewer spellings than tokens, so these
// are looked at, and the tokens only if one is too long for either: it may be both.
void CheckLengths(std::string_view text, uint32_t module, const LanguageLimits& limits,
                  LexResult& out) {
  const uint32_t least = std::min(limits.identifier, limits.string);
  if (std::ranges::none_of(out.symbols, [&](const Symbol& s) { return s.length > least; })) {
    return;
  }
  std::vector<uint8_t> told(out.symbols.size());  // 1: as an identifier; 2: as a string
  for (const Token& token : out.tokens) {
    const bool string = token.kind == TokenKind::kString;
    if (!string && token.kind != TokenKind::kIdentifier) {
      continue;
    }
    const uint32_t limit = string ? limits.string : limits.identifier;
    const uint8_t bit = string ? 2 : 1;
    const Symbol& symbol = out.symbols[token.value];
    if (symbol.length <= limit || out.diagnostics.size() >= kMaxFound ||
        (told[token.value] & bit) != 0) {
      continue;
    }
    told[token.value] |= bit;
    const std::string_view spelling = text.substr(symbol.begin, symbol.length);
    out.diagnostics.push_back(
        Make(Code::kLim1001, {.module = module, .bytes = token.span()})
            .With("what", (string ? "string '" : "identifier '") + Quoted(spelling) + "'")
            .With("parts", "bytes")
            .With("limit", limit));
  }
  // Merging expects diagnostics in the order of the source, and these were found in a second pass.
  std::ranges::stable_sort(out.diagnostics, {},
                           [](const Diagnostic& d) { return d.primary.bytes.begin; });
}

}  // namespace

std::string_view TokenKindText(TokenKind kind) { return kTokenTexts[static_cast<size_t>(kind)]; }

// Errors about the source as a whole come alone: nothing in it is worth reading then. UTF-8 is
// checked first and at once, so that the lexer never meets a half character.
LexResult Lex(std::string_view text, uint32_t module, const LanguageLimits& limits) {
  if (text.size() > limits.source_bytes) {
    return Failed(Make(Code::kRpl1008, {.module = module, .bytes = {0, 0}})
                      .With("size", text.size())
                      .With("limit", limits.source_bytes));
  }
  const size_t invalid = FindInvalidUtf8(text);
  if (invalid != text.size()) {
    const auto at = static_cast<uint32_t>(invalid);
    return Failed(
        Make(Code::kRpl1001, {.module = module, .bytes = {at, at + 1}}).With("offset", invalid));
  }
  LexResult out;
  // Room for a token in every four bytes: one allocation is usually enough.
  out.tokens.reserve(text.size() / 4 + 16);
  out.symbols.reserve(256);
  Lexer(text, module, out).Run();
  // The token that marks the end is not the author's, so it does not count.
  if (out.tokens.size() - 1 > limits.tokens) {
    return Failed(
        Make(Code::kLim1001, {.module = module, .bytes = out.tokens[limits.tokens].span()})
            .With("what", "source")
            .With("parts", "tokens")
            .With("limit", limits.tokens));
  }
  CheckLengths(text, module, limits, out);
  return out;
}

}  // namespace kiln::rpl
