// SPDX-License-Identifier: MIT
// Four bytes are the items of a vector, shifted by 0, 8, 16 and 24.
// Only what has no builtin in the IR is here: packing to halves and to normalised bytes has
// one. All four bytes are worked on at once as a vector, which costs one instruction for each
// step and not four.
#include "compiler/front/wgsl/lower/packing.h"

#include <vector>

namespace kiln::wgsl::front {
namespace {

using ir::BinaryOp;

class Bytes {
 public:
  explicit Bytes(LowerContext& context)
      : context_(context),
        word_(context.Vector(ir::Scalar::kU32, 1)),
        words_(context.Vector(ir::Scalar::kU32, 4)),
        numbers_(context.Vector(ir::Scalar::kS32, 4)) {}

  // The low bytes of four words, first lowest.
  // All four bytes are masked and shifted at once; only putting them together goes one by one.
  ir::InstId Pack(ir::InstId words) {
    const ir::InstId bytes =
        Op(words_, BinaryOp::kAnd, words, context_.Repeated(ir::Scalar::kU32, 4, 255));
    const ir::InstId moved = Op(words_, BinaryOp::kShiftLeft, bytes, Shifts(words_));
    ir::InstId made = Item(word_, moved, 0);
    for (uint32_t i = 1; i < 4; ++i) {
      made = Op(word_, BinaryOp::kOr, made, Item(word_, moved, i));
    }
    return made;
  }
  // Four copies of the word, each shifted by its place, and masked.
  ir::InstId Unpack(ir::InstId word) {
    const ir::InstId all = context_.Emit(ir::SplatInst{words_, word});
    return Op(words_, BinaryOp::kAnd, Op(words_, BinaryOp::kShiftRight, all, Shifts(words_)),
              context_.Repeated(ir::Scalar::kU32, 4, 255));
  }
  // With the sign of the byte: to the top of the word and down again.
  ir::InstId UnpackSigned(ir::InstId word) {
    const ir::InstId top = context_.Repeated(ir::Scalar::kU32, 4, 24);
    const ir::InstId up = context_.Emit(
        ir::BitcastInst{numbers_, Op(words_, BinaryOp::kShiftLeft, Unpack(word), top)});
    return Op(numbers_, BinaryOp::kShiftRightArithmetic, up,
              context_.Repeated(ir::Scalar::kS32, 4, 24));
  }
  // What does not fit in a byte becomes its end, as WGSL has it for pack4xI8Clamp.
  ir::InstId Clamped(ir::InstId numbers) {
    const ir::InstId least = context_.Repeated(ir::Scalar::kS32, 4, static_cast<uint32_t>(-128));
    const ir::InstId most = context_.Repeated(ir::Scalar::kS32, 4, 127);
    return context_.Emit(ir::BuiltinCallInst{numbers_, ir::Builtin::kClamp, 0,
                                             context_.builder.Ids({numbers, least, most})});
  }
  ir::InstId ClampedWords(ir::InstId words) {
    return context_.Emit(ir::BuiltinCallInst{
        words_, ir::Builtin::kMin, 0,
        context_.builder.Ids({words, context_.Repeated(ir::Scalar::kU32, 4, 255)})});
  }
  ir::InstId AsWords(ir::InstId numbers) { return context_.Emit(ir::BitcastInst{words_, numbers}); }
  // Products of words that were bytes: neither they nor their sum overflow.
  ir::InstId Dot(ir::Scalar scalar, ir::InstId a, ir::InstId b) {
    return context_.Emit(ir::BuiltinCallInst{context_.Vector(scalar, 1), ir::Builtin::kDotIntegers,
                                             0, context_.builder.Ids({a, b})});
  }

 private:
  ir::InstId Op(ir::TypeId type, BinaryOp op, ir::InstId a, ir::InstId b) {
    return context_.Emit(ir::BinaryInst{type, op, a, b});
  }
  ir::InstId Item(ir::TypeId type, ir::InstId vector, uint32_t i) {
    return context_.Emit(ir::ExtractInst{type, vector, i});
  }
  // The constant (0, 8, 16, 24).
  ir::InstId Shifts(ir::TypeId type) {
    std::vector<ir::ConstId> parts;
    for (uint32_t i = 0; i < 4; ++i) {
      parts.push_back(context_.builder.ScalarConst(word_, uint64_t{i} * 8));
    }
    return context_.Emit(
        ir::ConstInst{type, context_.builder.CompositeConst(type, context_.builder.Ids(parts))});
  }

  LowerContext& context_;
  const ir::TypeId word_, words_, numbers_;
};

}  // namespace

ir::InstId Packing(LowerContext& context, Function function, std::span<const ir::InstId> x) {
  Bytes bytes(context);
  switch (function) {
    case Function::kPack4xI8:
      return bytes.Pack(bytes.AsWords(x[0]));
    case Function::kPack4xU8:
      return bytes.Pack(x[0]);
    case Function::kPack4xI8Clamp:
      return bytes.Pack(bytes.AsWords(bytes.Clamped(x[0])));
    case Function::kPack4xU8Clamp:
      return bytes.Pack(bytes.ClampedWords(x[0]));
    case Function::kUnpack4xI8:
      return bytes.UnpackSigned(x[0]);
    case Function::kUnpack4xU8:
      return bytes.Unpack(x[0]);
    case Function::kDot4I8Packed:
      return bytes.Dot(ir::Scalar::kS32, bytes.UnpackSigned(x[0]), bytes.UnpackSigned(x[1]));
    default:
      return bytes.Dot(ir::Scalar::kU32, bytes.Unpack(x[0]), bytes.Unpack(x[1]));
  }
}

}  // namespace kiln::wgsl::front
