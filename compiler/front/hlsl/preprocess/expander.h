// SPDX-License-Identifier: MIT
// Tokens with macros -> tokens without. What stands for a macro is read again, together with what
// follows it; while it is read, the macro's name is hidden, and a mention that was met meanwhile
// stays what it is for ever (Token::kNoExpand). See spec/hlsl 4.1
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/front/hlsl/preprocess/file_table.h"
#include "compiler/front/hlsl/preprocess/state.h"
#include "compiler/front/hlsl/preprocess/substitute.h"
#include "compiler/front/hlsl/preprocess/token_source.h"

namespace kiln::hlsl {

class Expander {
 public:
  // All outlive the expander.
  Expander(TokenSource& source, FileTable& files, PreprocessState& state)
      : source_(source), files_(files), state_(state) {}

  // The next token that is no macro; kEnd at the end of the source.
  Token Next();
  // The next token as it is.
  Token NextRaw();
  // Whether the source is read directly: no macro is being expanded.
  bool idle() const { return frames_.empty(); }
  // The row of the macro that a token names and that is not hidden; kNone otherwise. Marks the
  // token if it is.
  uint32_t MacroOf(Token& token) const;

 private:
  // Tokens of the pool that are read before the source: what stands for a macro, or (without one)
  // an argument that is expanded by itself, which ends in kEnd.
  struct Frame {
    uint32_t at, end;
    uint32_t macro;
  };

  Token BuiltIn(const Macro& macro, Token name);
  std::optional<Token> Expand(uint32_t row, Token name);
  bool NextIsOpenParen();
  bool Collect(uint32_t row, const Token& name, size_t first_argument);
  bool CountFits(const Macro& macro, const Token& name, size_t first_argument, size_t found);
  void ExpandArguments(std::span<const Token> body, size_t first_argument, uint32_t origin);
  void ExpandArgument(size_t number, uint32_t origin);
  bool HasMacro(const Argument& argument) const;
  void Enter(uint32_t row, const Token& name, std::span<const Argument> arguments);
  void Leave();

  TokenSource& source_;
  FileTable& files_;
  PreprocessState& state_;
  std::vector<Frame> frames_;  // innermost last
  // All are stacks: of what the frames read, and of the arguments of calls that are being read.
  std::vector<Token> pool_;
  std::vector<Token> argument_tokens_;
  std::vector<Argument> arguments_;
};

}  // namespace kiln::hlsl
