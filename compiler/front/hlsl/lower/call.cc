// SPDX-License-Identifier: MIT
// A parameter that comes back is storage of the callee's type: a variable of the caller that is of
// this type, whole and passed once, or a temporary that is copied to its place afterwards.
//
// A function without a body and one that calls itself are no errors before somebody reaches the
// call: they are faults (spec/hlsl 13.1).
#include "compiler/front/hlsl/lower/call.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/lower/assign.h"
#include "compiler/front/hlsl/lower/handle.h"
#include "compiler/front/hlsl/lower/type.h"
#include "compiler/front/hlsl/lower/value.h"

namespace kiln::hlsl {
namespace {

// An argument that comes back: where it goes, and from where.
struct OutArgument {
  Place place;
  ir::InstId storage;
  TypeId type;  // of the parameter
  ExprId out;   // conversion, or none
};

// What an `out` parameter is on entry, and what a call that cannot be made gives (spec/hlsl
// 13.2).
ir::InstId Undefined(LowerContext& context, TypeId id) {
  const ir::TypeId type = TypeOf(context, id);
  return context.Emit(ir::LoadInst{type, context.Emit(ir::TempInst{type})});
}

// A fault is told when code that holds it is reached in a variant. Behind it something of the
// right type must be there.
ir::InstId Fault(LowerContext& context, std::string_view code,
                 std::initializer_list<std::string_view> arguments, TypeId result) {
  std::vector<ir::StringId> texts;
  for (const std::string_view argument : arguments) {
    texts.push_back(context.builder.Text(argument));
  }
  const ir::InstId made = context.Emit(ir::FaultInst{
      context.builder.Void(), context.builder.Text(code), context.builder.Ids(texts)});
  return context.TypeRow(result).kind == TypeKind::kVoid ? made : Undefined(context, result);
}

// How many output arguments are this variable or a part of it. If there are two, each needs a copy:
// the last one that comes back wins (spec/hlsl 13.2), and storage that is the variable itself would
// have been written before the copies are.
size_t TimesPassed(const LowerContext& context, const Function& function,
                   std::span<const uint32_t> words, uint32_t local) {
  size_t count = 0;
  for (size_t i = 0; i < function.parameter_types.size(); ++i) {
    const bool out = function.parameter_types[i].passing != Passing::kIn;
    count += out && RootLocal(context, ExprId{words[3 * i]}) == local ? 1 : 0;
  }
  return count;
}

// Whether an argument behind number `i` does more than to give a value: it may write what stands
// before it, and the callee has what that was (spec/hlsl 13.2).
bool EffectFollows(const LowerContext& context, const Function& function,
                   std::span<const uint32_t> words, size_t i) {
  for (size_t k = i + 1; k < function.parameter_types.size(); ++k) {
    if (context.Get(ExprId{words[3 * k]}).Is(Expr::kEffect)) {
      return true;
    }
  }
  return false;
}

}  // namespace

// Arguments from left to right, each evaluated once; then the call; then what comes back, from
// left to right.
ir::InstId CallValue(LowerContext& context, const Expr& expr) {
  const Function& function = context.unit.functions[expr.a];
  const ir::DeclId callee = context.functions[expr.a];
  if (!function.body.valid()) {
    return Fault(context, "HLSL2025", {function.name}, expr.type);
  }
  // A function that was not lowered yet is one that this function is called by.
  if (!callee.valid()) {
    return Fault(context, "HLSL3008", {function.name, context.unit[context.function].name},
                 expr.type);
  }
  const std::span<const uint32_t> words = context.unit.List(ListId{expr.b});
  std::vector<ir::InstId> arguments;
  std::vector<OutArgument> returned;
  for (size_t i = 0; i < function.parameter_types.size(); ++i) {
    const ParameterType& parameter = function.parameter_types[i];
    const ExprId argument{words[3 * i]};
    // A resource is handed on as a place.
    if (ObjectOf(context, parameter.type) != nullptr) {
      arguments.push_back(HandleOf(context, argument));
      continue;
    }
    if (parameter.passing != Passing::kIn && !IsStored(context, argument)) {
      // The object of a method that writes to it, without storage of its own.
      const ir::InstId value = ValueOf(context, argument);
      const ir::InstId storage = context.Emit(ir::TempInst{TypeOf(context, parameter.type)});
      context.Emit(ir::StoreInst{context.builder.Void(), storage, value});
      arguments.push_back(storage);
      continue;
    }
    if (parameter.passing == Passing::kIn) {
      arguments.push_back(ValueOf(context, argument));
      continue;
    }
    const Expr& row = context.Get(argument);
    // Places are evaluated here, before the call: an index in one may change in it.
    Place place = PlaceOf(context, argument);
    context.at = expr.at;
    const bool same = words[3 * i + 2] == kNoRow && row.kind == ExprKind::kLocal;
    // Three words for each parameter: argument, conversion in, conversion out.
    const bool kept =
        parameter.passing == Passing::kOut || !EffectFollows(context, function, words, i);
    if (same && kept && TimesPassed(context, function, words, row.a) == 1) {
      arguments.push_back(place.root);
      continue;
    }
    const ir::InstId storage = context.Emit(ir::TempInst{TypeOf(context, parameter.type)});
    if (parameter.passing == Passing::kInOut) {
      ir::InstId value = Load(context, place);
      if (words[3 * i + 1] != kNoRow) {
        const GivenScope given(context, value);
        value = ValueOf(context, ExprId{words[3 * i + 1]});
      }
      context.Emit(ir::StoreInst{context.builder.Void(), storage, value});
    }
    arguments.push_back(storage);
    returned.push_back({std::move(place), storage, parameter.type, ExprId{words[3 * i + 2]}});
  }
  context.at = expr.at;
  const ir::InstId made = context.Emit(
      ir::CallInst{TypeOf(context, expr.type), callee, context.builder.Ids(arguments)});
  for (const OutArgument& back : returned) {
    ir::InstId value = context.Emit(ir::LoadInst{TypeOf(context, back.type), back.storage});
    if (back.out.valid()) {
      const GivenScope given(context, value);
      value = ValueOf(context, back.out);
    }
    Store(context, back.place, value);
  }
  return made;
}

}  // namespace kiln::hlsl
