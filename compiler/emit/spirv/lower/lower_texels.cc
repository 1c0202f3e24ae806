// SPDX-License-Identifier: MIT
// One table says which instruction an operation is, with an implicit or an explicit level and with
// or without residency. Keyword operands stand in the order of their bits, which is that of
// SPIR-V's image operands.
#include "compiler/emit/spirv/lower/lower_texels.h"

#include <vector>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_access.h"
#include "compiler/emit/spirv/lower/lower_image.h"
#include "compiler/ir/typing/image_typing.h"

namespace kiln::spirv {
namespace {

using ir::ImageOperand;
using spv::Op;

// The columns are the four forms that an operation can have; OpNop where there is no such form.
struct ImageOpcodes {
  Op plain = Op::OpNop;
  Op explicit_level = Op::OpNop;  // with `lod` or `grad`
  Op sparse = Op::OpNop;
  Op sparse_explicit = Op::OpNop;
};
// By ImageOp.
constexpr ImageOpcodes kOpcodes[] = {
    {Op::OpImageSampleImplicitLod, Op::OpImageSampleExplicitLod, Op::OpImageSparseSampleImplicitLod,
     Op::OpImageSparseSampleExplicitLod},
    {Op::OpImageSampleDrefImplicitLod, Op::OpImageSampleDrefExplicitLod,
     Op::OpImageSparseSampleDrefImplicitLod, Op::OpImageSparseSampleDrefExplicitLod},
    {Op::OpImageFetch, Op::OpImageFetch, Op::OpImageSparseFetch, Op::OpImageSparseFetch},
    {Op::OpImageGather, Op::OpNop, Op::OpImageSparseGather, Op::OpNop},
    {Op::OpImageDrefGather, Op::OpNop, Op::OpImageSparseDrefGather, Op::OpNop},
    {Op::OpImageRead, Op::OpNop, Op::OpImageSparseRead, Op::OpNop},
    {Op::OpImageWrite},
    {Op::OpImageQuerySize, Op::OpImageQuerySizeLod},
    {Op::OpImageQueryLevels},
    {Op::OpImageQuerySamples},
    {Op::OpImageQueryLod},
};
static_assert(std::size(kOpcodes) == static_cast<size_t>(ir::ImageOp::kQueryLod) + 1);

// Keywords are bits of one word.
bool Has(uint32_t keywords, ImageOperand one) { return (keywords & ir::BitOf(one)) != 0; }

// `grad` counts as an explicit level, since derivatives are given with it.
Op OpcodeOf(const ir::ImageInst& inst) {
  const ImageOpcodes& row = kOpcodes[static_cast<size_t>(inst.op)];
  const bool level =
      Has(inst.keywords, ImageOperand::kLod) || Has(inst.keywords, ImageOperand::kGrad);
  const bool sparse = Has(inst.keywords, ImageOperand::kSparse);
  const Op op = sparse ? (level ? row.sparse_explicit : row.sparse)
                       : (level ? row.explicit_level : row.plain);
  // Verification refuses combinations that the table has no instruction for.
  KILN_CHECK(op != Op::OpNop, "image operation {} with keywords {}", inst.op, inst.keywords);
  return op;
}

// What an operation needs beyond the image itself, whose needs come with its type.
void AddNeeds(RegionLowering& region, const ir::ImageInst& inst, const ir::ImageTraits& traits) {
  const auto need = [&region](target::Need one) { region.writer().needs |= target::BitOf(one); };
  const bool unknown = traits.storage && traits.format == ir::ImageFormat::kUnknown;
  if (inst.op >= ir::ImageOp::kSize) {
    need(target::Need::kImageQuery);
  }
  if (unknown && inst.op == ir::ImageOp::kRead) {
    need(target::Need::kStorageImageReadWithoutFormat);
  }
  if (unknown && inst.op == ir::ImageOp::kWrite) {
    need(target::Need::kStorageImageWriteWithoutFormat);
  }
  if (Has(inst.keywords, ImageOperand::kSparse)) {
    need(target::Need::kSparseResidency);
  }
  if (Has(inst.keywords, ImageOperand::kMinLod)) {
    need(target::Need::kMinLod);
  }
  // An offset that need not be constant is a capability of its own.
  if (Has(inst.keywords, ImageOperand::kOffset) ||
      Has(inst.keywords, ImageOperand::kConstOffsets)) {
    need(target::Need::kImageGatherExtended);
  }
}

// The image alone, the image with its sampler, or the two put together: what the instruction takes.
Ref ImageValue(RegionLowering& region, const ir::ImageInst& inst,
               std::span<const uint32_t> operands) {
  const Handle image = LoadHandle(region, ir::InstId{operands[0]});
  const ir::Type type = region.TypeOf(ir::InstId{operands[0]});
  const bool sampled = ir::FactsOf(inst.op).operands.starts_with('S');
  if (sampled && type.kind == ir::TypeKind::kSampledImage) {
    return image.value;
  }
  Ref made;
  if (sampled) {
    const Handle sampler = LoadHandle(region, ir::InstId{operands[1]});
    made = region.Compute(Op::OpSampledImage, region.globals().SampledImage(image.type),
                          image.value, sampler.value);
  } else if (type.kind == ir::TypeKind::kSampledImage) {
    made = region.Compute(Op::OpImage, region.globals().ImageOf(type), image.value);
  } else {
    return image.value;
  }
  MarkHandle(region, image, made);
  return made;
}

// Operands in the order in which the instruction has them: those of keywords behind their mask.
// The level of a size stands without one.
void AddOperands(RegionLowering& region, Instruction& made, const ir::ImageInst& inst,
                 std::span<const uint32_t> operands) {
  const ir::ImageOperandCounts counts = ir::OperandCountsOf(inst.op, inst.keywords);
  for (const uint32_t operand : operands.subspan(counts.handles, counts.positional)) {
    made.Use(region.ValueOf(ir::InstId{operand}));
  }
  // `sparse` is the last of the keywords and has no operand: it chooses the opcode.
  constexpr uint32_t kMask = ir::BitOf(ImageOperand::kSparse) - 1;
  const uint32_t mask = inst.keywords & kMask;
  if (mask != 0 && inst.op != ir::ImageOp::kSize) {
    made.Word(mask);
  }
  for (const uint32_t operand : operands.subspan(counts.handles + counts.positional)) {
    made.Use(region.ValueOf(ir::InstId{operand}));
  }
}

}  // namespace

// Operations of typed modules; RPL's have functions of their own (lower_image.cc).
Ref LowerImageOp(RegionLowering& region, const ir::ImageInst& inst) {
  const std::span<const uint32_t> operands = region.source().List(inst.operands);
  AddNeeds(region, inst, ir::UnpackImage(region.TypeOf(ir::InstId{operands[0]}).extent));
  const Ref image = ImageValue(region, inst, operands);
  if (inst.op == ir::ImageOp::kWrite) {
    Instruction made = region.Code(Op::OpImageWrite);
    made.Use(image);
    AddOperands(region, made, inst, operands);
    return {};
  }
  const SymbolId type = region.Type(inst.type);
  const Ref result = region.writer().NewId();
  Instruction made = region.Code(OpcodeOf(inst));
  made.Use(type).Use(result).Use(image);
  AddOperands(region, made, inst, operands);
  return result;
}

// An atomic of an image works on a pointer to a texel. The pointer is of a storage class of its own
// and is used by the one atomic, so it is not remembered.
Ref LowerTexel(RegionLowering& region, const ir::Inst& inst) {
  const auto texel = inst.As<ir::TexelInst>();
  const std::span<const uint32_t> operands = region.source().List(texel.operands);
  const Place image = PlaceOf(region, texel.image);
  const SymbolId type = region.globals().Pointer(spv::StorageClass::Image, region.Type(inst.type));
  // SPIR-V always takes a sample; of images without samples it is zero.
  const Ref sample = operands.size() > 1 ? region.ValueOf(ir::InstId{operands[1]})
                                         : Ref::Of(region.globals().U32(0));
  const Ref from = PointerTo(region, image);
  const Ref pointer = region.writer().NewId();
  region.Code(Op::OpImageTexelPointer)
      .Use(type)
      .Use(pointer)
      .Use(from)
      .Use(region.ValueOf(ir::InstId{operands[0]}))
      .Use(sample);
  return pointer;
}

}  // namespace kiln::spirv
