// SPDX-License-Identifier: MIT
// Images give four items, of which the type of the image takes the first; a texel that is written
// has four, too, of which the image keeps those of its format.
#include "compiler/front/hlsl/lower/image.h"

#include <algorithm>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/lower/shape.h"
#include "compiler/front/hlsl/lower/type.h"
#include "compiler/front/hlsl/lower/value.h"
#include "compiler/front/hlsl/sema/image_format.h"
#include "compiler/front/hlsl/sema/method.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

constexpr uint8_t kFirst[4] = {0, 1, 2, 3};

// What the item says where nothing is written: 1, 2 or 4 items of 32 bits.
ir::ImageFormat FormatOf(const Type& item) {
  using enum ir::ImageFormat;
  const uint32_t count = CountOf(item);
  if (count == 3) {
    return kUnknown;
  }
  const size_t row = count == 1 ? 0 : count == 2 ? 1 : 2;
  static constexpr ir::ImageFormat kFloats[] = {kR32Float, kRg32Float, kRgba32Float};
  static constexpr ir::ImageFormat kSigned[] = {kR32Sint, kRg32Sint, kRgba32Sint};
  static constexpr ir::ImageFormat kUnsigned[] = {kR32Uint, kRg32Uint, kRgba32Uint};
  return IsFloat(item.item) ? kFloats[row] : IsSigned(item.item) ? kSigned[row] : kUnsigned[row];
}

class MethodLowerer {
 public:
  MethodLowerer(LowerContext& context, const Expr& expr)
      : context_(context),
        method_(static_cast<Method>(expr.op)),
        expr_(expr),
        global_(context.unit.globals[context.Get(ExprId{expr.a}).a]),
        facts_(FactsOf(context.TypeRow(global_.type).object)),
        content_(context.TypeRow(TypeId{context.TypeRow(global_.type).element})),
        arguments_(context.unit.List(ListId{expr.b})) {}

  ir::InstId Run() {
    const ir::InstId image = Handle(ExprId{expr_.a});
    if (method_ == Method::kLoad || method_ == Method::kTexel) {
      return Cut(Fetch(image));
    }
    operands_ = {image, Handle(ExprId{arguments_[0]}), ValueOf(context_, ExprId{arguments_[1]})};
    const bool gathers = method_ >= Method::kGather && method_ <= Method::kGatherAlpha;
    const bool compares = method_ == Method::kSampleCmp || method_ == Method::kSampleCmpLevelZero ||
                          method_ == Method::kGatherCmp || method_ == Method::kGatherCmpRed;
    size_t next = 2;
    if (compares) {
      operands_.push_back(ValueOf(context_, ExprId{arguments_[next++]}));
    } else if (gathers) {
      operands_.push_back(context_.Uint(Component()));
    }
    Levels(next);
    if (next < arguments_.size()) {
      Add(ir::ImageOperand::kConstOffset, ValueOf(context_, ExprId{arguments_[next++]}));
    }
    if (next < arguments_.size()) {
      Add(ir::ImageOperand::kMinLod, ValueOf(context_, ExprId{arguments_[next++]}));
    }
    context_.at = expr_.at;
    const bool one = compares && method_ < Method::kGather;
    const ir::Scalar scalar = compares ? ir::Scalar::kF32 : ScalarOf(content_);
    const ir::ImageOp op = gathers                         ? ir::ImageOp::kGather
                           : method_ >= Method::kGatherCmp ? ir::ImageOp::kGatherDref
                           : compares                      ? ir::ImageOp::kSampleDref
                                                           : ir::ImageOp::kSample;
    const ir::InstId made = Emit(op, context_.Vector(scalar, one ? 1 : 4));
    return one || method_ >= Method::kGather ? made : Cut(made);
  }

