// SPDX-License-Identifier: MIT
// What an identifier can mean besides being a name: contextual keyword, inbuilt type, inbuilt
// function. One identifier may be several of these ("sampler" is a keyword's place and a type).
// Which of them counts is decided by where it stands, in the parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/ir/builtins.h"
#include "compiler/ir/types.h"

namespace kiln::rpl {

enum class Keyword : uint8_t {
  kNone,
#define KILN_KEYWORD(enumerator, text) k##enumerator,
#include "compiler/front/rpl/tokens.def"
};
std::string_view KeywordText(Keyword keyword);

enum class InbuiltType : uint8_t {
  kNone,
#define KILN_TYPE(enumerator, text, version, make) k##enumerator,
#include "compiler/front/rpl/tokens.def"
};
std::string_view TypeName(InbuiltType type);
ir::Type TypeOf(InbuiltType type);  // Requires: not kNone

// A call of an inbuilt function: the family and the type its suffix names (kNone for functions that
// have no suffix).
struct InbuiltFunction {
  ir::Builtin builtin;
  InbuiltType suffix = InbuiltType::kNone;
  uint8_t version = 1;  // the language version that has it
};

struct Word {
  Keyword keyword = Keyword::kNone;
  InbuiltType type = InbuiltType::kNone;
  uint8_t type_version = 1;
  std::optional<InbuiltFunction> function;
};

// See spec/rpl 1.2, 4.1, 6 and the tables of compiler/ir/builtins.def.
Word LookUpWord(std::string_view text);

// A contextual keyword that starts a declaration and is spelled nearly like `text`; empty if none.
std::string_view SimilarDeclarationKeyword(std::string_view text);

}  // namespace kiln::rpl
