// SPDX-License-Identifier: MIT
// What is said about inbuilt functions and settings: signatures and values from the tables of the
// compiler, the rest from docs/rpl/special_functions.txt, of which the build makes a string.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/front/rpl/words.h"
#include "compiler/ir/settings.h"

namespace kiln::lsp {

struct BuiltinText {
  std::string name;                     // "clamp_f3"
  std::string signature;                // "clamp_f3 (f3, f3, f3) → f3"
  std::vector<std::string> parameters;  // as they stand in the signature
  std::string stage;                    // "vertex"; empty: any
  uint32_t version = 1;                 // of the language
  std::string example;                  // a line, or empty
};

// The function of a name; nothing if there is none.
std::optional<BuiltinText> DescribeBuiltin(std::string_view name);
// Every inbuilt function of a version, families with each of their types; sorted by name.
std::vector<BuiltinText> AllBuiltins(uint32_t version);

// "enum "none", "back" (default), "front"", "flag, false": what a setting takes.
std::string DescribeSetting(const ir::SettingFacts& facts);
// What may stand behind its '=', the default first: "\"back\"", "true".
std::vector<std::string> SettingValues(const ir::SettingFacts& facts);

// docs/rpl/special_functions.txt.
std::string_view SpecialFunctions();

}  // namespace kiln::lsp
