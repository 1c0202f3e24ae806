// SPDX-License-Identifier: MIT
// The style of RPL: what `kiln fmt` makes of a source. Only white space between tokens and comments
// changes, so that no formatting can change what a source means.
//
// * four spaces for each open brace; what goes on in the next line four more
// * a block that takes several lines has its braces on lines of their own; one that an author wrote
//   on one line stays there
// * one space between words and around binary operators, before '(' and '{' of calls and
//   constructors, none inside them; none around '.', before ',' and ';'
// * at most one empty line, none at the start, behind '{' and before '}'
// * comments behind code on neighbouring lines begin in one column
//
// The author decides where else lines end. See docs/users/editor.md
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/front/rpl/lex.h"
#include "compiler/source/span.h"

namespace kiln::format {

// White space that becomes other white space.
struct GapEdit {
  Span bytes;
  std::string text;
};

// Sorted; empty if the text is formatted. Requires: tokens of the text, which parses.
std::vector<GapEdit> FormatRpl(std::string_view text, const rpl::LexResult& tokens);

std::string Apply(std::string_view text, const std::vector<GapEdit>& edits);

}  // namespace kiln::format
