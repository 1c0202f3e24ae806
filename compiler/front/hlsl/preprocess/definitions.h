// SPDX-License-Identifier: MIT
// #define and #undef: lines -> macros.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/front/hlsl/preprocess/file_stack.h"

namespace kiln::hlsl {

class Definitions {
 public:
  Definitions(FileStack& files, PreprocessState& state) : files_(files), state_(state) {}

  // Names that are defined before the first line: __FILE__, __LINE__, and the clock's, which are
  // refused when they are used.
  void DefineBuiltIns();
  // What is defined by now is in no file.
  void EndOfPredefined();

  void Define(const DirectiveLine& line);
  void Undefine(const DirectiveLine& line);

 private:
  std::optional<uint32_t> Read(const DirectiveLine& line);
  bool ReadParameters(uint32_t& at, const DirectiveLine& line, Macro& macro);
  bool ReadBody(uint32_t at, const DirectiveLine& line, const Macro& macro);
  bool ReadMacroName(const DirectiveLine& line);
  bool Expected(std::string_view what, uint32_t at, const DirectiveLine& line);
  Token At(uint32_t row, const DirectiveLine& line) const;

  FileStack& files_;
  PreprocessState& state_;
  FlatMap<uint32_t, uint32_t> by_line_;  // macros of the definitions that were read, by their '#'
  bool predefined_ = true;
  // Of the definition that is being read:
  FlatMap<uint32_t, uint32_t> parameters_;  // numbers by symbol
  std::vector<Token> body_;
};

}  // namespace kiln::hlsl
