// SPDX-License-Identifier: MIT
// The tokens that stand for one use of a macro: its body with parameters replaced, '#' and '##'
// done.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/front/hlsl/preprocess/state.h"

namespace kiln::hlsl {

// One argument of a call: ranges of the expander's argument tokens.
struct Argument {
  uint32_t first = 0, count = 0;  // as written
  uint32_t expanded_first = 0, expanded_count = 0;
  bool is_expanded = false;
};

struct MacroUse {
  const Macro& macro;
  Token name;                           // where it is used
  uint32_t context = 0;                 // of this expansion
  std::span<const Argument> arguments;  // one for each parameter
  std::span<const Token> tokens;        // that they are ranges of
};

// Appends to `out`. What is made is counted; stops where it is too much.
void Substitute(const MacroUse& use, PreprocessState& state, std::vector<Token>& out);

}  // namespace kiln::hlsl
