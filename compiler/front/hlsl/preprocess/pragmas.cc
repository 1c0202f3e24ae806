// SPDX-License-Identifier: MIT
// Pragmas that kiln knows change something here; those of other compilers about their warnings
// are passed over, and the rest is a warning, so that a misspelt `pack_matrix` does not change
// a layout in silence.
#include "compiler/front/hlsl/preprocess/pragmas.h"

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/macro_pragmas.h"

namespace kiln::hlsl {

// spec/hlsl 4.5. `warning` and `dxc diagnostic` are about other compilers' warnings and mean
// nothing here.
void Pragmas::Pragma(const DirectiveLine& line) {
  const std::span<const Token> words =
      std::span(state_.lexed.rows).subspan(line.at, line.end - line.at);
  const uint32_t word = SymbolAt(line.at, line);
  switch (word) {
    case kWordOnce:
      table_[files_.file()].is_once = true;
      return;
    case kWordPackMatrix:
      PackMatrix(line);
      return;
    case kWordMessage:
      state_.Report(state_.stream
                        .MakeAt(Code::kHlsl1035, files_.Delivered(line.at).origin,
                                files_.Delivered(line.end - 1).origin)
                        .With("text", Quoted(TextOf(words.subspan(1), state_.stream.symbols))));
      return;
    case kWordWarning:
      return;
    default:
      break;
  }
  if (word == kWordDxc && SymbolAt(line.at + 1, line) == kWordDiagnostic) {
    return;
  }
  if (IsMacros(line, words)) {
    return;
  }
  const uint32_t at = words.empty() ? line.name : line.at;
  state_.Report(state_.stream
                    .MakeAt(Code::kHlsl1034, files_.Delivered(at).origin,
                            files_.Delivered(line.end - 1).origin)
                    .With("text", Quoted(TextOf(words, state_.stream.symbols))));
}

// Lists of macros were read before the first line was (macro_pragmas.h). What is wrong with one is
// said here.
bool Pragmas::IsMacros(const DirectiveLine& line, std::span<const Token> tokens) {
  std::vector<std::string_view> words;
  for (const Token& token : tokens) {
    words.push_back(state_.Text(token.symbol));
  }
  const std::optional<Result<MacroAxis>> axis = MacroOfPragma(words);
  if (axis.has_value() && !axis->ok()) {
    state_.Report(state_.stream.MakeAt(Code::kHlsl1040, files_.Delivered(line.end - 1).origin)
                      .With("what", "a macro and its values (" + axis->error().context + ")")
                      .With("text", Quoted(TextOf(tokens, state_.stream.symbols))));
  }
  return axis.has_value();
}

// pack_matrix(row_major): for the declarations behind it.
void Pragmas::PackMatrix(const DirectiveLine& line) {
  const uint32_t order = SymbolAt(line.at + 2, line);
  const bool good = SymbolAt(line.at + 1, line) == static_cast<uint32_t>(TokenKind::kOpenParen) &&
                    SymbolAt(line.at + 3, line) == static_cast<uint32_t>(TokenKind::kCloseParen) &&
                    (order == kWordRowMajor || order == kWordColumnMajor);
  // The order holds from the next token that the parser gets.
  if (good) {
    state_.stream.pack_matrix.push_back(
        {.first_token = static_cast<uint32_t>(state_.stream.tokens.size()),
         .order = order == kWordRowMajor ? MatrixOrder::kRow : MatrixOrder::kColumn});
    return;
  }
  const std::span<const Token> words =
      std::span(state_.lexed.rows).subspan(line.at + 1, line.end - line.at - 1);
  state_.Report(state_.stream.MakeAt(Code::kHlsl1040, files_.Delivered(line.end - 1).origin)
                    .With("what", "'(row_major)' or '(column_major)'")
                    .With("text", words.empty() ? "end of line"
                                                : Quoted(TextOf(words, state_.stream.symbols))));
}

uint32_t Pragmas::SymbolAt(uint32_t row, const DirectiveLine& line) const {
  return row < line.end ? state_.lexed.rows[row].symbol : kNoSymbol;
}

}  // namespace kiln::hlsl
