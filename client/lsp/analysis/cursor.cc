// SPDX-License-Identifier: MIT
#include "client/lsp/analysis/cursor.h"

#include <algorithm>
#include <array>
#include <span>

namespace kiln::lsp {
namespace {

using rpl::Keyword;
using rpl::Token;
using rpl::TokenKind;

// A bound on how far the chain in front of a '.' is followed, so that a file that is one endless
// expression costs a keystroke no more than this.
constexpr uint32_t kMostTokensBack = 4096;  // of one statement

// Tokens that end before the cursor, with what is around them.
// Everything below works on tokens of the text as it is typed, never on the tree: the tree of a
// text with an error is that of its mended form, in which the statement under the cursor is blank.
class TokensBefore {
 public:
  TokensBefore(const Source& source, uint32_t offset)
      : text_(source.file().text),
        tokens_(source.tokens().tokens),
        symbols_(source.tokens().symbols) {
    // The tokens before the cursor are those that begin before it. A word that reaches up to the
    // cursor or over it is what is being typed: it becomes `word_` up to the cursor and counts as
    // absent, so that the place of "fo|" is that of "|".
    const auto behind = std::ranges::lower_bound(tokens_, offset, {},
                                                 [](const Token& token) { return token.begin; });
    count_ = static_cast<size_t>(behind - tokens_.begin());
    if (count_ > 0 && tokens_[count_ - 1].kind == TokenKind::kEnd) {
      --count_;
    }
    if (count_ > 0 && tokens_[count_ - 1].kind == TokenKind::kIdentifier &&
        tokens_[count_ - 1].end() >= offset) {
      word_ = {.begin = tokens_[count_ - 1].begin, .end = offset};
      --count_;
    } else {
      word_ = {.begin = offset, .end = offset};
    }
  }

  Span word() const { return word_; }
  size_t size() const { return count_; }
  const Token& operator[](size_t i) const { return tokens_[i]; }
  TokenKind Kind(size_t back) const {  // 1: the last one
    return back <= count_ ? tokens_[count_ - back].kind : TokenKind::kEnd;
  }
  std::string_view Text(size_t back) const {
    return back <= count_ ? TextOf(text_, tokens_[count_ - back].span()) : std::string_view();
  }
  Keyword Word(size_t i) const {
    return tokens_[i].kind == TokenKind::kIdentifier ? symbols_[tokens_[i].value].word.keyword
                                                     : Keyword::kNone;
  }
  std::string_view TextOfToken(size_t i) const { return TextOf(text_, tokens_[i].span()); }

