// SPDX-License-Identifier: MIT
// An operation is judged in three steps: may it be done with this image at all, do its keywords go
// together and fit the image, and has every operand its type. The letters and keywords it may have
// are rows of image_ops.def.
#include "compiler/ir/typing/image_typing.h"

#include <bit>

#include "compiler/base/check.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::ir {
namespace {

using enum ImageOperand;

template <class... Keywords>
constexpr uint32_t Bits(Keywords... keywords) {
  return (BitOf(keywords) | ...);
}

constexpr ImageOpFacts kFacts[] = {
#define KILN_IMAGE_OP(op, name, operands, keywords) {operands, keywords},
#include "compiler/ir/image_ops.def"
};

constexpr uint32_t kOffsets = Bits(kConstOffset, kOffset, kConstOffsets);
constexpr uint32_t kLevels = Bits(kBias, kLod, kGrad);

bool AtMostOne(uint32_t keywords, uint32_t of) { return std::popcount(keywords & of) <= 1; }
bool Has(uint32_t keywords, ImageOperand one) { return (keywords & BitOf(one)) != 0; }

bool TakesSampler(ImageOp op) { return FactsOf(op).operands.starts_with('S'); }
bool Compares(ImageOp op) { return op == ImageOp::kSampleDref || op == ImageOp::kGatherDref; }
bool Gathers(ImageOp op) { return op == ImageOp::kGather || op == ImageOp::kGatherDref; }
bool IsTexelOp(ImageOp op) {
  return op == ImageOp::kFetch || op == ImageOp::kRead || op == ImageOp::kWrite;
}

// May this be done with such an image?
std::string_view CheckImage(ImageOp op, const ImageTraits& traits) {
  const bool flat = traits.dim == ImageDim::k2d || traits.dim == ImageDim::kCube;
  if (traits.dim == ImageDim::kSubpass) {
    return "subpass inputs have no lowering";
  }
  if (TakesSampler(op)) {
    if (traits.storage || traits.multisampled || traits.dim == ImageDim::kBuffer) {
      return "not an image that takes a sampler";
    }
    if (Gathers(op) && !flat) {
      return "only 2d images and cubes are gathered";
    }
    const bool may_compare = (traits.depth || traits.unknown_depth) && traits.dim != ImageDim::k3d;
    return Compares(op) && !may_compare ? "not an image of depths" : "";
  }
  if (op == ImageOp::kFetch) {
    return traits.storage || traits.dim == ImageDim::kCube ? "not an image to fetch from" : "";
  }
  if (op == ImageOp::kRead || op == ImageOp::kWrite) {
    return traits.storage ? "" : "not a storage image";
  }
  if (op == ImageOp::kSamples) {
    return traits.multisampled ? "" : "only multisampled images have samples";
  }
  const bool levelled = !traits.storage && !traits.multisampled && traits.dim != ImageDim::kBuffer;
  return op == ImageOp::kLevels && !levelled ? "an image without levels" : "";
}

std::string_view CheckKeywords(ImageOp op, uint32_t keywords, const ImageTraits& traits) {
  if ((keywords & ~FactsOf(op).keywords) != 0) {
    return "a keyword that this operation does not have";
  }
  if (!AtMostOne(keywords, kOffsets) || !AtMostOne(keywords, kLevels) ||
      (Has(keywords, kMinLod) && Has(keywords, kLod))) {
    return "keywords that exclude each other";
  }
  const bool offset = (keywords & kOffsets) != 0;
  if (offset && (traits.dim == ImageDim::kCube || traits.dim == ImageDim::kBuffer)) {
    return "no offsets in such an image";
  }
  if (IsTexelOp(op) && Has(keywords, kSample) != traits.multisampled) {
    return "multisampled images, and only they, have a sample";
  }
  const bool levelled = !traits.storage && !traits.multisampled && traits.dim != ImageDim::kBuffer;
  if (op == ImageOp::kSize && Has(keywords, kLod) != levelled) {
    return "images with levels, and only they, have a level";
  }
  return op == ImageOp::kFetch && Has(keywords, kLod) && !levelled
             ? "images with levels, and only they, have a level"
             : "";
}

bool IsFloatVector(const Pool& pool, TypeId id, uint32_t rows) {
  return IsVector(pool, id, Scalar::kF32, rows);
}
bool IsIntegerVector(const Pool& pool, TypeId id, uint32_t rows) {
  return IsVector(pool, id, Scalar::kU32, rows) || IsVector(pool, id, Scalar::kS32, rows);
}

bool FitsLetter(const Pool& pool, char letter, const ImageUse& use, const ImageArgument& argument) {
  const Type& image = pool[use.image];
  const ImageTraits traits = UnpackImage(image.extent);
  switch (letter) {
    case 'c':
      return IsFloatVector(pool, argument.type,
                           use.op == ImageOp::kQueryLod
                               ? CoordinateCount(traits, false) - (traits.arrayed ? 1 : 0)
                               : CoordinateCount(traits, false));
    case 't':
      return IsIntegerVector(pool, argument.type, CoordinateCount(traits, true));
    case 'd':
      return IsFloatVector(pool, argument.type, 1);
    case 'k':
      return argument.is_constant && IsIntegerVector(pool, argument.type, 1);
    case 'v':
      return IsVector(pool, argument.type, image.scalar, 4);
    default:
      return false;
  }
}

bool IsConstOffsets(const Pool& pool, const ImageArgument& argument) {
  const Type& type = pool[argument.type];
  return argument.is_constant && type.kind == TypeKind::kArray && type.extent == 4 &&
         IsVector(pool, TypeId{type.element}, Scalar::kS32, 2);
}

bool FitsKeyword(const Pool& pool, ImageOperand keyword, const ImageUse& use,
                 const ImageArgument& argument) {
  const uint32_t dimensions = DimensionCount(UnpackImage(pool[use.image].extent).dim);
  switch (keyword) {
    case kBias:
    case kMinLod:
      return IsFloatVector(pool, argument.type, 1);
    case kLod:
      return TakesSampler(use.op) ? IsFloatVector(pool, argument.type, 1)
                                  : IsIntegerVector(pool, argument.type, 1);
    case kGrad:
      return IsFloatVector(pool, argument.type, dimensions);
    case kConstOffset:
      return argument.is_constant && IsVector(pool, argument.type, Scalar::kS32, dimensions);
    case kOffset:
      return IsVector(pool, argument.type, Scalar::kS32, dimensions);
    case kConstOffsets:
      return IsConstOffsets(pool, argument);
    case kSample:
      return IsIntegerVector(pool, argument.type, 1);
    case kSparse:
      return false;
  }
  KILN_UNREACHABLE();
}

bool FitsResult(const Pool& pool, const ImageUse& use, TypeId result) {
  const Type& image = pool[use.image];
  const ImageTraits traits = UnpackImage(image.extent);
  switch (use.op) {
    case ImageOp::kSampleDref:
      return IsFloatVector(pool, result, 1);
    case ImageOp::kWrite:
      return result == pool.void_type();
    case ImageOp::kSize: {
      const uint32_t rows = traits.dim == ImageDim::kCube ? 2 : DimensionCount(traits.dim);
      return IsIntegerVector(pool, result, rows + (traits.arrayed ? 1 : 0));
    }
    case ImageOp::kLevels:
    case ImageOp::kSamples:
      return IsIntegerVector(pool, result, 1);
    case ImageOp::kQueryLod:
      return IsFloatVector(pool, result, 2);
    case ImageOp::kSample:
    case ImageOp::kFetch:
    case ImageOp::kGather:
    case ImageOp::kGatherDref:
    case ImageOp::kRead:
      return IsVector(pool, result, image.scalar, 4);
  }
  KILN_UNREACHABLE();
}

bool FitsSparseResult(const Pool& pool, const ImageUse& use) {
  const Type& type = pool[use.result];
  return type.kind == TypeKind::kStruct && pool.Members(use.result).size() == 2 &&
         IsVector(pool, pool.Members(use.result)[0].type, Scalar::kU32, 1) &&
         FitsResult(pool, use, pool.Members(use.result)[1].type);
}

}  // namespace

