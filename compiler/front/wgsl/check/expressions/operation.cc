// SPDX-License-Identifier: MIT
// Operators and functions over numbers. All go one way: load, look for the overload, convert
// the operands, then fold if everything is known, else keep a row. Folding is left to
// sema/evaluate, which knows neither tokens nor diagnostics; what it cannot compute comes back
// with a reason, which is said here.
#include "compiler/front/wgsl/check/expressions/operation.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "compiler/front/wgsl/check/expressions/value.h"
#include "compiler/front/wgsl/sema/evaluate.h"
#include "compiler/front/wgsl/sema/overload.h"

namespace kiln::wgsl::front {
namespace {

// Operands have the types of the overload, so all words are of the width that Evaluate expects.
ExprId Fold(CheckContext& context, Function function, std::span<const ExprId> arguments,
            TypeId result, TokenRange at) {
  std::vector<Operand> operands;
  for (const ExprId id : arguments) {
    const Type& type = context.TypeRowOf(id);
    operands.push_back({.scalar = type.scalar,
                        .rows = type.rows,
                        .columns = type.columns,
                        .words = context.unit.WordsOf(context.Get(id))});
  }
  FunctionResult made = Evaluate(function, operands);
  if (!made.ok()) {
    context.Say(context.At(Code::kWgsl3001, at)
                    .With("op", FactsOf(function).name)
                    .With("reason", made.fault));
    return context.Failed(at);
  }
  return context.AddConstant(result, made.words, at);
}

// What is wrong with an operand that is known where the others are not: `x / 0`, `x << 40`.
// WGSL, "Arithmetic Expressions": an error although the expression as a whole is not constant.
std::string_view FaultOfRight(const CheckContext& context, Function function, ExprId right) {
  const Expr& expr = context.Get(right);
  const Type& type = context.TypeRowOf(right);
  if (expr.kind != ExprKind::kConstant || !IsInteger(type.scalar)) {
    return {};
  }
  const std::span<const Word> words = context.unit.WordsOf(expr);
  const bool divides = function == Function::kDiv || function == Function::kRem;
  const bool shifts = function == Function::kShiftLeft || function == Function::kShiftRight;
  if (divides && std::ranges::find(words, Word{0}) != words.end()) {
    return "division by zero";
  }
  if (shifts && std::ranges::any_of(words, [](Word word) { return word >= 32; })) {
    return "the shift is not less than the width";
  }
  return {};
}

}  // namespace

// A value is known as late as the last of its operands.
Rate RateOf(const CheckContext& context, std::span<const ExprId> ids) {
  Rate rate = Rate::kConst;
  for (const ExprId id : ids) {
    rate = std::max(rate, context.Get(id).rate);
  }
  return rate;
}

std::string TypesText(const CheckContext& context, std::span<const ExprId> ids) {
  std::string text;
  for (const ExprId id : ids) {
    text += (text.empty() ? "" : ", ") + context.FoundText(id);
  }
  return text;
}

// One struct for each function, scalar and size, made when first asked for. Its name begins
// with two underscores, so no source can write it.
TypeId PartsType(CheckContext& context, Function function, ScalarKind scalar, uint32_t rows) {
  const uint32_t key =
      static_cast<uint32_t>(function) << 16 | static_cast<uint32_t>(scalar) << 8 | rows;
  Types& types = context.types();
  if (const StructId* known = context.part_structs.Find(key)) {
    return types.StructType(*known);
  }
  const TypeId value = types.Vector(scalar, rows);
  const bool frexp = function == Function::kFrexp;
  const bool exchange = function == Function::kAtomicCompareExchangeWeak;
  const std::string shape =
      rows == 1 ? std::string(TextOf(scalar)) : fmt::format("vec{}_{}", rows, TextOf(scalar));
  Struct row{.name = fmt::format("__{}_result_{}",
                                 exchange ? "atomic_compare_exchange"
                                 : frexp  ? "frexp"
                                          : "modf",
                                 shape),
             .token = 0,
             .members = {},
             .is_inbuilt = true};
  row.members.push_back({.name = exchange ? "old_value" : "fract", .type = value});
  row.members.push_back({.name = exchange ? "exchanged"
                                 : frexp  ? "exp"
                                          : "whole",
                         .type = exchange ? types.Scalar(ScalarKind::kBool)
                                 : frexp  ? types.Vector(scalar == ScalarKind::kAbstractFloat
                                                             ? ScalarKind::kAbstractInt
                                                             : ScalarKind::kI32,
                                                        rows)
                                         : value});
  const StructId id = types.Add(std::move(row));
  context.part_structs.Insert(key, id);
  return types.StructType(id);
}

// One way for all operators and predeclared functions over numbers: load places, find the
// overload, convert operands, then fold or keep.
ExprId MakeOperation(CheckContext& context, Function function, std::span<const ExprId> arguments,
                     TokenRange at) {
  std::vector<ExprId> values;
  std::vector<TypeId> types;
  for (const ExprId id : arguments) {
    values.push_back(ValueOf(context, id));
    if (context.IsFailed(values.back())) {
      return context.Failed(at);
    }
    types.push_back(context.TypeOf(values.back()));
  }
  const Rate rate = RateOf(context, values);
  // Parts of abstract numbers would be a struct of abstract members, which nothing can name.
  const bool parts = function == Function::kFrexp || function == Function::kModf;
  const std::optional<Overload> found =
      FindOverload(context.types(), function, types, rate == Rate::kConst && !parts);
  if (!found.has_value()) {
    context.Say(context.At(Code::kWgsl2001, at)
                    .With("name", FactsOf(function).name)
                    .With("found", TypesText(context, values)));
    return context.Failed(at);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = Converted(context, values[i], found->parameters[i]);
    if (context.IsFailed(values[i])) {
      return context.Failed(at);
    }
  }
  const TypeId result =
      found->gives_parts ? PartsType(context, function, found->scalar, found->rows) : found->result;
  const bool is_const = FactsOf(function).is_const;
  if (rate == Rate::kConst && is_const) {
    return Fold(context, function, values, result, at);
  }
  // Only operators with two operands can be wrong for the right one alone.
  if (values.size() == 2) {
    if (const std::string_view fault = FaultOfRight(context, function, values[1]); !fault.empty()) {
      context.Say(
          context.At(Code::kWgsl3001, at).With("op", FactsOf(function).name).With("reason", fault));
      return context.Failed(at);
    }
  }
  std::vector<uint32_t> list;
  for (const ExprId id : values) {
    list.push_back(id.value);
  }
  // A function that may not be constant, like a derivative, is known when it runs whatever its
  // operands are.
  return context.Add({.kind = ExprKind::kOperation,
                      .op = static_cast<uint8_t>(function),
                      .rate = is_const ? rate : Rate::kRun,
                      .type = result,
                      .b = context.unit.AddList(list).value,
                      .at = at});
}

// A left side that is known decides, and then the right one is not computed; it is checked all the
// same.
// WGSL, "Logical Expressions".
ExprId MakeLogical(CheckContext& context, bool is_or, ExprId left, ExprId right, TokenRange at) {
  const ExprId sides[] = {ValueOf(context, left), ValueOf(context, right)};
  const TypeId flag = context.types().Scalar(ScalarKind::kBool);
  for (const ExprId side : sides) {
    if (context.IsFailed(side)) {
      return context.Failed(at);
    }
    if (context.TypeOf(side) != flag) {
      context.Say(context.At(Code::kWgsl2001, at)
                      .With("name", is_or ? "||" : "&&")
                      .With("found", TypesText(context, sides)));
      return context.Failed(at);
    }
  }
  // With a left side that decides, the result is constant only if the right one is, too: WGSL
  // counts all of an expression for its rate.
  if (context.Get(sides[0]).kind == ExprKind::kConstant) {
    const bool decided = (context.unit.WordsOf(context.Get(sides[0]))[0] != 0) == is_or;
    if (decided || context.Get(sides[1]).kind == ExprKind::kConstant) {
      const Word word = decided ? Word{is_or} : context.unit.WordsOf(context.Get(sides[1]))[0];
      if (RateOf(context, sides) == Rate::kConst) {
        return context.AddConstant(flag, std::span(&word, 1), at);
      }
    }
  }
  return context.Add({.kind = ExprKind::kLogical,
                      .op = static_cast<uint8_t>(is_or ? 1 : 0),
                      .rate = RateOf(context, sides),
                      .type = flag,
                      .a = sides[0].value,
                      .b = sides[1].value,
                      .at = at});
}

}  // namespace kiln::wgsl::front
