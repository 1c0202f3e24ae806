// SPDX-License-Identifier: MIT
// What operators and functions give for operands that are known.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/front/wgsl/sema/function.h"
#include "compiler/front/wgsl/sema/scalar.h"

namespace kiln::wgsl::front {

// A scalar, vector or matrix, column after column.
struct Operand {
  ScalarKind scalar = ScalarKind::kF32;
  uint32_t rows = 1, columns = 1;
  std::span<const Word> words;
};
struct FunctionResult {
  std::vector<Word> words;
  std::string_view fault;  // why there is no value

  bool ok() const { return fault.empty(); }
};

// Of functions that are `Const` in functions.def, with operands of the types of the parameters.
// frexp and modf give the items of their first member, then those of the second.
FunctionResult Evaluate(Function function, std::span<const Operand> operands);

}  // namespace kiln::wgsl::front
