// SPDX-License-Identifier: MIT
// Images give four items, of which the type of the image takes the first; a texel that is written
// has four, too, of which the image keeps those of its format.
#include "compiler/front/hlsl/lower/image.h"

#include <algorithm>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/lower/handle.h"
#include "compiler/front/hlsl/lower/shape.h"
#include "compiler/front/hlsl/lower/type.h"
#include "compiler/front/hlsl/lower/value.h"
#include "compiler/front/hlsl/sema/method.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

constexpr uint8_t kFirst[4] = {0, 1, 2, 3};

// One call of a method. Operands of the IR's instruction are gathered in `operands_`, and which
// of the optional ones are there in `keywords_`.
class MethodLowerer {
 public:
  MethodLowerer(LowerContext& context, const Expr& expr)
      : context_(context),
        method_(static_cast<Method>(expr.op)),
        expr_(expr),
        object_(context.TypeRowOf(ExprId{expr.a})),
        facts_(FactsOf(object_.object)),
        content_(context.TypeRow(TypeId{object_.element})),
        arguments_(context.unit.List(ListId{expr.b})) {}

  // The object is evaluated first, then arguments from left to right.
  ir::InstId Run() {
    if (method_ == Method::kGetDimensions) {
      return Dimension();
    }
    const ir::InstId image = HandleOf(context_, ExprId{expr_.a});
    if (method_ == Method::kLoad || method_ == Method::kTexel) {
      return Cut(Fetch(image));
    }
    operands_ = {image, HandleOf(context_, ExprId{arguments_[0]}),
                 ValueOf(context_, ExprId{arguments_[1]})};
    // spec/hlsl 19: one query gives both levels.
    if (method_ == Method::kCalculateLevelOfDetail ||
        method_ == Method::kCalculateLevelOfDetailUnclamped) {
      context_.at = expr_.at;
      const ir::InstId both = Emit(ir::ImageOp::kQueryLod, context_.Vector(ir::Scalar::kF32, 2));
      return ExtractPart(context_, both, context_.Vector(ir::Scalar::kF32, 1),
                         method_ == Method::kCalculateLevelOfDetail ? 0 : 1);
    }
    return method_ >= Method::kGather ? Gather() : Sample();
  }

 private:
  bool Compares() const {
    return method_ == Method::kSampleCmp || method_ == Method::kSampleCmpLevelZero ||
           method_ == Method::kGatherCmp || method_ == Method::kGatherCmpRed;
  }

  // Order of arguments: reference, bias or level or gradients, offset, clamp.
  ir::InstId Sample() {
    size_t next = 2;
    if (Compares()) {
      operands_.push_back(ValueOf(context_, ExprId{arguments_[next++]}));
    }
    Levels(next);
    if (next < arguments_.size()) {
      Add(ir::ImageOperand::kConstOffset, ValueOf(context_, ExprId{arguments_[next++]}));
    }
    if (next < arguments_.size()) {
      Add(ir::ImageOperand::kMinLod, ValueOf(context_, ExprId{arguments_[next++]}));
    }
    context_.at = expr_.at;
    if (Compares()) {
      return Emit(ir::ImageOp::kSampleDref, context_.Vector(ir::Scalar::kF32, 1));
    }
    return Cut(Emit(ir::ImageOp::kSample, context_.Vector(ScalarOf(content_), 4)));
  }

  // spec/hlsl 19: which component a gather takes is in the name of the method.
  ir::InstId Gather() {
    size_t next = 2;
    operands_.push_back(Compares() ? ValueOf(context_, ExprId{arguments_[next++]})
                                   : context_.Uint(Component()));
    std::vector<ir::InstId> offsets;
    bool constant = true;
    for (; next < arguments_.size(); ++next) {
      constant = constant && context_.Get(ExprId{arguments_[next]}).kind == ExprKind::kConstant;
      offsets.push_back(ValueOf(context_, ExprId{arguments_[next]}));
    }
    context_.at = expr_.at;
    if (offsets.size() == 1) {
      // A constant offset is its own operand, since SPIR-V limits what others may do.
      Add(constant ? ir::ImageOperand::kConstOffset : ir::ImageOperand::kOffset, offsets[0]);
    }
    return offsets.size() <= 1 ? EmitGather() : GatherFour(offsets);
  }
  ir::InstId EmitGather() {
    return Emit(Compares() ? ir::ImageOp::kGatherDref : ir::ImageOp::kGather,
                context_.Vector(GatheredScalar(), 4));
  }
  ir::Scalar GatheredScalar() const { return Compares() ? ir::Scalar::kF32 : ScalarOf(content_); }

