// SPDX-License-Identifier: MIT
// The lines of #if, #elif, #ifdef: whether what they ask for is so. Macros are expanded, `defined`
// is answered, and the names that are left count as 0. See spec/hlsl 4.1, 4.3
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/front/hlsl/preprocess/expander.h"
#include "compiler/front/hlsl/preprocess/file_stack.h"
#include "compiler/front/hlsl/preprocess/if_expression.h"

namespace kiln::hlsl {

class Condition {
 public:
  // All outlive this.
  Condition(FileStack& files, FileTable& table, PreprocessState& state);

  // Whether the expression of a line is not 0. If it is wrong that is an error, and false.
  bool Evaluate(const DirectiveLine& line);
  // Whether a name is a macro. Warns about names that would depend on stage or target.
  bool IsDefined(const Token& name);

 private:
  bool Add(const Token& token);
  bool AddNumber(const Token& token);
  bool AddName(const Token& name);
  bool AddDefined();
  bool Check(IfExpression::Step step);
  bool Wrong();

  FileStack& files_;
  PreprocessState& state_;
  LineSource line_;
  Expander expander_;
  IfExpression expression_;
  std::vector<bool> undefined_;  // by symbol: it is in the stream's list

  // Of the expression that is being read:
  DirectiveLine where_;
  uint32_t at_ = 0;  // origin of the token that is looked at
};

}  // namespace kiln::hlsl
