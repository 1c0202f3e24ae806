// SPDX-License-Identifier: MIT
// What somebody is in the middle of typing: the tokens before a byte of the text as it is, and what
// they begin. Reads tokens only, so it works on any text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/lsp/analysis/source.h"

namespace kiln::lsp {

enum class CursorPlace : uint8_t {
  kNothing,      // a comment, a number, a text that is no enumerator
  kDeclaration,  // where a declaration begins
  kOptionKind,   // behind the ':' of an option
  kResource,     // behind set_pass, …
  kSettingName,
  kSettingValue,  // `name` is the setting
  kField,         // in a list of fields: a prefix or a type
  kPackFormat,
  kMember,      // behind a '.': `chain` is what stands before it
  kEnumerator,  // in or before a text compared with an option: `name` is the option
  kCondition,   // in an expression of compile time
  kStatement,   // where a statement begins
  kExpression,
};

struct Cursor {
  CursorPlace place = CursorPlace::kNothing;
  Span word;                       // what is typed of a word so far, or empty at the cursor
  std::string name;                // see above
  std::vector<std::string> chain;  // names before the '.', outermost first; "name ()" is a call
  bool quoted = false;             // kEnumerator: inside of the quotes
};

Cursor CursorAt(const Source& source, uint32_t offset);

// The call or constructor whose arguments the byte is in.
struct OpenCall {
  std::string name;
  uint32_t argument = 0;  // from 0
  bool constructor = false;
};
std::optional<OpenCall> OpenCallAt(const Source& source, uint32_t offset);

}  // namespace kiln::lsp
