// SPDX-License-Identifier: MIT
// Operands are named by the letters of the row of textures.def that the call is. The layer is the
// last component of a coordinate; where a call has no level and its stage no derivatives, it is
// level 0.
#include "compiler/front/wgsl/lower/texture.h"

#include <vector>

#include "compiler/base/check.h"
#include "compiler/front/wgsl/lower/type.h"
#include "compiler/front/wgsl/lower/value.h"
#include "compiler/front/wgsl/sema/texture.h"

namespace kiln::wgsl::front {
namespace {

using ir::ImageOp;
using ir::ImageOperand;

class TextureLowering {
 public:
  // All arguments are evaluated here, in order; what is made of them asks by letter. Only the
  // last letter, the offset, may have no argument.
  TextureLowering(LowerContext& context, const Expr& expr)
      : context_(context),
        expr_(expr),
        row_(TextureOverloads()[expr.c]),
        function_(static_cast<Function>(expr.op)) {
    const std::span<const uint32_t> list = context.unit.List(ListId{expr.b});
    const size_t texture = row_.parameters.find('t');
    type_ = context.TypeRowOf(ExprId{list[texture]});
    size_t next = 0;
    for (const char letter : row_.parameters) {
      if (letter == 'y' && !IsArrayed(type_.dim)) {
        continue;
      }
      // Gradients have one letter and two arguments.
      for (size_t i = 0; i < (letter == 'g' ? 2u : 1u) && next < list.size(); ++i, ++next) {
        letters_ += letter;
        ids_.push_back(ExprId{list[next]});
        values_.push_back(ValueOf(context, ids_.back()));
      }
    }
    context.at = expr.at;
  }

  // Functions by the operation of images that they are.
  ir::InstId Make() {
    switch (function_) {
      case Function::kTextureDimensions:
        return Dimensions();
      case Function::kTextureNumLayers:
        return Layers();
      case Function::kTextureNumLevels:
        return Query(ImageOp::kLevels);
      case Function::kTextureNumSamples:
        return Query(ImageOp::kSamples);
      case Function::kTextureLoad:
        return LoadTexel();
      case Function::kTextureStore:
        Image(ImageOp::kWrite, context_.builder.Void(), 0, {Of('t'), Texel(), Of('v')});
        return {};
      case Function::kTextureGather:
      case Function::kTextureGatherCompare:
        return Gather();
      case Function::kTextureSampleCompare:
      case Function::kTextureSampleCompareLevel:
        return SampleCompare();
      default:
        return Sample();
    }
  }

 private:
  bool Has(char letter) const { return letters_.find(letter) != std::string::npos; }
  size_t At(char letter) const { return letters_.find(letter); }
  ir::InstId Of(char letter) const { return values_[At(letter)]; }

  // Operands are in the order that ImageOp says, then those of keywords by ascending bit.
  ir::InstId Image(ImageOp op, ir::TypeId type, uint32_t keywords,
                   const std::vector<ir::InstId>& operands) {
    return context_.Emit(ir::ImageInst{type, op, keywords, context_.builder.Ids(operands)});
  }
  ir::TypeId Float(uint32_t rows) { return context_.Vector(ir::Scalar::kF32, rows); }
  ir::TypeId Four() { return context_.Vector(ScalarOf(type_.scalar), 4); }

  // WGSL has the layer as an integer of its own, the IR as the last float of the coordinate.
  ir::InstId Coordinate() {
    if (!Has('y')) {
      return Of('c');
    }
    const ir::InstId layer = context_.Emit(ir::ConvertInst{Float(1), Of('y')});
    return context_.Emit(ir::ConstructInst{Float(CoordinatesOf(type_.dim) + 1),
                                           context_.builder.Ids({Of('c'), layer})});
  }

  // A texel of integers; the layer has the type of the others.
  ir::InstId Texel() {
    if (!Has('y')) {
      return Of('i');
    }
    const ScalarKind scalar = context_.TypeRowOf(ids_[At('i')]).scalar;
    const ScalarKind layer_scalar = context_.TypeRowOf(ids_[At('y')]).scalar;
    ir::InstId layer = Of('y');
    if (layer_scalar != scalar) {
      layer = context_.Emit(ir::BitcastInst{context_.Vector(ScalarOf(scalar), 1), layer});
    }
    return context_.Emit(
        ir::ConstructInst{context_.Vector(ScalarOf(scalar), CoordinatesOf(type_.dim) + 1),
                          context_.builder.Ids({Of('i'), layer})});
  }

  // Of four items what the call gives.
  // A depth texture has one number, an operation of images always four.
  ir::InstId Part(ir::InstId four) {
    const bool one = context_.types[expr_.type].kind == TypeKind::kScalar;
    return one ? context_.Emit(ir::ExtractInst{TypeOf(context_, expr_.type), four, 0}) : four;
  }

