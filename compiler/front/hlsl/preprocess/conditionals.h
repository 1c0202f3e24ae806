// SPDX-License-Identifier: MIT
// #if to #endif: which groups of lines are read. Groups that are not are left by their directives
// alone, without a look at their tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/front/hlsl/preprocess/condition.h"
#include "compiler/front/hlsl/preprocess/file_stack.h"

namespace kiln::hlsl {

class Conditionals {
 public:
  // All outlive this.
  Conditionals(FileStack& files, FileTable& table, PreprocessState& state)
      : files_(files), state_(state), condition_(files, table, state) {}

  // The file is behind the line when these are called, and behind what is skipped afterwards.
  void If(const DirectiveLine& line);
  void Ifdef(const DirectiveLine& line, bool wanted);  // #ifndef: not wanted
  void Else(const DirectiveLine& line);                // #elif, too
  void Endif(const DirectiveLine& line);

  // Those of the file that ends are reported and forgotten; to be called before it is popped.
  void EndFile();

 private:
  struct Conditional {
    size_t depth;     // of the file that has it
    uint32_t origin;  // of its name
    uint32_t name;    // symbol
    bool has_else = false;
  };

  bool IsOpen() const;
  void Open(const DirectiveLine& line, bool holds);
  enum class Wanted : uint8_t { kNext, kNone };
  void SkipGroups(Wanted wanted);
  void WithoutIf(const DirectiveLine& line);

  FileStack& files_;
  PreprocessState& state_;
  Condition condition_;
  std::vector<Conditional> open_;
};

}  // namespace kiln::hlsl
