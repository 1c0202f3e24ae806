// SPDX-License-Identifier: MIT
// What all methods of one call share: the resource, its facts, the place of the message. Rows
// that need a value more than once are built over given values, so an argument with an effect
// is evaluated once.
#include "compiler/front/hlsl/check/resources/method_site.h"

#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/call.h"

namespace kiln::hlsl {

// A buffer of bytes is one of uint, stride 4 (spec/hlsl 14.1).
MethodSite::MethodSite(CheckContext& context, ExprId object, uint32_t name, TokenRange at)
    : context_(context),
      object_(object),
      name_(name),
      at_(at),
      facts_(FactsOf(context.types()[context.TypeOf(object)].object)),
      content_(context.types()[context.TypeOf(object)].element) {
  if (facts_.shape == ObjectShape::kBytes) {
    content_ = Uint();
  }
}

// Without the layer of an array.
uint32_t MethodSite::dimensions() const {
  switch (facts_.dim) {
    case ir::ImageDim::k1d:
    case ir::ImageDim::kBuffer:
      return 1;
    case ir::ImageDim::k2d:
      return 2;
    default:
      return 3;
  }
}

ExprId MethodSite::To(ExprId id, TypeId type) const {
  return ConvertTo(context_, id, type, ConversionUse::kImplicit, context_.Get(id).at);
}

ExprId MethodSite::Constant(uint32_t value) const {
  return MakeScalar(context_, UintValue(value), at_);
}

ExprId MethodSite::Make(Method method, TypeId type, std::span<const ExprId> arguments,
                        uint32_t part) const {
  return Combine(context_,
                 {.kind = ExprKind::kMethod,
                  .op = static_cast<uint8_t>(method),
                  .type = type,
                  .a = object_.value,
                  .b = context_.AddList(arguments).value,
                  .c = part,
                  .at = at_},
                 arguments, Knowable::kNo);
}

// Evaluates one value, or two, once; `body` mentions them as given values.
ExprId MethodSite::Let(ExprId value, ExprId other, ExprId body, TypeId type) const {
  const ExprId all[] = {value, body, other};
  return Combine(context_,
                 {.kind = ExprKind::kLet,
                  .type = type,
                  .a = value.value,
                  .b = body.value,
                  .c = other.valid() ? other.value : kNoRow,
                  .at = at_},
                 std::span(all).first(other.valid() ? 3 : 2), Knowable::kNo);
}

// One after another, from the left; the result is that of the last.
ExprId MethodSite::Chain(std::span<const ExprId> steps) const {
  ExprId made = steps[0];
  for (const ExprId step : steps.subspan(1)) {
    const ExprId both[] = {made, step};
    made = Combine(context_,
                   {.kind = ExprKind::kComma,
                    .type = context_.TypeOf(step),
                    .a = made.value,
                    .b = step.value,
                    .at = at_},
                   both, Knowable::kNo);
  }
  return made;
}

ExprId MethodSite::NoMethod() const {
  context_.Say(context_.At(Code::kHlsl4007, name_)
                   .With("type", context_.TypeText(object_))
                   .With("name", context_.Text(name_)));
  return context_.Failed(at_);
}

ExprId MethodSite::NoSuch(std::span<const ExprId> arguments) const {
  context_.Say(context_.At(Code::kHlsl2021, name_)
                   .With("name", context_.Text(name_))
                   .With("types", TypesText(context_, arguments)));
  return context_.Failed(at_);
}

ExprId MethodSite::Refuse(std::string_view family) const {
  context_.Refuse(at_, context_.Text(name_), family);
  return context_.Failed(at_);
}

}  // namespace kiln::hlsl