  // Multisampled and storage textures have one level, and their size is asked without.
  bool HasLevels() const {
    return type_.texture == TextureClass::kSampled || type_.texture == TextureClass::kDepth;
  }
  // A cube counts two dimensions, an array its layers behind them.
  ir::InstId Size() {
    const bool flat = type_.dim == TextureDim::kCube || type_.dim == TextureDim::kCubeArray;
    const uint32_t rows = (flat ? 2 : CoordinatesOf(type_.dim)) + (IsArrayed(type_.dim) ? 1 : 0);
    std::vector<ir::InstId> operands{Of('t')};
    if (HasLevels()) {
      operands.push_back(Has('L') ? Of('L') : context_.Uint(0));
    }
    return Image(ImageOp::kSize, context_.Vector(ir::Scalar::kU32, rows),
                 HasLevels() ? BitOf(ImageOperand::kLod) : 0, operands);
  }
  ir::InstId Dimensions() {
    const ir::InstId size = Size();
    if (!IsArrayed(type_.dim)) {
      return size;
    }
    return context_.Emit(
        ir::SwizzleInst{TypeOf(context_, expr_.type), size, ir::PackSwizzle(2, {0, 1, 0, 0})});
  }
  ir::InstId Layers() {
    return context_.Emit(ir::ExtractInst{TypeOf(context_, expr_.type), Size(), 2});
  }
  ir::InstId Query(ImageOp op) { return Image(op, TypeOf(context_, expr_.type), 0, {Of('t')}); }

  // A storage texture is read; others are fetched, from a level or a sample.
  ir::InstId LoadTexel() {
    if (type_.texture == TextureClass::kStorage) {
      return Image(ImageOp::kRead, Four(), 0, {Of('t'), Texel()});
    }
    const bool sample = Has('m');
    return Part(Image(ImageOp::kFetch, Four(),
                      BitOf(sample ? ImageOperand::kSample : ImageOperand::kLod),
                      {Of('t'), Texel(), sample ? Of('m') : Of('L')}));
  }

  void Offset(uint32_t& keywords, std::vector<ir::InstId>& operands) {
    if (Has('o')) {
      keywords |= BitOf(ImageOperand::kConstOffset);
      operands.push_back(Of('o'));
    }
  }

  // The component of a depth texture is its only one.
  ir::InstId Gather() {
    const bool compares = function_ == Function::kTextureGatherCompare;
    std::vector<ir::InstId> operands{Of('t'), Of(compares ? 'x' : 's'), Coordinate()};
    operands.push_back(compares ? Of('d') : Has('n') ? Of('n') : context_.Uint(0));
    uint32_t keywords = 0;
    Offset(keywords, operands);
    return Image(compares ? ImageOp::kGatherDref : ImageOp::kGather, Four(), keywords, operands);
  }

  // `…Level` compares at level 0, in any stage.
  ir::InstId SampleCompare() {
    std::vector<ir::InstId> operands{Of('t'), Of('x'), Coordinate(), Of('d')};
    uint32_t keywords = 0;
    if (function_ == Function::kTextureSampleCompareLevel) {
      keywords |= BitOf(ImageOperand::kLod);
      operands.push_back(context_.Repeated(ir::Scalar::kF32, 1, 0));
    }
    Offset(keywords, operands);
    return Image(ImageOp::kSampleDref, Float(1), keywords, operands);
  }

  // One of bias, level and gradients at most, as the row has it.
  ir::InstId Sample() {
    const bool clamped = function_ == Function::kTextureSampleBaseClampToEdge;
    std::vector<ir::InstId> operands{Of('t'), Of('s'), clamped ? Inside() : Coordinate()};
    uint32_t keywords = 0;
    if (Has('b')) {
      keywords |= BitOf(ImageOperand::kBias);
      operands.push_back(Of('b'));
    } else if (Has('l') || clamped) {
      keywords |= BitOf(ImageOperand::kLod);
      operands.push_back(clamped ? context_.Repeated(ir::Scalar::kF32, 1, 0) : Of('l'));
    } else if (Has('L')) {
      keywords |= BitOf(ImageOperand::kLod);
      operands.push_back(context_.Emit(ir::ConvertInst{Float(1), Of('L')}));
    } else if (Has('g')) {
      keywords |= BitOf(ImageOperand::kGrad);
      operands.push_back(values_[At('g')]);
      operands.push_back(values_[At('g') + 1]);
    }
    Offset(keywords, operands);
    return Part(Image(ImageOp::kSample, Four(), keywords, operands));
  }

  // Half a texel from each edge.
  // WGSL, "textureSampleBaseClampToEdge": coordinates end half a texel before the edges, so
  // that linear filtering takes nothing from beyond them.
  ir::InstId Inside() {
    const ir::TypeId two = Float(2);
    const ir::InstId size = context_.Emit(ir::ConvertInst{two, Size()});
    const ir::InstId half = context_.Emit(ir::BinaryInst{
        two, ir::BinaryOp::kDiv, context_.Repeated(ir::Scalar::kF32, 2, 0x3f000000u), size});
    const ir::InstId far = context_.Emit(ir::BinaryInst{
        two, ir::BinaryOp::kSub, context_.Repeated(ir::Scalar::kF32, 2, 0x3f800000u), half});
    return context_.Emit(ir::BuiltinCallInst{two, ir::Builtin::kClamp, 0,
                                             context_.builder.Ids({Of('c'), half, far})});
  }

  LowerContext& context_;
  const Expr& expr_;
  const TextureOverload& row_;
  const Function function_;
  Type type_;
  std::string letters_;
  std::vector<ExprId> ids_;
  std::vector<ir::InstId> values_;
};

}  // namespace

ir::InstId TextureOperation(LowerContext& context, const Expr& expr) {
  return TextureLowering(context, expr).Make();
}

}  // namespace kiln::wgsl::front
