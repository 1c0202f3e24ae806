// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/preprocess/state.h"

#include "compiler/base/threads/stop.h"
#include "compiler/source/macro_path.h"

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

// By the number of the spelling, since every word of a source is looked up. Names are those of a
// request, so there are few, and their numbers are the first behind the known words.
void PreprocessState::NoteReadsOf(std::span<const MacroChoice> macros_of_request) {
  choices = macros_of_request;
  for (uint32_t row = 0; row < choices.size(); ++row) {
    const uint32_t symbol = stream.symbols.Intern(choices[row].name);
    unread.resize(std::max<size_t>(unread.size(), symbol + 1));
    unread[symbol] = row + 1;
  }
}

// A choice that is "not defined" is a probe that found nothing, as a file that is not there.
void PreprocessState::NoteRead(uint32_t symbol) {
  const MacroChoice& choice = choices[std::exchange(unread[symbol], 0) - 1];
  ChargeMemory(sizeof(kiln::Probe) + 2 * choice.name.size());
  stream.probes.push_back(
      {.path = MacroPath(choice.name),
       .present = choice.value.has_value(),
       .digest = choice.value.has_value() ? DigestOf(std::string_view(*choice.value)) : Digest{}});
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
