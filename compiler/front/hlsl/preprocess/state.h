// SPDX-License-Identifier: MIT
// What the parts of the preprocessor share, and how it ends early: whoever finds that there is too
// much of something calls Fail, and from then on every source of tokens is at its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/diag/message_count.h"
#include "compiler/front/hlsl/lex/lex.h"
#include "compiler/front/hlsl/preprocess/macro_table.h"
#include "compiler/front/hlsl/token_stream.h"

namespace kiln::hlsl {

// What macros and repeated includes may make besides `limits.macro_tokens`: the module has a share
// that small sources may use, and one token for each byte of text. So what is kept stays within a
// multiple of the input. See spec/hlsl 25.2, 25.3
inline constexpr uint64_t kFreeTokens = 1u << 17;

struct PreprocessState {
  TokenStream& stream;
  std::vector<Diagnostic>& diagnostics;
  const LanguageLimits& limits;
  LexedTokens lexed = {};
  MacroTable macros = {};
  uint64_t bytes = 0;       // of all texts
  uint64_t made = 0;        // tokens that were made of others
  MessageCount found = {};  // of what is in `diagnostics`
  bool stopped = false;
  bool lacks_file = false;  // an include was not found, or is no text
  // By symbol: 1 + the row of a macro that the request chooses and the source has not asked for.
  std::vector<uint32_t> unread = {};
  std::span<const MacroChoice> choices = {};

  // Many errors end it, warnings never do.
  void Report(Diagnostic diagnostic) {
    if (found.Take(diagnostic.severity)) {
      diagnostics.push_back(std::move(diagnostic));
    }
    stopped = stopped || found.IsFull();
  }
  void Fail(Diagnostic diagnostic) {
    Report(std::move(diagnostic));
    stopped = true;
  }

  // `count` tokens more because of the token at `origin`. False, with an error, if that is too
  // many.
  bool Make(uint64_t count, uint32_t origin) {
    made += count;
    ChargeMade(count);
    if (made <= MostMade()) [[likely]] {
      return true;
    }
    FailMade(origin);
    return false;
  }
  uint64_t MostMade() const { return std::min<uint64_t>(limits.macro_tokens, kFreeTokens + bytes); }
  // HLSL1007, and the end.
  void FailSize(std::string_view what, std::string_view size, uint64_t limit, uint32_t origin);

  std::string_view Text(uint32_t symbol) const { return stream.symbols.Text(symbol); }

  // From here on it is noted which of these the source asks for, once each, as a probe.
  void NoteReadsOf(std::span<const MacroChoice> macros);
  // Row of the macro that a spelling names, or MacroTable::kNone. Everything that depends on
  // whether a name is a macro comes here, so that no choice is read unnoticed.
  uint32_t FindMacro(uint32_t symbol) {
    if (symbol < unread.size() && unread[symbol] != 0) [[unlikely]] {
      NoteRead(symbol);
    }
    return macros.Find(symbol);
  }

 private:
  void NoteRead(uint32_t symbol);

  static constexpr uint64_t kBytesOfMade = 32;  // a token, where it stands, its expansion

  void ChargeMade(uint64_t count) const;
  void FailMade(uint32_t origin);
};

// Spellings of tokens in a row, one space where there was any; cut behind `most` bytes.
std::string TextOf(std::span<const Token> tokens, const SymbolTable& symbols,
                   size_t most = kMaxArgument);

}  // namespace kiln::hlsl
