// SPDX-License-Identifier: MIT
// Operators and predeclared functions as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/front/wgsl/operator.h"
#include "compiler/front/wgsl/sema/type.h"
#include "compiler/ir/builtins.h"

namespace kiln::wgsl::front {

enum class Function : uint8_t {
#define KILN_WGSL_FUNCTION(enumerator, name, rate, stages, builtin) k##enumerator,
#include "compiler/front/wgsl/sema/functions.def"
};
enum class FunctionStages : uint8_t { kAny, kFragment, kCompute };

struct FunctionFacts {
  std::string_view name;
  bool is_const = false;  // may be evaluated where the module is read
  FunctionStages stages = FunctionStages::kAny;
  std::optional<ir::Builtin> builtin;  // that it is
};
const FunctionFacts& FactsOf(Function function);
std::optional<Function> FindFunction(std::string_view name);
// Requires: no operator of pointers, not && or ||.
Function FunctionOf(Operator op);

}  // namespace kiln::wgsl::front
