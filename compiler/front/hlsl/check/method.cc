// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/check/method.h"

#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/sema/method.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

ExprId Element(CheckContext& context, ExprId object, ExprId index, TokenRange at) {
  const Type type = context.types()[context.TypeOf(object)];
  const ExprId number = ConvertTo(context, index, context.types().Scalar(Item::kUint),
                                  ConversionUse::kImplicit, context.Get(index).at);
  const bool writable = FactsOf(type.object).writable;
  const ExprId both[] = {object, number};
  return Combine(context,
                 {.kind = ExprKind::kIndex,
                  .flags = static_cast<uint8_t>(writable ? Expr::kPlace
                                                         : Expr::kPlace | Expr::kConst),
                  .type = TypeId{type.element},
                  .a = object.value,
                  .b = number.value,
                  .at = at},
                 both, Knowable::kNo);
}

}  // namespace

ExprId MakeObjectIndex(CheckContext& context, ExprId object, ExprId index, TokenRange at) {
  if (context.Get(object).kind == ExprKind::kFailed ||
      context.Get(index).kind == ExprKind::kFailed) {
    return context.Failed(at);
  }
  const ObjectFacts& facts = FactsOf(context.types()[context.TypeOf(object)].object);
  if (facts.shape == ObjectShape::kStructured) {
    return Element(context, object, index, at);
  }
  context.Refuse(at, context.Text(at), "index forms of images");
  return context.Failed(at);
}

ExprId MakeMethod(CheckContext& context, ExprId object, uint32_t name,
                  std::span<const ExprId> arguments, TokenRange at) {
  static_cast<void>(arguments);
  const Expr base = context.Get(object);
  if (base.kind == ExprKind::kFailed) {
    return context.Failed(at);
  }
  if (context.types()[base.type].kind != TypeKind::kObject) {
    context.Say(context.At(Code::kHlsl4007, name)
                    .With("type", context.types().Text(base.type))
                    .With("name", context.Text(name)));
    return context.Failed(at);
  }
  context.Refuse(at, context.Text(at), "methods of resources");
  return context.Failed(at);
}

}  // namespace kiln::hlsl
