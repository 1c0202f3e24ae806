// SPDX-License-Identifier: MIT
// `t.mips[l][p]` is a row for each bracket: the levels, one level, then the load that the other two
// are arguments of. GetDimensions is an assignment for each output, of a row that gives one number.
#include "compiler/front/hlsl/check/resources/texel_method.h"

#include <optional>
#include <vector>

#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/resources/stride.h"

namespace kiln::hlsl {
namespace {

// spec/hlsl 19 (GetDimensions): width, height, depth as far as there are, and layers.
uint32_t SizesOf(const ObjectFacts& facts) {
  const uint32_t flat = facts.dim == ir::ImageDim::k1d || facts.dim == ir::ImageDim::kBuffer ? 1
                        : facts.dim == ir::ImageDim::k3d                                     ? 3
                                                                                             : 2;
  return flat + (facts.arrayed ? 1 : 0);
}

// What GetDimensions of a resource gives, one number after another; none if it is refused.
// In the order of the outputs.
std::vector<uint32_t> PartsOf(const MethodSite& site, bool levels) {
  const ObjectFacts& facts = site.facts();
  if (facts.shape == ObjectShape::kStructured) {
    return {kDimensionCount, kDimensionStride};
  }
  if (facts.shape == ObjectShape::kBytes) {
    return {kDimensionBytes};
  }
  std::vector<uint32_t> parts;
  for (uint32_t i = 0; i < SizesOf(facts); ++i) {
    parts.push_back(i);
  }
  if (facts.multisampled) {
    parts.push_back(kDimensionSamples);
  } else if (levels) {
    parts.push_back(kDimensionLevels);
  }
  return parts;
}

bool IsNumber(const CheckContext& context, ExprId id) {
  return context.unit.types.IsScalar(context.TypeOf(id));
}

// The value of one part, or a constant where it is known.
// A stride is known when compiling, the rest when it runs.
ExprId PartValue(const MethodSite& site, uint32_t part, ExprId level) {
  CheckContext& context = site.context();
  if (part == kDimensionStride) {
    const std::optional<uint32_t> stride = StrideOf(context, site.content());
    return stride ? site.Constant(*stride) : site.Refuse("strides that options decide");
  }
  return site.Make(Method::kGetDimensions, site.Uint(),
                   std::span(&level, level.valid() && part <= kDimensionLevels ? 1 : 0), part);
}

}  // namespace

// spec/hlsl 19: HLSL4005 for an offset that is not constant or leaves -8 to 7.
ExprId ConstantOffset(const MethodSite& site, ExprId written, ExprId converted) {
  CheckContext& context = site.context();
  const Expr& expr = context.Get(converted);
  bool good = expr.kind == ExprKind::kFailed || expr.kind == ExprKind::kConstant;
  if (expr.kind == ExprKind::kConstant) {
    for (const Scalar scalar : context.unit.ScalarsOf(expr)) {
      good = good && Integer(scalar) >= -8 && Integer(scalar) <= 7;
    }
  }
  if (good) {
    return converted;
  }
  const TokenRange at = context.Get(written).at;
  context.Say(context.At(Code::kHlsl4005, at).With("text", context.Text(at)));
  return context.Failed(at);
}

// The level is the last component of the coordinate; multisampled images have a sample instead.
ExprId LoadMethod(const MethodSite& site, std::span<const ExprId> arguments) {
  const ObjectFacts& facts = site.facts();
  const bool buffer = facts.dim == ir::ImageDim::kBuffer;
  const size_t needed = facts.multisampled ? 2 : 1;
  const size_t most = needed + (buffer || facts.writable ? 0 : 1);
  if (facts.dim == ir::ImageDim::kCube) {
    return site.NoMethod();
  }
  // One argument more than all is the status.
  if (arguments.size() > most) {
    return site.Refuse("status of sparse resources");
  }
  for (const ExprId argument : arguments) {
    const Type& type = site.context().types()[site.context().TypeOf(argument)];
    if (type.kind != TypeKind::kNumeric && type.kind != TypeKind::kEnum) {
      return site.NoSuch(arguments);
    }
  }
  if (arguments.size() < needed) {
    return site.NoSuch(arguments);
  }
  std::vector<ExprId> made{
      site.To(arguments[0], site.Integers(site.coordinates() + (site.levelled() ? 1 : 0)))};
  if (facts.multisampled) {
    made.push_back(site.To(arguments[1], site.Integers(1)));
  }
  if (arguments.size() > needed) {
    const ExprId offset = site.To(arguments[needed], site.Integers(site.dimensions()));
    made.push_back(ConstantOffset(site, arguments[needed], offset));
  }
  return site.Make(Method::kLoad, site.content(), made);
}

// `t[p]` of a writable image is a place, of others a value at level 0.
ExprId TexelOf(const MethodSite& site, ExprId index) {
  const ExprId texel = site.To(index, site.Integers(site.coordinates()));
  const ExprId both[] = {site.object(), texel};
  return Combine(site.context(),
                 {.kind = ExprKind::kMethod,
                  .flags = site.facts().writable ? Expr::kPlace : uint8_t{0},
                  .op = static_cast<uint8_t>(Method::kTexel),
                  .type = site.content(),
                  .a = site.object().value,
                  .b = site.context().AddList(std::span(&texel, 1)).value,
                  .at = site.at()},
                 both, Knowable::kNo);
}

// Nothing if the object has no such member: then it is an error of the caller.
ExprId LevelsOf(const MethodSite& site) {
  const std::string_view text = site.context().Text(site.name());
  const ObjectFacts& facts = site.facts();
  const bool image = facts.shape == ObjectShape::kImage && facts.dim != ir::ImageDim::kCube;
  const TypeId type = site.context().types().Void();
  if (image && text == "mips" && site.levelled()) {
    return site.Make(Method::kMips, type, {});
  }
  if (image && text == "sample" && facts.multisampled) {
    return site.Make(Method::kSamples, type, {});
  }
  return {};
}

// The first index is kept as an argument of the row, the second one makes the load of it.
ExprId IndexLevels(CheckContext& context, ExprId levels, ExprId index, TokenRange at) {
  const Expr row = context.Get(levels);
  const MethodSite site(context, ExprId{row.a}, at.begin, at);
  const std::span<const uint32_t> given = context.unit.List(ListId{row.b});
  if (given.empty()) {
    const ExprId level = site.To(index, site.Integers(1));
    return site.Make(static_cast<Method>(row.op), row.type, std::span(&level, 1));
  }
  const ExprId level{given[0]};
  const ExprId texel = site.To(index, site.Integers(site.coordinates()));
  if (static_cast<Method>(row.op) == Method::kSamples) {
    const ExprId both[] = {texel, level};
    return site.Make(Method::kLoad, site.content(), both);
  }
  if (context.Get(texel).kind == ExprKind::kFailed ||
      context.Get(level).kind == ExprKind::kFailed) {
    return context.Failed(at);
  }
  const ExprId parts[] = {texel, level};
  const ExprId all = MakeBuild(context, site.Integers(site.coordinates() + 1), parts, at);
  return site.Make(Method::kLoad, site.content(), std::span(&all, 1));
}

// Which form is meant is told by the number of arguments: with a level in front and the number
// of levels at the end, or without both.
ExprId DimensionsMethod(const MethodSite& site, std::span<const ExprId> arguments) {
  CheckContext& context = site.context();
  const bool image = site.facts().shape == ObjectShape::kImage;
  const std::vector<uint32_t> all = PartsOf(site, true);
  const bool levels = image && site.levelled() && arguments.size() == all.size() + 1;
  const std::vector<uint32_t> parts = levels ? all : PartsOf(site, false);
  if (arguments.size() != parts.size() + (levels ? 1 : 0)) {
    return site.NoSuch(arguments);
  }
  ExprId level;
  ExprId written;
  if (levels) {
    if (!IsNumber(context, arguments[0])) {
      return site.NoSuch(arguments);
    }
    written = site.To(arguments[0], site.Uint());
    // A level that is no constant is evaluated once for all outputs.
    const bool constant = context.Get(written).kind == ExprKind::kConstant;
    level = constant ? written : MakeGiven(context, site.Uint(), 0, site.at());
  } else if (image && site.levelled()) {
    level = site.Constant(0);
  }
  std::vector<ExprId> steps;
  for (size_t i = 0; i < parts.size(); ++i) {
    const ExprId place = arguments[i + (levels ? 1 : 0)];
    const Expr target = context.Get(place);
    if (!target.Is(Expr::kPlace) || target.Is(Expr::kConst)) {
      context.Say(context.At(Code::kHlsl2023, target.at)
                      .With("index", i + (levels ? 2 : 1))
                      .With("name", context.Text(site.name()))
                      .With("text", context.Text(target.at)));
      return context.Failed(site.at());
    }
    steps.push_back(MakeAssign(context, place, PartValue(site, parts[i], level), site.at()));
  }
  const ExprId chain = site.Chain(steps);
  return levels ? site.Let(written, {}, chain, context.types().Void()) : chain;
}

}  // namespace kiln::hlsl
