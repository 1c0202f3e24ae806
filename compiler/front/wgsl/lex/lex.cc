// SPDX-License-Identifier: MIT
// One pass over the bytes. `>` is taken alone where it closes a template list, else with what
// follows it, so `array<vec2<f32>>` and `a >> b` come out right without a second pass.
#include "compiler/front/wgsl/lex/lex.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "compiler/base/flat_map.h"
#include "compiler/base/text/utf8.h"
#include "compiler/base/threads/stop.h"
#include "compiler/diag/message_count.h"
#include "compiler/front/wgsl/lex/number_form.h"
#include "compiler/front/wgsl/lex/template_lists.h"

namespace kiln::wgsl::front {
namespace {

// Code points that may begin a name and that may go on in one (XID_Start, XID_Continue of
// Unicode), as ranges that ascend and do not touch. See WGSL, "Identifiers".
struct CodeRange {
  uint32_t first, last;
};
constexpr CodeRange kStart[] = {
#define KILN_XID_START(first, last) {first, last},
#include "compiler/front/wgsl/lex/identifiers.def"
};
constexpr CodeRange kContinue[] = {
#define KILN_XID_CONTINUE(first, last) {first, last},
#include "compiler/front/wgsl/lex/identifiers.def"
};

// Binary search for the first range that does not end before the code: cost is the logarithm of
// the number of ranges, and only names outside of ASCII pay it.
template <size_t kCount>
bool Has(const CodeRange (&ranges)[kCount], uint32_t code) {
  const auto* found = std::ranges::lower_bound(ranges, code, {}, &CodeRange::last);
  return found != std::end(ranges) && found->first <= code;
}
bool IsLetter(uint32_t code) {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_' ||
         (code >= 0x80 && Has(kStart, code));
}
bool IsDigit(uint32_t code) { return code >= '0' && code <= '9'; }
bool IsPart(uint32_t code) {
  return IsLetter(code) || IsDigit(code) || (code >= 0x80 && Has(kContinue, code));
}
// Line feed, vertical tab, form feed, carriage return, next line, line and paragraph separator.
// A line is only asked for where a comment ends: WGSL, "Blankspace and Line Breaks".
bool EndsLine(uint32_t code) {
  return (code >= 0x0a && code <= 0x0d) || code == 0x85 || code == 0x2028 || code == 0x2029;
}
// With the marks for left-to-right and right-to-left text, which are blank, too.
bool IsBlank(uint32_t code) {
  return code == ' ' || code == '\t' || EndsLine(code) || code == 0x200e || code == 0x200f;
}

struct Spelling {
  std::string_view text;
  TokenKind kind;
};
constexpr Spelling kKeywords[] = {
#define KILN_WGSL_KEYWORD(enumerator, text) {text, TokenKind::k##enumerator},
#include "compiler/front/wgsl/tokens.def"
};
// In the order of the table, which is from long to short for punctuators: `<<=` stands before
// `<<`, and that before `<`. The first that fits is the longest.
constexpr Spelling kPunctuators[] = {
#define KILN_WGSL_PUNCTUATOR(enumerator, text) {text, TokenKind::k##enumerator},
#include "compiler/front/wgsl/tokens.def"
};
constexpr std::string_view kReserved[] = {
#define KILN_WGSL_RESERVED(word) word,
#include "compiler/front/wgsl/lex/reserved.def"
};

class Lexer {
 public:
  Lexer(std::string_view text, uint32_t module, const LanguageLimits& limits)
      : module_(module), limits_(limits) {
    out_.stream.text = text;
    // Keywords and reserved words are found by one look-up of a whole word, so no word is
    // compared with each of them.
    for (const Spelling& keyword : kKeywords) {
      words_.Insert(keyword.text, keyword.kind);
    }
    for (const std::string_view word : kReserved) {
      words_.Insert(word, TokenKind::kReserved);
    }
  }

  LexResult Run() {
    const std::string_view text = out_.stream.text;
    // Everything below decodes without a check, so a text that is no UTF-8 is refused as a
    // whole. Its tokens are only the end: the parser then has nothing to be wrong about.
    if (const size_t wrong = FindInvalidUtf8(text); wrong != text.size()) {
      Say(Code::kWgsl1001, wrong, wrong + 1, "UTF-8",
          "byte " + std::to_string(static_cast<uint8_t>(text[wrong])));
    } else {
      while (SkipBlanks()) {
        CheckStop();
        // The limit stops what is kept, not what is read: the tree can have no more rows than
        // there are tokens.
        if (out_.stream.tokens.size() >= limits_.tokens) {
          Limit("tokens", limits_.tokens);
          break;
        }
        Token();
      }
    }
    // The end is a token, so that the parser may look at the next token without asking whether
    // there is one.
    out_.stream.tokens.push_back(
        {.kind = TokenKind::kEnd,
         .span = {static_cast<uint32_t>(text.size()), static_cast<uint32_t>(text.size())}});
    return std::move(out_);
  }

 private:
  std::string_view Rest() const { return out_.stream.text.substr(at_); }

  // Offsets fit in 32 bits: the size of a source is limited long before.
  Location Where(size_t begin, size_t end) const {
    return {.module = module_, .bytes = {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}};
  }
  void Add(Diagnostic&& diagnostic) {
    if (found_.Take(diagnostic.severity)) {
      out_.diagnostics.push_back(std::move(diagnostic));
    }
  }
  void Say(Code code, size_t begin, size_t end, std::string_view expected, std::string_view text) {
    Add(Make(code, Where(begin, end)).With("expected", expected).With("text", text));
  }
  void Limit(std::string_view what, uint64_t limit) {
    Add(Make(Code::kWgsl1007, Where(at_, at_ + 1)).With("what", what).With("limit", limit));
  }

