// SPDX-License-Identifier: MIT
// A text that somebody is typing -> a text of the same size that parses: statements, then
// declarations, around what is wrong become spaces. So everything that can be asked about a source
// (names, types, outline) has an answer between two keys, with one parser and true positions.
#pragma once

#include <string>
#include <string_view>

#include "compiler/front/rpl/lex.h"
#include "compiler/front/rpl/parse.h"

namespace kiln::lsp {

// A text with its tokens and tree. Requires of users: tokens and tree are those of the text.
struct ParsedText {
  std::string text;
  rpl::LexResult tokens;
  rpl::ParseResult tree;
};

ParsedText ParseText(std::string text);

// Errors are those of `wrong`. At most kMendRounds parses; in the end all that is left of a text
// that cannot be mended is its comments and line ends.
inline constexpr uint32_t kMendRounds = 6;
ParsedText Mend(const ParsedText& wrong);

}  // namespace kiln::lsp