 private:
  ir::InstId Handle(ExprId id) {
    const uint32_t row = context_.Get(id).a;
    const Global& global = context_.unit.globals[row];
    const bool sampler =
        FactsOf(context_.TypeRow(global.type).object).shape == ObjectShape::kSampler;
    return context_.Emit(
        ir::GlobalRefInst{sampler ? context_.builder.Sampler() : ImageTypeOf(context_, global),
                          ir::Direction::kNone, context_.globals[row], ir::MemberId{}});
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
  ir::InstId Fetch(ir::InstId image) {
    const ExprId coordinate{arguments_[0]};
    ir::InstId texel = ValueOf(context_, coordinate);
    const uint32_t given = CountOf(context_.TypeRowOf(coordinate));
    const bool levelled =
        !facts_.writable && !facts_.multisampled && facts_.dim != ir::ImageDim::kBuffer;
    operands_ = {image};
    context_.at = expr_.at;
    ir::InstId level;
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
    if (facts_.multisampled) {
      Add(ir::ImageOperand::kSample, ValueOf(context_, ExprId{arguments_[1]}));
    }
    context_.at = expr_.at;
    return Emit(facts_.writable ? ir::ImageOp::kRead : ir::ImageOp::kFetch,
                context_.Vector(ScalarOf(content_), 4));
  }

  ir::InstId Cut(ir::InstId value) {
    const uint32_t count = CountOf(content_);
    return count == 4 ? value
                      : SwizzleValue(context_, value, ScalarOf(content_), 4,
                                     ir::PackSwizzle(count, kFirst));
  }

  LowerContext& context_;
  const Method method_;
  const Expr& expr_;
  const Global& global_;
  const ObjectFacts& facts_;
  const Type content_;
  const std::span<const uint32_t> arguments_;
  std::vector<ir::InstId> operands_;
  uint32_t keywords_ = 0;
};

}  // namespace

ir::TypeId ImageTypeOf(LowerContext& context, const Global& global) {
  const Type& type = context.TypeRow(global.type);
  const ObjectFacts& facts = FactsOf(type.object);
  const Type& item = context.TypeRow(TypeId{type.element});
  const Attributes* written =
      global.attributes.valid() ? &context.unit.attributes[global.attributes.value] : nullptr;
  const bool said = written != nullptr && written->depth;
  ir::ImageFormat format = facts.writable ? FormatOf(item) : ir::ImageFormat::kUnknown;
  if (facts.writable && written != nullptr && !written->image_format.empty()) {
    format = FindImageFormat(written->image_format, item.item).value_or(format);
  }
  return context.builder.Image(ScalarOf(item),
                               {.dim = facts.dim,
                                .arrayed = facts.arrayed,
                                .depth = !facts.writable && (global.compared || said),
                                .storage = facts.writable,
                                .format = format,
                                .multisampled = facts.multisampled});
}

ir::InstId MethodValue(LowerContext& context, const Expr& expr) {
  return MethodLowerer(context, expr).Run();
}

TexelPlace TexelOf(LowerContext& context, const Expr& expr) {
  const uint32_t row = context.Get(ExprId{expr.a}).a;
  const Global& global = context.unit.globals[row];
  const ir::InstId image = context.Emit(ir::GlobalRefInst{
      ImageTypeOf(context, global), ir::Direction::kNone, context.globals[row], ir::MemberId{}});
  const ir::InstId at = ValueOf(context, ExprId{context.unit.List(ListId{expr.b})[0]});
  context.at = expr.at;
  return {image, at, expr.type};
}

ir::InstId ReadTexel(LowerContext& context, const TexelPlace& texel) {
  const Type& item = context.TypeRow(texel.type);
  const ir::InstId made =
      context.Emit(ir::ImageInst{context.Vector(ScalarOf(item), 4), ir::ImageOp::kRead, 0,
                                 context.builder.Ids({texel.image, texel.at})});
  return SwizzleValue(context, made, ScalarOf(item), 4, ir::PackSwizzle(CountOf(item), kFirst));
}

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
