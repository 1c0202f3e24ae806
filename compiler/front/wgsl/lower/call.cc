// SPDX-License-Identifier: MIT
// Calls of functions of the module. Arguments are lowered in order, and what comes back is
// stored in that order as well. Pointers are where the IR differs from WGSL: it has no pointer
// values, so a pointer to memory of the invocation becomes a copy in and out, and any other one
// the place itself.
#include "compiler/front/wgsl/lower/call.h"

#include <utility>
#include <vector>

#include "compiler/front/wgsl/lower/type.h"
#include "compiler/front/wgsl/lower/value.h"

namespace kiln::wgsl::front {

// Pointers to parts of memory of the invocation are copied in and out. That is the same as the
// pointer itself, since check/alias refuses calls in which something else names that memory.
Passing PassingOf(const Type& parameter) {
  switch (parameter.kind) {
    case TypeKind::kTexture:
    case TypeKind::kSampler:
      return Passing::kPlace;
    case TypeKind::kPointer:
      return parameter.space == AddressSpace::kFunction || parameter.space == AddressSpace::kPrivate
                 ? Passing::kCopied
                 : Passing::kPlace;
    default:
      return Passing::kValue;
  }
}

// Arguments in order, each evaluated once. Copies back come behind the call, in the order of
// the arguments.
ir::InstId CallFunction(LowerContext& context, const Expr& expr) {
  const FunctionRow& callee = context.unit.functions[expr.a];
  const std::span<const uint32_t> list = context.unit.List(ListId{expr.b});
  std::vector<ir::InstId> arguments;
  std::vector<std::pair<Place, ir::InstId>> back;  // what is copied out, and from where
  for (size_t i = 0; i < list.size(); ++i) {
    const ExprId argument{list[i]};
    const Type parameter = context.types[context.unit[callee.parameters[i]].type];
    const Passing passing = PassingOf(parameter);
    if (passing == Passing::kValue || parameter.kind != TypeKind::kPointer) {
      arguments.push_back(ValueOf(context, argument));
      continue;
    }
    const Place place = PointedBy(context, argument);
    context.at = context.Get(argument).at;
    if (passing == Passing::kPlace) {
      arguments.push_back(PlaceInst(context, place));
      continue;
    }
    // A variable as a whole is handed over as it is: check/alias has seen to it that nothing else
    // of the call names it.
    if (place.steps.empty() && place.is_local) {
      arguments.push_back(place.root);
      continue;
    }
    // The copy: a variable of the caller that nothing else names.
    const ir::InstId temp = context.Emit(ir::TempInst{TypeOf(context, place.type)});
    context.Emit(ir::StoreInst{context.builder.Void(), temp, Load(context, place)});
    arguments.push_back(temp);
    back.emplace_back(place, temp);
  }
  context.at = expr.at;
  const ir::InstId made = context.Emit(ir::CallInst{
      TypeOf(context, callee.result), context.functions[expr.a], context.builder.Ids(arguments)});
  for (const auto& [place, temp] : back) {
    Store(context, place, context.Emit(ir::LoadInst{TypeOf(context, place.type), temp}));
  }
  return made;
}

}  // namespace kiln::wgsl::front