 private:
  std::string_view text_;
  const std::vector<Token>& tokens_;
  const std::vector<rpl::Symbol>& symbols_;
  size_t count_ = 0;
  Span word_;
};

// Looks at one line only, because comments of RPL end with theirs. Quotes are followed, so that
// "//" in a text is no comment.
bool IsInComment(std::string_view text, uint32_t offset) {
  const size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  bool quoted = false;
  for (size_t i = begin; i < offset && i < text.size(); ++i) {
    if (text[i] == '"' && (i == begin || text[i - 1] != '\\')) {
      quoted = !quoted;
    } else if (!quoted && text.substr(i, 2) == "//" && i + 2 <= offset) {
      return true;
    }
  }
  return false;
}

// The text that the cursor is in, which may lack its end: where it begins, or nothing.
// An odd number of quotes before the cursor means that it is in a text. The lexer cannot be asked:
// a text without an end is an error there and takes the rest of the line.
std::optional<uint32_t> OpenQuote(std::string_view text, uint32_t offset) {
  const size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  std::optional<uint32_t> open;
  for (size_t i = before == std::string_view::npos ? 0 : before + 1; i < offset; ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) {
      open = open.has_value() ? std::nullopt : std::optional(static_cast<uint32_t>(i));
    }
  }
  return open;
}

bool IsBlockWord(Keyword word) {
  return word == Keyword::kStruct || word == Keyword::kPushConstant ||
         word == Keyword::kVertexAttributeContainer ||
         word == Keyword::kInstancedAttributeContainer || word == Keyword::kStateContainer ||
         word == Keyword::kColorOutputContainer || word == Keyword::kUniformBuffer ||
         word == Keyword::kReadOnlyStorageBuffer || word == Keyword::kReadWriteStorageBuffer;
}

bool IsSetWord(Keyword word) {
  return word == Keyword::kSetPass || word == Keyword::kSetMaterial ||
         word == Keyword::kSetObject || word == Keyword::kSetShared;
}

// What the braces around the cursor are, and where the statement or field in progress begins.
struct Surroundings {
  enum class Kind : uint8_t { kFile, kFields, kCode } kind = Kind::kFile;
  size_t begin = 0;       // token that the declaration, field or statement begins with
  size_t open_paren = 0;  // 1 + the innermost '(' or '{' of the statement that is not closed; 0
};

// One walk over the tokens from the front: braces of constructors, which follow a name or ']' in
// code, are like parentheses; all others open a list of fields or a body.
// The cost is one pass over all tokens before the cursor. A walk backwards would be shorter but
// could not tell the brace of a constructor from that of a body.
Surroundings Look(const TokensBefore& tokens) {
  Surroundings now;
  std::vector<Surroundings> around;
  std::vector<size_t> brackets;  // open ones of the statement
  size_t declaration = 0;
  const auto begin_at = [&](size_t token) {
    now.begin = token;
    brackets.clear();
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const TokenKind kind = tokens[i].kind;
    if (kind == TokenKind::kOpenParen || kind == TokenKind::kOpenBracket) {
      brackets.push_back(i);
    } else if (kind == TokenKind::kCloseParen || kind == TokenKind::kCloseBracket) {
      if (!brackets.empty()) {
        brackets.pop_back();
      }
    } else if (kind == TokenKind::kOpenBrace) {
      // A brace behind a name or ']' is a constructor if it stands in code and not at the begin of
      // the statement. The declaration's first words tell a list of fields from a body: "struct a
      // {" has a brace behind a name as well. 64 tokens are enough for every head of a declaration.
      const bool after_name = i > 0 && (tokens[i - 1].kind == TokenKind::kIdentifier ||
                                        tokens[i - 1].kind == TokenKind::kCloseBracket);
      const bool is_else = i > 0 && tokens.Word(i - 1) == Keyword::kElse;
      bool block_words = false;
      for (size_t j = declaration; j < std::min(declaration + 64, i); ++j) {
        block_words = block_words || IsBlockWord(tokens.Word(j));
      }
      const bool fields = now.kind == Surroundings::Kind::kFile && block_words;
      const bool in_value = now.kind != Surroundings::Kind::kFile || !fields;
      if (after_name && !is_else && in_value && i > now.begin) {
        brackets.push_back(i);
        continue;
      }
      around.push_back(now);
      now.kind = fields ? Surroundings::Kind::kFields : Surroundings::Kind::kCode;
      begin_at(i + 1);
    } else if (kind == TokenKind::kCloseBrace) {
      // The brace ends a constructor, and the statement goes on. Otherwise it ends a block, and
      // what was around the block is taken up again; a brace too many is ignored.
      if (!brackets.empty() && tokens[brackets.back()].kind == TokenKind::kOpenBrace) {
        brackets.pop_back();
        continue;
      }
      if (!around.empty()) {
        now = around.back();
        around.pop_back();
      }
      begin_at(i + 1);
      declaration = now.kind == Surroundings::Kind::kFile ? i + 1 : declaration;
    } else if (kind == TokenKind::kSemicolon &&
               (brackets.empty() || tokens[brackets.back()].kind != TokenKind::kOpenParen)) {
      // A ';' between parentheses belongs to the head of a `for` and ends no statement.
      begin_at(i + 1);
      declaration = now.kind == Surroundings::Kind::kFile ? i + 1 : declaration;
    }
  }
  now.open_paren = brackets.empty() ? 0 : brackets.back() + 1;
  return now;
}

// Names before the '.' that is the last token: "gust.phase" of "gust.phase."; indices are left out.
std::vector<std::string> ChainBefore(const TokensBefore& tokens) {
  std::vector<std::string> chain;
  // Walks backwards over name, brackets, '.', name and so on. Brackets of all three kinds are
  // counted together, as a wrong nesting of them is no chain that anybody could complete.
  size_t back = 1;  // a '.'
  while (tokens.Kind(back) == TokenKind::kDot && back < kMostTokensBack) {
    ++back;
    bool call = false;
    int depth = 0;
    while (tokens.Kind(back) == TokenKind::kCloseBracket ||
           tokens.Kind(back) == TokenKind::kCloseParen ||
           tokens.Kind(back) == TokenKind::kCloseBrace) {
      call = call || tokens.Kind(back) != TokenKind::kCloseBracket;
      do {
        const TokenKind kind = tokens.Kind(back);
        depth += kind == TokenKind::kCloseBracket || kind == TokenKind::kCloseParen ||
                         kind == TokenKind::kCloseBrace
                     ? 1
                     : 0;
        depth -= kind == TokenKind::kOpenBracket || kind == TokenKind::kOpenParen ||
                         kind == TokenKind::kOpenBrace
                     ? 1
                     : 0;
        ++back;
      } while (depth > 0 && back <= std::min<size_t>(tokens.size(), kMostTokensBack));
    }
    if (tokens.Kind(back) != TokenKind::kIdentifier) {
      return {};
    }
    chain.insert(chain.begin(), std::string(tokens.Text(back)) + (call ? " ()" : ""));
    ++back;
  }
  return chain;
}

Cursor InQuotes(const TokensBefore& tokens, uint32_t quote, uint32_t offset) {
  Cursor cursor{.place = CursorPlace::kNothing,
                .word = {.begin = quote + 1, .end = offset},
                .name = {},
                .chain = {},
                .quoted = true};
  // The token of the text itself, if it has an end, is not before the cursor in this sense.
  size_t back = 1;
  while (back <= tokens.size() && tokens[tokens.size() - back].begin >= quote) {
    ++back;
  }
  if ((tokens.Kind(back) == TokenKind::kEqual || tokens.Kind(back) == TokenKind::kNotEqual) &&
      tokens.Kind(back + 1) == TokenKind::kIdentifier) {
    cursor.place = CursorPlace::kEnumerator;
    cursor.name = tokens.Text(back + 1);
  } else if (tokens.Kind(back) == TokenKind::kAssign) {
    // "setting NAME =" or "setting NAME block N =": the word is at most four tokens before the '='.
    for (size_t i = back + 1; i < back + 6 && i <= tokens.size(); ++i) {
      if (tokens.Word(tokens.size() - i) == Keyword::kSetting) {
        cursor.place = CursorPlace::kSettingValue;
        cursor.name = tokens.Text(i - 1);
      }
    }
  }
  return cursor;
}

void InFile(const TokensBefore& tokens, const Surroundings& around, Cursor& cursor) {
  // A declaration begins where nothing stands yet, or behind the parentheses of a leading
  // `conditional (…)`.
  const size_t begin = around.begin;
  const size_t count = tokens.size() - begin;
  if (count == 0 || (tokens.Kind(1) == TokenKind::kCloseParen &&
                     tokens.Word(begin) == Keyword::kConditional && around.open_paren == 0)) {
    cursor.place = CursorPlace::kDeclaration;
    return;
  }
  const Keyword first = tokens.Word(begin);
  if (IsSetWord(tokens.Word(tokens.size() - 1))) {
    cursor.place = CursorPlace::kResource;
  } else if (first == Keyword::kSetting) {
    cursor.name = count > 1 ? tokens.TextOfToken(begin + 1) : "";
    bool assigned = false;
    for (size_t i = begin; i < tokens.size(); ++i) {
      assigned = assigned || tokens[i].kind == TokenKind::kAssign;
    }
    cursor.place = assigned     ? CursorPlace::kSettingValue
                   : count == 1 ? CursorPlace::kSettingName
                                : CursorPlace::kNothing;
  } else if (first == Keyword::kGlobal || first == Keyword::kInstance) {
    cursor.place =
        tokens.Kind(1) == TokenKind::kColon ? CursorPlace::kOptionKind : CursorPlace::kNothing;
  } else if (around.open_paren > 0 && first == Keyword::kConditional &&
             // `open_paren` is 1 + the index of the parenthesis, so the word before it is at
             // `open_paren` - 2. If the parenthesis is the first token, the difference wraps and
             // the first token is asked instead, which is no keyword then.
             tokens.Word(around.open_paren - 2 < tokens.size() ? around.open_paren - 2 : 0) ==
                 Keyword::kConditional) {
    cursor.place = CursorPlace::kCondition;
  } else if (first == Keyword::kConstant) {
    cursor.place = count > 2 ? CursorPlace::kCondition : CursorPlace::kNothing;
  } else if (around.open_paren > 0) {
    cursor.place = CursorPlace::kField;  // the arguments of a function
  }
}

}  // namespace