const ImageOpFacts& FactsOf(ImageOp op) { return kFacts[static_cast<size_t>(op)]; }

ImageOperandCounts OperandCountsOf(ImageOp op, uint32_t keywords) {
  const std::string_view letters = FactsOf(op).operands;
  ImageOperandCounts counts;
  const bool sampler = letters.starts_with('S');
  counts.handles = sampler && (keywords & kCombinedSampler) == 0 ? 2 : 1;
  counts.positional = letters.size() - (sampler ? 1 : 0);
  for (uint32_t bit = 0; bit <= static_cast<uint32_t>(kSparse); ++bit) {
    if ((keywords >> bit & 1u) != 0) {
      counts.keyword += OperandCountOf(static_cast<ImageOperand>(bit));
    }
  }
  return counts;
}

uint32_t DimensionCount(ImageDim dim) {
  if (dim == ImageDim::k3d || dim == ImageDim::kCube) {
    return 3;
  }
  return dim == ImageDim::k1d || dim == ImageDim::kBuffer ? 1 : 2;
}

uint32_t CoordinateCount(const ImageTraits& traits, bool texel) {
  const bool layer = traits.arrayed && !(texel && traits.dim == ImageDim::kCube);
  return DimensionCount(traits.dim) + (layer ? 1 : 0);
}

