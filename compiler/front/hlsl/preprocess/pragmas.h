// SPDX-License-Identifier: MIT
// #pragma: once, pack_matrix, message; those of other compilers that change nothing here. See
// spec/hlsl 4.5
#pragma once

#include "compiler/front/hlsl/preprocess/file_stack.h"

namespace kiln::hlsl {

class Pragmas {
 public:
  // All outlive this.
  Pragmas(FileStack& files, FileTable& table, PreprocessState& state)
      : files_(files), table_(table), state_(state) {}

  void Pragma(const DirectiveLine& line);

 private:
  void PackMatrix(const DirectiveLine& line);
  bool IsMacros(const DirectiveLine& line, std::span<const Token> tokens);
  uint32_t SymbolAt(uint32_t row, const DirectiveLine& line) const;

  FileStack& files_;
  FileTable& table_;
  PreprocessState& state_;
};

}  // namespace kiln::hlsl