// The cheap questions come first and decide most keystrokes: comment, text, '.', comparison. Only
// then are the braces around the cursor read from the front. No tree is needed, which a text that
// is being typed seldom makes.
Cursor CursorAt(const Source& source, uint32_t offset) {
  const std::string& text = source.file().text;
  const TokensBefore tokens(source, offset);
  Cursor cursor;
  cursor.word = tokens.word();
  if (IsInComment(text, offset)) {
    return cursor;
  }
  if (const std::optional<uint32_t> quote = OpenQuote(text, offset)) {
    return InQuotes(tokens, *quote, offset);
  }
  if (tokens.Kind(1) == TokenKind::kDot) {
    cursor.place = CursorPlace::kMember;
    cursor.chain = ChainBefore(tokens);
    return cursor;
  }
  if ((tokens.Kind(1) == TokenKind::kEqual || tokens.Kind(1) == TokenKind::kNotEqual) &&
      tokens.Kind(2) == TokenKind::kIdentifier) {
    cursor.place = CursorPlace::kEnumerator;
    cursor.name = tokens.Text(2);
    return cursor;
  }
  const Surroundings around = Look(tokens);
  const auto in_call_of = [&](Keyword word) {
    return around.open_paren > 1 && tokens.Word(around.open_paren - 2) == word;
  };
  if (around.kind == Surroundings::Kind::kFile) {
    InFile(tokens, around, cursor);
  } else if (in_call_of(Keyword::kConditional)) {
    cursor.place = CursorPlace::kCondition;
  } else if (around.kind == Surroundings::Kind::kFields) {
    cursor.place = in_call_of(Keyword::kPack)   ? CursorPlace::kPackFormat
                   : in_call_of(Keyword::kMeta) ? CursorPlace::kNothing
                   : around.open_paren > 0      ? CursorPlace::kCondition
                                                : CursorPlace::kField;
  } else {
    cursor.place =
        tokens.size() == around.begin ? CursorPlace::kStatement : CursorPlace::kExpression;
  }
  return cursor;
}