std::string_view CheckImageUse(const Pool& pool, const ImageUse& use) {
  const Type& image = pool[use.image];
  if (!IsImage(image.kind)) {
    return "an image comes first";
  }
  const ImageTraits traits = UnpackImage(image.extent);
  const bool combined = (use.keywords & kCombinedSampler) != 0;
  if (combined != (TakesSampler(use.op) && image.kind == TypeKind::kSampledImage)) {
    return "an image with its sampler, and only that, takes none beside it";
  }
  const uint32_t keywords = use.keywords & ~kCombinedSampler;
  if (const std::string_view wrong = CheckImage(use.op, traits); !wrong.empty()) {
    return wrong;
  }
  if (const std::string_view wrong = CheckKeywords(use.op, keywords, traits); !wrong.empty()) {
    return wrong;
  }
  size_t next = 0;
  for (const char letter : FactsOf(use.op).operands) {
    if (letter != 'S' && !FitsLetter(pool, letter, use, use.arguments[next++])) {
      return "type of an operand";
    }
  }
  for (uint32_t bit = 0; bit <= static_cast<uint32_t>(kSparse); ++bit) {
    const auto keyword = static_cast<ImageOperand>(bit);
    for (size_t i = 0; Has(keywords, keyword) && i < OperandCountOf(keyword); ++i) {
      if (!FitsKeyword(pool, keyword, use, use.arguments[next++])) {
        return "type of a keyword operand";
      }
    }
  }
  const bool sparse = Has(keywords, kSparse);
  return (sparse ? FitsSparseResult(pool, use) : FitsResult(pool, use, use.result))
             ? ""
             : "type of the result";
}

std::string_view CheckTexel(const Pool& pool, TypeId image, std::span<const ImageArgument> operands,
                            TypeId result) {
  const Type& type = pool[image];
  const ImageTraits traits = UnpackImage(type.extent);
  if (type.kind != TypeKind::kImage || !traits.storage || traits.dim == ImageDim::kSubpass) {
    return "not a storage image";
  }
  const bool counts = operands.size() == (traits.multisampled ? 2U : 1U);
  if (!counts || !IsIntegerVector(pool, operands[0].type, CoordinateCount(traits, true)) ||
      (traits.multisampled && !IsIntegerVector(pool, operands[1].type, 1))) {
    return "type of an operand";
  }
  const bool atomic_format = traits.format == ImageFormat::kR32Uint ||
                             traits.format == ImageFormat::kR32Sint ||
                             traits.format == ImageFormat::kR32Float;
  if (!atomic_format) {
    return "atomics are of images with one item of 32 bits";
  }
  return IsVector(pool, result, type.scalar, 1) ? "" : "type of the result";
}

}  // namespace kiln::ir
