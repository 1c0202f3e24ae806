// SPDX-License-Identifier: MIT
// The typing rules of `image`: which images an operation takes, which operands follow, which go
// together. Pure functions of shapes, like those of typing.h. Spec: docs/IR.md "Images".
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/ir/insts.h"
#include "compiler/ir/types.h"

namespace kiln::ir {

struct ImageOpFacts {
  std::string_view operands;  // letters of image_ops.def
  uint32_t keywords = 0;      // ImageOperand bits it may have
};
const ImageOpFacts& FactsOf(ImageOp op);

// Numbers of operands that the list of an `image` has: image and sampler, those behind them, those
// of keywords.
struct ImageOperandCounts {
  size_t handles = 1;
  size_t positional = 0;
  size_t keyword = 0;
  size_t all() const { return handles + positional + keyword; }
};
ImageOperandCounts OperandCountsOf(ImageOp op, uint32_t keywords);
// Of `grad` 2, of `sparse` 0, of every other 1.
constexpr size_t OperandCountOf(ImageOperand keyword) {
  return keyword == ImageOperand::kGrad ? 2 : keyword == ImageOperand::kSparse ? 0 : 1;
}
// Does it pick its level by derivatives?
constexpr bool IsImplicitLod(ImageOp op, uint32_t keywords) {
  return op == ImageOp::kQueryLod ||
         ((op == ImageOp::kSample || op == ImageOp::kSampleDref) &&
          (keywords & (BitOf(ImageOperand::kLod) | BitOf(ImageOperand::kGrad))) == 0);
}

// Coordinates of an image, with its layer; of texels the faces of a cube are layers.
uint32_t CoordinateCount(const ImageTraits& traits, bool texel);
// Without layers and faces: of offsets and gradients.
uint32_t DimensionCount(ImageDim dim);

struct ImageArgument {
  TypeId type{};
  bool is_constant = false;
};
struct ImageUse {
  ImageOp op = ImageOp::kSample;
  uint32_t keywords = 0;
  TypeId image{};
  std::span<const ImageArgument> arguments{};  // behind image and sampler
  TypeId result{};
};
// What is wrong, or nothing. Requires: as many arguments as OperandCountsOf says.
std::string_view CheckImageUse(const Pool& pool, const ImageUse& use);

// Type of a texel that `texel` may denote, and what is wrong with its operands, or nothing.
std::string_view CheckTexel(const Pool& pool, TypeId image, std::span<const ImageArgument> operands,
                            TypeId result);

}  // namespace kiln::ir
