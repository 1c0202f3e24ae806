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

// The letters say it, so that a new operation of the table needs no row in a list here.
bool TakesSampler(ImageOp op) { return FactsOf(op).operands.starts_with('S'); }
bool Compares(ImageOp op) { return op == ImageOp::kSampleDref || op == ImageOp::kGatherDref; }
bool Gathers(ImageOp op) { return op == ImageOp::kGather || op == ImageOp::kGatherDref; }
bool IsTexelOp(ImageOp op) {
  return op == ImageOp::kFetch || op == ImageOp::kRead || op == ImageOp::kWrite;
}

// May this be done with such an image?
std::string_view CheckImage(ImageOp op, const ImageTraits& traits) {
  // "Flat" images are those with four texels around a point of a face, which is what a gather
  // gives; a volume has eight.
  const bool flat = traits.dim == ImageDim::k2d || traits.dim == ImageDim::kCube;
  if (traits.dim == ImageDim::kSubpass) {
    return "subpass inputs have no lowering";
  }
  // A level is chosen and filtered only for what has levels and filterable texels, so storage
  // images, multisampled ones and texel buffers are read by coordinates of texels alone.
  if (TakesSampler(op)) {
    if (traits.storage || traits.multisampled || traits.dim == ImageDim::kBuffer) {
      return "not an image that takes a sampler";
    }
    if (Gathers(op) && !flat) {
      return "only 2d images and cubes are gathered";
    }
    // A source that does not know yet whether an image holds depths (`unknown_depth`) may compare;
    // Vulkan has no comparison in volumes.
    const bool may_compare = (traits.depth || traits.unknown_depth) && traits.dim != ImageDim::k3d;
    return Compares(op) && !may_compare ? "not an image of depths" : "";
  }
  // SPIR-V has no fetch from a cube: there are no integer coordinates on its faces.
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
  // Offsets of three kinds and levels of three kinds: an instruction of SPIR-V has place for one of
  // each. A lower bound for the level makes sense only where a level is computed.
  if (!AtMostOne(keywords, kOffsets) || !AtMostOne(keywords, kLevels) ||
      (Has(keywords, kMinLod) && Has(keywords, kLod))) {
    return "keywords that exclude each other";
  }
  // A step to the side is not defined across the edge of a cube's face, and texel buffers have no
  // sides.
  const bool offset = (keywords & kOffsets) != 0;
  if (offset && (traits.dim == ImageDim::kCube || traits.dim == ImageDim::kBuffer)) {
    return "no offsets in such an image";
  }
  // For the rest both directions are checked: what must be there and what must not, because an
  // operand too many is as invalid in SPIR-V as one too few.
  if (IsTexelOp(op) && Has(keywords, kSample) != traits.multisampled) {
    return "multisampled images, and only they, have a sample";
  }
  const bool levelled = !traits.storage && !traits.multisampled && traits.dim != ImageDim::kBuffer;
  if (op == ImageOp::kSize && Has(keywords, kLod) != levelled) {
    return "images with levels, and only they, have a level";
  }
  // A fetch may leave its level out, which means level 0; the size needs it.
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

// Letters stand in image_ops.def. `S` is no case of this switch: the sampler is a handle of the
// instruction and not one of its typed arguments.
bool FitsLetter(const Pool& pool, char letter, const ImageUse& use, const ImageArgument& argument) {
  const Type& image = pool[use.image];
  const ImageTraits traits = UnpackImage(image.extent);
  switch (letter) {
    case 'c':
      // The level does not depend on the layer, so a query takes the coordinate without it.
      return IsFloatVector(pool, argument.type,
                           use.op == ImageOp::kQueryLod
                               ? CoordinateCount(traits, false) - (traits.arrayed ? 1 : 0)
                               : CoordinateCount(traits, false));
    case 't':
      return IsIntegerVector(pool, argument.type, CoordinateCount(traits, true));
    case 'd':
      return IsFloatVector(pool, argument.type, 1);
    // WGSL wants a constant here, and so do the rules of Vulkan for SPIR-V; a value that is known
    // only later does not do.
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

// ConstOffset and ConstOffsets of SPIR-V must be constants, Offset need not be; `is_constant` keeps
// the kinds apart before a writer has to.
bool FitsKeyword(const Pool& pool, ImageOperand keyword, const ImageUse& use,
                 const ImageArgument& argument) {
  const uint32_t dimensions = DimensionCount(UnpackImage(pool[use.image].extent).dim);
  switch (keyword) {
    case kBias:
    case kMinLod:
      return IsFloatVector(pool, argument.type, 1);
    // With a sampler levels are fractions between two images; without one they number an image.
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
      // A cube is as wide as it is high, and its size is said of one face.
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

// A sparse access gives a residency code first and the texel behind it, as OpImageSparse* does. Any
// struct of these two members is taken, as for every result of two parts.
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
  // A combined image has its sampler within the handle; its mark is a bit of the keywords and not a
  // keyword with operands.
  counts.handles = sampler && (keywords & kCombinedSampler) == 0 ? 2 : 1;
  counts.positional = letters.size() - (sampler ? 1 : 0);
  // Bits ascend, and so do the operands in the list: readers and writers go through it likewise.
  for (uint32_t bit = 0; bit <= static_cast<uint32_t>(kSparse); ++bit) {
    if ((keywords >> bit & 1u) != 0) {
      counts.keyword += OperandCountOf(static_cast<ImageOperand>(bit));
    }
  }
  return counts;
}

uint32_t DimensionCount(ImageDim dim) {
  // A direction into a cube has three components though its faces have two.
  if (dim == ImageDim::k3d || dim == ImageDim::kCube) {
    return 3;
  }
  return dim == ImageDim::k1d || dim == ImageDim::kBuffer ? 1 : 2;
}

uint32_t CoordinateCount(const ImageTraits& traits, bool texel) {
  // Of texels, a face is counted as the third coordinate, and the layers of a cube array go on
  // counting there: six faces for each.
  const bool layer = traits.arrayed && !(texel && traits.dim == ImageDim::kCube);
  return DimensionCount(traits.dim) + (layer ? 1 : 0);
}

std::string_view CheckImageUse(const Pool& pool, const ImageUse& use) {
  const Type& image = pool[use.image];
  if (!IsImage(image.kind)) {
    return "an image comes first";
  }
  const ImageTraits traits = UnpackImage(image.extent);
  // The mark and the type must agree in both directions, else the list of operands would be read
  // with an offset of one.
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
  // From here on the arguments are consumed in the order in which OperandCountsOf counted them:
  // letters first, then keywords by ascending bit.
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

// A texel place is what atomics of images work on. It carries the rules of OpImageTexelPointer,
// which knows no keyword operands: a multisampled image gives its sample as the second operand.
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
  // What Vulkan defines image atomics for. IR has formats of one item of 64 bits as well, but no
  // atomics of them.
  const bool atomic_format = traits.format == ImageFormat::kR32Uint ||
                             traits.format == ImageFormat::kR32Sint ||
                             traits.format == ImageFormat::kR32Float;
  if (!atomic_format) {
    return "atomics are of images with one item of 32 bits";
  }
  return IsVector(pool, result, type.scalar, 1) ? "" : "type of the result";
}

}  // namespace kiln::ir