std::optional<OpenCall> OpenCallAt(const Source& source, uint32_t offset) {
  if (IsInComment(source.file().text, offset)) {
    return std::nullopt;
  }
  const TokensBefore tokens(source, offset);
  const Surroundings around = Look(tokens);
  // A call needs a name and a bracket in front of the cursor.
  if (around.open_paren < 2) {
    return std::nullopt;
  }
  const size_t open = around.open_paren - 1;
  if (tokens[open].kind == TokenKind::kOpenBracket ||
      tokens[open - 1].kind != TokenKind::kIdentifier) {
    return std::nullopt;
  }
  OpenCall call{.name = std::string(tokens.TextOfToken(open - 1)),
                .argument = 0,
                .constructor = tokens[open].kind == TokenKind::kOpenBrace};
  int depth = 0;
  for (size_t i = open + 1; i < tokens.size(); ++i) {
    const TokenKind kind = tokens[i].kind;
    depth += kind == TokenKind::kOpenParen || kind == TokenKind::kOpenBracket ||
                     kind == TokenKind::kOpenBrace
                 ? 1
                 : 0;
    depth -= kind == TokenKind::kCloseParen || kind == TokenKind::kCloseBracket ||
                     kind == TokenKind::kCloseBrace
                 ? 1
                 : 0;
    // Commas of nested calls and lists do not count, so `depth` is followed over all brackets.
    call.argument += depth == 0 && kind == TokenKind::kComma ? 1 : 0;
  }
  return call;
}

}  // namespace kiln::lsp
