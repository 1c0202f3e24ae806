// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/preprocess/state.h"

#include "compiler/base/threads/stop.h"

namespace kiln::hlsl {

// In portions, not for each token: counting is cheap, charging is not.
void PreprocessState::ChargeMade(uint64_t count) const {
  CheckStop();
  ChargeMemory(count * kBytesOfMade);
}

// The first limit that is exceeded is reported; `Fail` ends reading, so there is no second.
void PreprocessState::FailMade(uint32_t origin) {
  if (!stopped) {
    Fail(stream.MakeAt(Code::kHlsl1033, origin).With("limit", MostMade()));
  }
}

void PreprocessState::FailSize(std::string_view what, std::string_view size, uint64_t limit,
                               uint32_t origin) {
  if (!stopped) {
    Fail(stream.MakeAt(Code::kHlsl1007, origin)
             .With("what", what)
             .With("size", size)
             .With("limit", limit));
  }
}

// Tokens as text, with one space where there was any, cut near `most` bytes.
std::string TextOf(std::span<const Token> tokens, const SymbolTable& symbols, size_t most) {
  std::string text;
  for (const Token& token : tokens) {
    if (!text.empty() && (token.flags & Token::kLayout) != 0) {
      text += ' ';
    }
    text += symbols.Text(token.symbol);
    if (text.size() > most) {
      break;
    }
  }
  return text;
}

}  // namespace kiln::hlsl
