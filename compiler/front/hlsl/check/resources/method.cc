// SPDX-License-Identifier: MIT
// Which kind of resource a method is of: methods.def says which shapes have it.
// A method is looked up by name in methods.def, which says on which shapes of resources it
// exists; then one function for each group of methods takes over. Structs have methods, too,
// which are functions of the module.
#include "compiler/front/hlsl/check/resources/method.h"

#include <optional>
#include <string_view>

#include "compiler/front/hlsl/check/call.h"
#include "compiler/front/hlsl/check/resources/buffer_method.h"
#include "compiler/front/hlsl/check/resources/handle.h"
#include "compiler/front/hlsl/check/resources/image_method.h"
#include "compiler/front/hlsl/check/resources/method_site.h"
#include "compiler/front/hlsl/check/resources/texel_method.h"

namespace kiln::hlsl {
namespace {

// Which shape of methods.def an object has.
// The bits are those of methods.def.
uint32_t ShapeBit(const ObjectFacts& facts) {
  switch (facts.shape) {
    case ObjectShape::kImage:
      return facts.dim == ir::ImageDim::kBuffer ? 4 : facts.writable ? 2 : 1;
    case ObjectShape::kStructured:
      return 8;
    case ObjectShape::kBytes:
      return 16;
    case ObjectShape::kSampler:
    case ObjectShape::kBlock:
    case ObjectShape::kOther:
      break;
  }
  return 0;
}

// By the shape of the object; GetDimensions is the same for all.
ExprId OfObject(const MethodSite& site, Method method, std::span<const ExprId> arguments) {
  if (method == Method::kGetDimensions) {
    return DimensionsMethod(site, arguments);
  }
  switch (site.facts().shape) {
    case ObjectShape::kBytes:
      return BytesMethod(site, method, arguments);
    case ObjectShape::kStructured:
      return arguments.size() == 1 ? ElementOf(site, arguments[0]) : site.NoSuch(arguments);
    default:
      return method == Method::kLoad ? LoadMethod(site, arguments)
                                     : SampleMethod(site, method, arguments);
  }
}

}  // namespace

// `t.mips` and `t.sample` are no values: an index must follow.
bool IsLevels(const Expr& expr) {
  return expr.kind == ExprKind::kMethod && (expr.op == static_cast<uint8_t>(Method::kMips) ||
                                            expr.op == static_cast<uint8_t>(Method::kSamples));
}

ExprId MakeLevels(CheckContext& context, ExprId object, uint32_t name, TokenRange at) {
  return LevelsOf(MethodSite(context, object, name, at));
}

// `b[i]`, `t[p]`, `t.mips[l][p]`. Cubes and multisampled images have no single texel by number.
ExprId MakeObjectIndex(CheckContext& context, ExprId object, ExprId index, TokenRange at) {
  if (context.Get(object).kind == ExprKind::kFailed ||
      context.Get(index).kind == ExprKind::kFailed) {
    return context.Failed(at);
  }
  if (IsLevels(context.Get(object))) {
    return IndexLevels(context, object, index, at);
  }
  const MethodSite site(context, object, at.begin, at);
  if (site.facts().shape == ObjectShape::kStructured) {
    return ElementOf(site, index);
  }
  if (site.facts().shape == ObjectShape::kImage && !site.facts().multisampled &&
      site.facts().dim != ir::ImageDim::kCube) {
    return TexelOf(site, index);
  }
  context.Say(context.At(Code::kHlsl2034, context.Get(object).at)
                  .With("text", context.Text(context.Get(object).at))
                  .With("type", context.TypeText(object)));
  return context.Failed(at);
}

// A method of a resource or of a struct. A block stands for its content.
ExprId MakeMethod(CheckContext& context, ExprId object, uint32_t name,
                  std::span<const ExprId> arguments, TokenRange at) {
  if (context.Get(object).kind == ExprKind::kFailed ||
      context.types().IsFailed(context.TypeOf(object))) {
    return context.Failed(at);
  }
  for (const ExprId argument : arguments) {
    if (context.Get(argument).kind == ExprKind::kFailed) {
      return context.Failed(at);
    }
  }
  if (IsBlock(context.types(), context.TypeOf(object))) {
    object = ContentOf(context, object);
  }
  const TypeKind kind = context.types()[context.TypeOf(object)].kind;
  if (kind == TypeKind::kStruct) {
    return MakeObjectCall(context, object, name, arguments, at);
  }
  const std::string_view text = context.Text(name);
  if (kind != TypeKind::kObject) {
    context.Say(context.At(Code::kHlsl4007, name)
                    .With("type", context.TypeText(object))
                    .With("name", text));
    return context.Failed(at);
  }
  // spec/hlsl 19: they exist in HLSL and have no equivalent in Vulkan.
  if (text == "GatherCmpGreen" || text == "GatherCmpBlue" || text == "GatherCmpAlpha") {
    context.Say(context.At(Code::kHlsl4006, name).With("name", text));
    return context.Failed(at);
  }
  const MethodSite site(context, object, name, at);
  const std::optional<Method> method = FindMethod(text);
  if (!method || (FactsOf(*method).shapes & ShapeBit(site.facts())) == 0) {
    return site.NoMethod();
  }
  return OfObject(site, *method, arguments);
}

}  // namespace kiln::hlsl
