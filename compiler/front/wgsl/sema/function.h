// SPDX-License-Identifier: MIT
// Operators and predeclared functions as data, and which overload a call of one means.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

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

struct Overload {
  std::vector<TypeId> parameters;
  TypeId result;
  // What T is, and how many items a vector of it has: of frexp and modf, whose result is a struct.
  ScalarKind scalar = ScalarKind::kF32;
  uint32_t rows = 1;
  bool gives_parts = false;
};
// Of functions of overloads.def. The one that needs the least conversions; nothing if none fits.
// `all_const`: whether all arguments are known, so that abstract numbers may stay so.
std::optional<Overload> FindOverload(Types& types, Function function,
                                     std::span<const TypeId> arguments, bool all_const);

// Distance of a conversion that needs no words; nothing if there is none. See spec/wgsl 5.2
std::optional<uint32_t> RankOf(ScalarKind from, ScalarKind to);

}  // namespace kiln::wgsl::front