  // Tokens go past the template lists in the order of the text. A `<` that was taken for an
  // operator is renamed later, when its `>` comes, so its number is told, too.
  void Add(TokenKind kind, size_t length) {
    const auto number = static_cast<uint32_t>(out_.stream.tokens.size());
    out_.stream.tokens.push_back(
        {.kind = kind, .span = {static_cast<uint32_t>(at_), static_cast<uint32_t>(at_ + length)}});
    lists_.See(kind, number);
    at_ += length;
  }

  // False at the end.
  bool SkipBlanks() {
    while (at_ < out_.stream.text.size()) {
      const std::string_view rest = Rest();
      if (const CodePoint code = DecodeUtf8(rest); IsBlank(code.value)) {
        at_ += code.size;
      } else if (rest.starts_with("//")) {
        SkipLine();
      } else if (rest.starts_with("/*")) {
        SkipComment();
      } else {
        return true;
      }
    }
    return false;
  }
  void SkipLine() {
    while (at_ < out_.stream.text.size()) {
      const CodePoint code = DecodeUtf8(Rest());
      if (EndsLine(code.value)) {
        return;
      }
      at_ += code.size;
    }
  }
  // They nest.
  void SkipComment() {
    const size_t begin = at_;
    // Depth counts what is open. It is a number and no recursion, so comments may nest as deep
    // as the text is long.
    uint32_t depth = 0;
    do {
      const std::string_view rest = Rest();
      if (rest.empty()) {
        return Say(Code::kWgsl1001, begin, begin + 2, "'*/'", "end of file");
      }
      const bool opens = rest.starts_with("/*");
      const bool closes = rest.starts_with("*/");
      depth += opens ? 1 : 0;
      depth -= closes ? 1 : 0;
      at_ += opens || closes ? 2 : 1;
    } while (depth > 0);
  }

  void Token() {
    const std::string_view rest = Rest();
    const CodePoint code = DecodeUtf8(rest);
    // One `_` alone is a token of the phony assignment and no name. `_a` and `__` are words.
    const bool underscore = rest[0] == '_' && !IsPart(DecodeUtf8(rest.substr(1)).value);
    if (IsLetter(code.value) && !underscore) {
      return Word();
    }
    // A dot begins a number only before a digit; `a.x` has it as a token.
    if (IsDigit(code.value) || (code.value == '.' && rest.size() > 1 && IsDigit(rest[1]))) {
      return Number();
    }
    if (code.value == '>') {
      return Greater();
    }
    // `>` was looked at before, since only it depends on what is open around it.
    for (const Spelling& one : kPunctuators) {
      if (rest.starts_with(one.text)) {
        return Add(one.kind, one.text.size());
      }
    }
    // What is no token at all is a token for the parser, which says what it expected there. So
    // there is one error and not two.
    Add(TokenKind::kWrong, code.size);
  }

  void Word() {
    size_t length = 0;
    while (at_ + length < out_.stream.text.size()) {
      const CodePoint code = DecodeUtf8(Rest().substr(length));
      if (!IsPart(code.value)) {
        break;
      }
      length += code.size;
    }
    const std::string_view word = Rest().substr(0, length);
    // WGSL, "Identifiers": no name is a keyword, a reserved word, or begins with two
    // underscores. A word that is only too long is told as a limit and stays a name.
    const TokenKind* known = words_.Find(word);
    const TokenKind kind = known == nullptr ? TokenKind::kIdentifier : *known;
    if (kind == TokenKind::kReserved || word.starts_with("__")) {
      Add(Make(Code::kWgsl1003, Where(at_, at_ + length)).With("name", word));
    }
    if (length > limits_.identifier) {
      Limit("identifier", limits_.identifier);
    }
    // A word that was told is a name to the parser, so nothing more is said of it.
    Add(kind == TokenKind::kReserved ? TokenKind::kIdentifier : kind, length);
  }

  void Number() {
    // All that touches a number belongs to it, so that `1u2` is one wrong literal and no pair
    // of tokens.
    const size_t length = NumberLength(Rest());
    const std::string_view text = Rest().substr(0, length);
    const std::optional<NumberForm> form = ReadNumber(text);
    if (!form.has_value()) {
      Add(Make(Code::kWgsl1002, Where(at_, at_ + length)).With("text", text));
    }
    // A literal that is malformed is an integer from here on: the parser sees an operand and
    // goes on.
    Add(form.has_value() && form->is_float ? TokenKind::kFloat : TokenKind::kInt, length);
  }

  // WGSL, "Template Lists": the first `>` closes the list that is open at this depth of
  // brackets. If none is open, the longest of `>>=`, `>>`, `>=` and `>` is taken, which is the
  // order below.
  void Greater() {
    const uint32_t opened = lists_.Close();
    if (opened != TemplateLists::kNone) {
      out_.stream.tokens[opened].kind = TokenKind::kTemplateOpen;
      return Add(TokenKind::kTemplateClose, 1);
    }
    for (const TokenKind kind : {TokenKind::kShiftRightAssign, TokenKind::kShiftRight,
                                 TokenKind::kGreaterEqual, TokenKind::kGreater}) {
      if (Rest().starts_with(TokenText(kind))) {
        return Add(kind, TokenText(kind).size());
      }
    }
  }

  const uint32_t module_;
  const LanguageLimits& limits_;
  LexResult out_;
  MessageCount found_;  // of the messages in `out_`
  size_t at_ = 0;
  TemplateLists lists_;
  FlatMap<std::string_view, TokenKind> words_;
};

}  // namespace

LexResult Lex(std::string_view text, uint32_t module, const LanguageLimits& limits) {
  return Lexer(text, module, limits).Run();
}

}  // namespace kiln::wgsl::front
