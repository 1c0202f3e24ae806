// SPDX-License-Identifier: MIT
// functions.def is the one list of operators and functions: its rows drive name look-up,
// constants, stages and lowering. Everything is a table made by the compiler, so nothing is set
// up when kiln starts.
#include "compiler/front/wgsl/sema/function.h"

#include "compiler/base/check.h"

namespace kiln::wgsl::front {
namespace {

// Words of the table: whether constants of it are computed, and in which stages it may be
// called.
constexpr bool IsConst(std::string_view rate) { return rate == "Const"; }
constexpr FunctionStages StagesOf(std::string_view stages) {
  return stages == "Fragment"  ? FunctionStages::kFragment
         : stages == "Compute" ? FunctionStages::kCompute
                               : FunctionStages::kAny;
}

struct BuiltinName {
  std::string_view name;
  ir::Builtin builtin;
};
constexpr BuiltinName kBuiltinNames[] = {
#define KILN_BUILTIN(name, text, types, parameters, result, lowering, f, u, s) \
  {#name, ir::Builtin::k##name},
#include "compiler/ir/builtins.def"
};
// Found when kiln is compiled. A row of functions.def whose last column is no builtin of the IR
// has none: lowering writes it out.
constexpr std::optional<ir::Builtin> BuiltinNamed(std::string_view name) {
  for (const BuiltinName& row : kBuiltinNames) {
    if (row.name == name) {
      return row.builtin;
    }
  }
  return std::nullopt;
}

constexpr FunctionFacts kFacts[] = {
#define KILN_WGSL_FUNCTION(enumerator, name, rate, stages, builtin) \
  {name, IsConst(#rate), StagesOf(#stages), BuiltinNamed(#builtin)},
#include "compiler/front/wgsl/sema/functions.def"
};

}  // namespace

const FunctionFacts& FactsOf(Function function) { return kFacts[static_cast<size_t>(function)]; }

// Operators stand before the first function that has a name in a source, so they are not found.
std::optional<Function> FindFunction(std::string_view name) {
  for (size_t i = static_cast<size_t>(Function::kAbs); i < std::size(kFacts); ++i) {
    if (kFacts[i].name == name) {
      return static_cast<Function>(i);
    }
  }
  return std::nullopt;
}

// Operators are rows of functions.def, too: one way to overloads, constants and instructions.
// Those that are no functions of values, for they look at places or at control, are never asked
// for.
Function FunctionOf(Operator op) {
  switch (op) {
#define KILN_WGSL_ROW(name) \
  case Operator::k##name:   \
    return Function::k##name;
    KILN_WGSL_ROW(Negate)
    KILN_WGSL_ROW(Not)
    KILN_WGSL_ROW(Complement)
    KILN_WGSL_ROW(Mul)
    KILN_WGSL_ROW(Div)
    KILN_WGSL_ROW(Rem)
    KILN_WGSL_ROW(Add)
    KILN_WGSL_ROW(Sub)
    KILN_WGSL_ROW(ShiftLeft)
    KILN_WGSL_ROW(ShiftRight)
    KILN_WGSL_ROW(Less)
    KILN_WGSL_ROW(Greater)
    KILN_WGSL_ROW(LessEqual)
    KILN_WGSL_ROW(GreaterEqual)
    KILN_WGSL_ROW(Equal)
    KILN_WGSL_ROW(NotEqual)
    KILN_WGSL_ROW(And)
    KILN_WGSL_ROW(Or)
    KILN_WGSL_ROW(Xor)
#undef KILN_WGSL_ROW
    case Operator::kIndirection:
    case Operator::kAddressOf:
    case Operator::kLogicalAnd:
    case Operator::kLogicalOr:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::wgsl::front
