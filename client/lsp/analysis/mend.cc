// SPDX-License-Identifier: MIT
#include "client/lsp/analysis/mend.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kiln::lsp {
namespace {

using rpl::Token;
using rpl::TokenKind;

// How much around an error is given up.
enum class Reach : uint8_t { kStatement, kDeclaration, kRest };

bool EndsStatement(const Token& token) {
  return token.kind == TokenKind::kSemicolon || token.kind == TokenKind::kOpenBrace ||
         token.kind == TokenKind::kCloseBrace;
}

// Whether a declaration ends with token `i`: a ';' at the start level, or the '}' of a function,
// which nothing else but a declaration follows. What stands at the start of a line and is no brace
// begins one, too, whatever braces are missing before it.
class Outline {
 public:
  Outline(std::string_view text, const std::vector<Token>& tokens) : begins_(tokens.size()) {
    // `begins` says whether the next token may begin a declaration: at the start of the file,
    // behind a ';' or a closed body at level 0, and at every name in the first column. The last
    // rule is what makes a missing '}' cost one declaration and not the rest of the file.
    int depth = 0;
    bool begins = true;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      const bool brace =
          token.kind == TokenKind::kOpenBrace || token.kind == TokenKind::kCloseBrace;
      const bool at_line = token.begin == 0 || text[token.begin - 1] == '\n';
      if (at_line && token.kind == TokenKind::kIdentifier) {
        begins = true;
        depth = 0;
      }
      begins_[i] = begins && !brace;
      begins = false;
      depth += token.kind == TokenKind::kOpenBrace ? 1 : 0;
      if (token.kind == TokenKind::kCloseBrace) {
        depth = std::max(depth - 1, 0);
      }
      // "};" ends a struct or a block at its ';', which comes next.
      const bool closed = token.kind == TokenKind::kCloseBrace && depth == 0 &&
                          i + 1 < tokens.size() && tokens[i + 1].kind != TokenKind::kSemicolon;
      begins = closed || (token.kind == TokenKind::kSemicolon && depth == 0);
    }
  }
  bool Begins(size_t token) const { return begins_[token]; }

 private:
  std::vector<bool> begins_;
};

class Blanker {
 public:
  explicit Blanker(const ParsedText& wrong)
      : text_(wrong.text), tokens_(wrong.tokens.tokens), outline_(text_, tokens_) {}

  // `at` may lie between two tokens, because characters that no token can begin with are skipped by
  // the lexer. Blanking them alone mends the text without losing a statement.
  void Around(const Diagnostic& error, Reach reach) {
    const uint32_t at = error.primary.bytes.begin;
    const auto behind = std::ranges::upper_bound(tokens_, at, {}, &Token::begin);
    const bool at_token = behind != tokens_.begin() && at < (behind - 1)->end();
    const std::string_view bytes = TextOf(text_, error.primary.bytes);
    if (!at_token && bytes.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      Blank(error.primary.bytes);  // characters that gave no token: nothing else is wrong
      if (reach == Reach::kStatement) {
        return;
      }
    }
    if (tokens_.empty()) {
      return;
    }
    // The token at or before the error; of an error in front of the first token the first one.
    const size_t token =
        behind == tokens_.begin() ? 0 : static_cast<size_t>(behind - tokens_.begin()) - 1;
    if (reach == Reach::kStatement) {
      Statement(token);
    } else {
      Declaration(token, reach);
    }
    // A second place takes part in the error (a bracket that was never closed, say). It is given up
    // as well from the second round on, when the primary place alone did not help.
    for (const Label& label : error.labels) {
      if (reach != Reach::kStatement) {
        Blank(label.where.bytes);
      }
    }
  }

  std::string Take() && { return std::move(text_); }

 private:
  // From behind the last end of a statement to the next one, which goes with it if it is a ';'.
  void Statement(size_t token) {
    size_t first = token;
    if (EndsStatement(tokens_[token]) && token > 0) {
      --first;
    }
    while (first > 0 && !EndsStatement(tokens_[first - 1])) {
      --first;
    }
    size_t last = std::max(first, token);
    while (last + 1 < tokens_.size() && !EndsStatement(tokens_[last])) {
      ++last;
    }
    if (tokens_[last].kind != TokenKind::kSemicolon && last > first) {
      --last;
    }
    Blank({.begin = tokens_[first].begin, .end = tokens_[last].end()});
  }

  // With kRest everything from the begin of the declaration to the end of the file is blanked: the
  // last resort of a text whose braces make no sense.
  void Declaration(size_t token, Reach reach) {
    size_t first = token;
    while (first > 0 && !outline_.Begins(first)) {
      --first;
    }
    size_t behind = std::max(token, first + 1);
    while (behind < tokens_.size() && (reach == Reach::kRest || !outline_.Begins(behind))) {
      ++behind;
    }
    Blank({.begin = tokens_[first].begin, .end = tokens_[behind - 1].end()});
  }

  // Characters become as many spaces as they have bytes; line ends stay.
  void Blank(Span bytes) {
    for (size_t i = bytes.begin; i < std::min<size_t>(bytes.end, text_.size()); ++i) {
      if (text_[i] != '\n' && text_[i] != '\r') {
        text_[i] = ' ';
      }
    }
  }

  std::string text_;
  const std::vector<Token>& tokens_;
  const Outline outline_;
};

}  // namespace

ParsedText ParseText(std::string text) {
  ParsedText parsed{.text = std::move(text), .tokens = {}, .tree = {}};
  parsed.tokens = rpl::Lex(parsed.text, 0);
  parsed.tree = rpl::ParseTokens(parsed.text, parsed.tokens, 0);
  return parsed;
}

// Each round gives up more around the errors that are left. Most texts that are being typed need
// one: the statement under the cursor.
ParsedText Mend(const ParsedText& wrong) {
  ParsedText mended{.text = wrong.text, .tokens = wrong.tokens, .tree = wrong.tree};
  for (uint32_t round = 0; round < kMendRounds && HasErrors(mended.tree.diagnostics); ++round) {
    // One round of statements, three of declarations, then two of kRest: most texts need the first
    // one only, and a text that blanking does not help costs six parses and no more.
    const Reach reach = round == 0   ? Reach::kStatement
                        : round <= 3 ? Reach::kDeclaration
                                     : Reach::kRest;
    Blanker blanker(mended);
    for (const Diagnostic& found : mended.tree.diagnostics) {
      if (found.severity == Severity::kError) {
        blanker.Around(found, reach);
      }
    }
    mended = ParseText(std::move(blanker).Take());
  }
  // White space alone parses, and as many bytes of it keep every position valid. Lines are told
  // from the text itself, so its line ends are not needed here.
  return HasErrors(mended.tree.diagnostics) ? ParseText(std::string(wrong.text.size(), ' '))
                                            : std::move(mended);
}

}  // namespace kiln::lsp
