// SPDX-License-Identifier: MIT
// The row holds the place and the values; what was there before goes to `old` by an assignment.
#include "compiler/front/hlsl/check/resources/atomic.h"

#include <string>
#include <vector>

#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"

namespace kiln::hlsl {
namespace {

// Memory that invocations share: groupshared, or an element of a writable buffer.
// spec/hlsl 18: an atomic place is groupshared, or a scalar of a writable buffer or image.
// Walks from the part to its root.
bool IsShared(CheckContext& context, ExprId place) {
  ExprId at = place;
  while (true) {
    const Expr& expr = context.Get(at);
    if (expr.kind == ExprKind::kIndex || expr.kind == ExprKind::kMember) {
      at = ExprId{expr.a};
      continue;
    }
    if (expr.kind == ExprKind::kMethod) {  // a texel, whole
      return at == place && expr.Is(Expr::kPlace);
    }
    if (expr.kind == ExprKind::kGlobal &&
        context.unit[GlobalId{expr.a}].kind == GlobalKind::kShared) {
      return true;
    }
    TypeId type = expr.type;
    while (context.types()[type].kind == TypeKind::kArray) {
      type = context.types().ElementOf(type);
    }
    const bool handle = expr.kind == ExprKind::kGlobal || expr.kind == ExprKind::kLocal;
    return handle && context.types()[type].kind == TypeKind::kObject &&
           FactsOf(context.types()[type].object).shape != ObjectShape::kImage &&
           FactsOf(context.types()[type].object).writable;
  }
}

// The values that an atomic takes besides its place: two where it compares.
uint32_t ValuesOf(Intrinsic intrinsic) {
  return intrinsic == Intrinsic::kInterlockedCompareExchange ||
                 intrinsic == Intrinsic::kInterlockedCompareStore
             ? 2
             : 1;
}

}  // namespace

// They are neighbours in the table.
bool IsAtomic(Intrinsic intrinsic) {
  return intrinsic >= Intrinsic::kInterlockedAdd &&
         intrinsic <= Intrinsic::kInterlockedCompareStore;
}

// The place is the first argument and is not loaded; the other ones convert to its type.
// CompareStore has no old value, the exchanges always have one.
ExprId MakeAtomic(CheckContext& context, Intrinsic intrinsic, std::span<const ExprId> arguments,
                  uint32_t name, TokenRange at) {
  if (!IsAtomic(intrinsic)) {
    context.Refuse({name, name + 1}, FactsOf(intrinsic).name, "status of sparse resources");
    return context.Failed(at);
  }
  const uint32_t values = ValuesOf(intrinsic);
  const bool exchanges = intrinsic == Intrinsic::kInterlockedExchange ||
                         intrinsic == Intrinsic::kInterlockedCompareExchange;
  const bool has_old = arguments.size() == values + 2;
  if (arguments.size() < values + 1 || (exchanges && !has_old) ||
      (has_old && intrinsic == Intrinsic::kInterlockedCompareStore)) {
    context.Say(context.At(Code::kHlsl2021, name)
                    .With("name", context.Text(name))
                    .With("types", std::to_string(arguments.size()) + " arguments"));
    return context.Failed(at);
  }
  const Expr place = context.Get(arguments[0]);
  const std::string text(context.Text(place.at));
  if (!IsShared(context, arguments[0])) {
    context.Say(context.At(Code::kHlsl4008, place.at).With("text", text).With("what", "neither"));
    return context.Failed(at);
  }
  const Type type = context.types()[place.type];
  // Exchange takes floats, for it computes nothing.
  const bool number = context.types().IsScalar(place.type) &&
                      (IsInteger(type.item) ||
                       (type.item == Item::kFloat && intrinsic == Intrinsic::kInterlockedExchange));
  if (!number) {
    context.Say(context.At(Code::kHlsl4009, place.at)
                    .With("text", text)
                    .With("type", context.types().Text(place.type)));
    return context.Failed(at);
  }
  // It marks the root as written.
  if (!CheckWritable(context, arguments[0])) {
    return context.Failed(at);
  }
  std::vector<ExprId> operands{arguments[0]};
  for (uint32_t i = 1; i <= values; ++i) {
    operands.push_back(ConvertTo(context, arguments[i], place.type, ConversionUse::kImplicit,
                                 context.Get(arguments[i]).at));
  }
  const ExprId made = Combine(context,
                              {.kind = ExprKind::kIntrinsic,
                               .flags = Expr::kEffect,
                               .op = static_cast<uint8_t>(intrinsic),
                               .type = place.type,
                               .b = context.AddList(operands).value,
                               .at = at},
                              operands, Knowable::kNo);
  if (!has_old) {
    return made;
  }
  const ExprId old = arguments[values + 1];
  const Expr target = context.Get(old);
  if (!target.Is(Expr::kPlace) || target.Is(Expr::kConst)) {
    context.Say(context.At(Code::kHlsl2023, target.at)
                    .With("index", values + 2)
                    .With("name", context.Text(name))
                    .With("text", context.Text(target.at)));
    return context.Failed(at);
  }
  return MakeAssign(context, old, made, at);
}

}  // namespace kiln::hlsl