  // Four texels at four offsets: of each gather the last one, which lies at the offset itself.
  // spec/hlsl 19: four offsets that are no constants are one gather each.
  ir::InstId GatherFour(const std::vector<ir::InstId>& offsets) {
    const std::vector<ir::InstId> operands = operands_;
    const ir::TypeId one = context_.Vector(GatheredScalar(), 1);
    std::vector<ir::InstId> items;
    for (const ir::InstId offset : offsets) {
      operands_ = operands;
      keywords_ = 0;
      Add(ir::ImageOperand::kOffset, offset);
      items.push_back(ExtractPart(context_, EmitGather(), one, 3));
    }
    return context_.Emit(
        ir::ConstructInst{context_.Vector(GatheredScalar(), 4), context_.builder.Ids(items)});
  }

  // One number of those that GetDimensions gives.
  // The part says which number is asked for.
  ir::InstId Dimension() {
    const ir::TypeId u32 = context_.Vector(ir::Scalar::kU32, 1);
    if (expr_.c == kDimensionCount || expr_.c == kDimensionBytes) {
      const ir::InstId items = HandleOf(context_, ExprId{expr_.a});
      const ir::InstId count = context_.Emit(
          ir::BuiltinCallInst{u32, ir::Builtin::kArrayLength, 0, context_.builder.Ids({items})});
      return expr_.c == kDimensionCount
                 ? count
                 : context_.Emit(ir::BinaryInst{u32, ir::BinaryOp::kMul, count, context_.Uint(4)});
    }
    operands_ = {HandleOf(context_, ExprId{expr_.a})};
    if (expr_.c == kDimensionLevels || expr_.c == kDimensionSamples) {
      return Emit(expr_.c == kDimensionLevels ? ir::ImageOp::kLevels : ir::ImageOp::kSamples, u32);
    }
    if (!arguments_.empty()) {
      Add(ir::ImageOperand::kLod, ValueOf(context_, ExprId{arguments_[0]}));
    }
    context_.at = expr_.at;
    const uint32_t count = SizeCount();
    const ir::InstId sizes = Emit(ir::ImageOp::kSize, context_.Vector(ir::Scalar::kU32, count));
    return count == 1 ? sizes : ExtractPart(context_, sizes, u32, expr_.c);
  }
  // As many sizes as the image has, with its layers.
  uint32_t SizeCount() const {
    const bool line = facts_.dim == ir::ImageDim::k1d || facts_.dim == ir::ImageDim::kBuffer;
    const uint32_t flat = line ? 1 : facts_.dim == ir::ImageDim::k3d ? 3 : 2;
    return flat + (facts_.arrayed ? 1 : 0);
  }

  uint32_t Component() const {
    return method_ == Method::kGatherGreen   ? 1
           : method_ == Method::kGatherBlue  ? 2
           : method_ == Method::kGatherAlpha ? 3
                                             : 0;
  }
  void Add(ir::ImageOperand keyword, ir::InstId value) {
    keywords_ |= ir::BitOf(keyword);
    operands_.push_back(value);
  }
  // bias, level or derivatives, which stand in this order in the IR too.
  // A level that the name of the method gives is a constant here.
  void Levels(size_t& next) {
    if (method_ == Method::kSampleBias) {
      Add(ir::ImageOperand::kBias, ValueOf(context_, ExprId{arguments_[next++]}));
    } else if (method_ == Method::kSampleLevel) {
      Add(ir::ImageOperand::kLod, ValueOf(context_, ExprId{arguments_[next++]}));
    } else if (method_ == Method::kSampleCmpLevelZero) {
      Add(ir::ImageOperand::kLod, context_.Repeated(ir::Scalar::kF32, 1, 0));
    } else if (method_ == Method::kSampleGrad) {
      Add(ir::ImageOperand::kGrad, ValueOf(context_, ExprId{arguments_[next++]}));
      operands_.push_back(ValueOf(context_, ExprId{arguments_[next++]}));
    }
  }
  ir::InstId Emit(ir::ImageOp op, ir::TypeId type) {
    return context_.Emit(ir::ImageInst{type, op, keywords_, context_.builder.Ids(operands_)});
  }

  // A texel by its number: the last coordinate of a sampled image is the level.
  // spec/hlsl 19 (Load): coordinate with level, offset, sample.
  ir::InstId Fetch(ir::InstId image) {
    const ExprId coordinate{arguments_[0]};
    ir::InstId texel = ValueOf(context_, coordinate);
    const uint32_t given = CountOf(context_.TypeRowOf(coordinate));
    const bool levelled =
        !facts_.writable && !facts_.multisampled && facts_.dim != ir::ImageDim::kBuffer;
    operands_ = {image};
    context_.at = expr_.at;
    ir::InstId level;
    // The level is cut off the coordinate. By `[p]` it is 0.
    if (levelled && method_ == Method::kLoad) {
      level = ExtractPart(context_, texel, context_.Vector(ir::Scalar::kS32, 1), given - 1);
      texel = SwizzleValue(context_, texel, ir::Scalar::kS32, given,
                           ir::PackSwizzle(given - 1, kFirst));
    } else if (levelled) {
      level = context_.Repeated(ir::Scalar::kS32, 1, 0);
    }
    operands_.push_back(texel);
    if (level.valid()) {
      Add(ir::ImageOperand::kLod, level);
    }
    const size_t needed = facts_.multisampled ? 2 : 1;
    if (method_ == Method::kLoad && arguments_.size() > needed) {
      Add(ir::ImageOperand::kConstOffset, ValueOf(context_, ExprId{arguments_[needed]}));
    }
    if (facts_.multisampled) {
      Add(ir::ImageOperand::kSample, ValueOf(context_, ExprId{arguments_[1]}));
    }
    context_.at = expr_.at;
    return Emit(facts_.writable ? ir::ImageOp::kRead : ir::ImageOp::kFetch,
                context_.Vector(ScalarOf(content_), 4));
  }

  // spec/hlsl 14.2: reads give four components, cut to the item.
  ir::InstId Cut(ir::InstId value) {
    const uint32_t count = CountOf(content_);
    return count == 4 ? value
                      : SwizzleValue(context_, value, ScalarOf(content_), 4,
                                     ir::PackSwizzle(count, kFirst));
  }

  LowerContext& context_;
  const Method method_;
  const Expr& expr_;
  const Type object_;
  const ObjectFacts& facts_;
  const Type content_;
  const std::span<const uint32_t> arguments_;
  std::vector<ir::InstId> operands_;
  uint32_t keywords_ = 0;
};

}  // namespace

// Levels without an index give nothing and were reported; arguments are evaluated for their
// effects.
ir::InstId MethodValue(LowerContext& context, const Expr& expr) {
  const auto method = static_cast<Method>(expr.op);
  if (method == Method::kMips || method == Method::kSamples) {  // nothing, as no index follows
    for (const uint32_t argument : context.unit.List(ListId{expr.b})) {
      ValueOf(context, ExprId{argument});
    }
    return context.Uint(0);
  }
  return MethodLowerer(context, expr).Run();
}

// Requires: a writable image. Its place is the image and a coordinate.
TexelPlace TexelOf(LowerContext& context, const Expr& expr) {
  const ir::InstId image = HandleOf(context, ExprId{expr.a});
  const ir::InstId at = ValueOf(context, ExprId{context.unit.List(ListId{expr.b})[0]});
  context.at = expr.at;
  return {image, at, expr.type};
}

ir::InstId TexelInst(LowerContext& context, const Place& place) {
  return context.Emit(
      ir::TexelInst{TypeOf(context, place.type), place.root, context.builder.Ids({place.texel})});
}

ir::InstId ReadTexel(LowerContext& context, const TexelPlace& texel) {
  const Type& item = context.TypeRow(texel.type);
  const ir::InstId made =
      context.Emit(ir::ImageInst{context.Vector(ScalarOf(item), 4), ir::ImageOp::kRead, 0,
                                 context.builder.Ids({texel.image, texel.at})});
  return SwizzleValue(context, made, ScalarOf(item), 4, ir::PackSwizzle(CountOf(item), kFirst));
}

// Missing components are zero.
void WriteTexel(LowerContext& context, const TexelPlace& texel, ir::InstId value) {
  const Type& item = context.TypeRow(texel.type);
  const uint32_t count = CountOf(item);
  if (count < 4) {
    const ir::InstId rest = context.Repeated(ScalarOf(item), 4 - count, 0);
    value = context.Emit(
        ir::ConstructInst{context.Vector(ScalarOf(item), 4), context.builder.Ids({value, rest})});
  }
  context.Emit(ir::ImageInst{context.builder.Void(), ir::ImageOp::kWrite, 0,
                             context.builder.Ids({texel.image, texel.at, value})});
}

}  // namespace kiln::hlsl
