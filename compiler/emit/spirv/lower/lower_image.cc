// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower/lower_image.h"

#include <algorithm>
#include <iterator>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_access.h"
#include "compiler/ir/builtins.h"

namespace kiln::spirv {
namespace {

using spv::Op;

// What follows the sampled image and the coordinate.
enum class Tail : uint8_t { kNothing, kLevel, kGradients, kComponent };
struct SampleForm {
  ir::Builtin builtin;
  Op op;
  bool reference;  // a depth to compare with follows the coordinate
  Tail tail;
};
// By RPL's names for sampling. The tables say which operands follow, so that LowerSample has one
// path for all of them.
constexpr SampleForm kSampleForms[] = {
    {ir::Builtin::kSample, Op::OpImageSampleImplicitLod, false, Tail::kNothing},
    {ir::Builtin::kSampleDref, Op::OpImageSampleDrefImplicitLod, true, Tail::kNothing},
    {ir::Builtin::kSampleLod, Op::OpImageSampleExplicitLod, false, Tail::kLevel},
    {ir::Builtin::kSampleDrefLod, Op::OpImageSampleDrefExplicitLod, true, Tail::kLevel},
    {ir::Builtin::kSampleGrad, Op::OpImageSampleExplicitLod, false, Tail::kGradients},
    {ir::Builtin::kGather, Op::OpImageGather, false, Tail::kComponent},
    {ir::Builtin::kGatherDref, Op::OpImageDrefGather, true, Tail::kNothing},
};

// Seven rows; the search is no cost.
const SampleForm& FormOf(ir::Builtin builtin) {
  const auto* found = std::ranges::find(kSampleForms, builtin, &SampleForm::builtin);
  KILN_CHECK(found != std::end(kSampleForms), "{} does not sample", ir::FactsOf(builtin).name);
  return *found;
}

}  // namespace

// An image that is picked here is non-uniform for certain. One that is a parameter may be, which
// only the callers say: its decorations are written apart, and assembling takes them or not.
void MarkHandle(RegionLowering& region, const Handle& image, Ref id) {
  if (image.indexing != 0) {
    MarkNonUniform(region, id, image.indexing);
  } else if (image.parameter.valid()) {
    Instruction(region.writer().WhenNonUniform(image.parameter), Op::OpDecorate)
        .Use(id)
        .Word(spv::Decoration::NonUniform);
  }
}

// Loaded handles are not remembered across blocks, but inside one.
Handle LoadHandle(RegionLowering& region, ir::InstId id) {
  const Place place = PlaceOf(region, id);
  Handle handle{.value = EntryOf(region, place).value,
                .type = region.Type(place.type),
                .indexing = place.indexing,
                .parameter = place.root.parameter};
  if (handle.value.valid()) {
    return handle;
  }
  const Ref pointer = PointerTo(region, place);
  handle.value = region.Compute(Op::OpLoad, handle.type, pointer);
  MarkHandle(region, handle, handle.value);
  // Asked for anew: making the pointer may have moved the entries.
  EntryOf(region, place).value = handle.value;
  return handle;
}

// An id is decorated once. The list is short, as it is that of one region.
void MarkNonUniform(RegionLowering& region, Ref id, target::Needs indexing) {
  region.writer().needs |= target::BitOf(target::Need::kShaderNonUniform) | indexing;
  if (std::ranges::find(region.scratch().marked, id) != region.scratch().marked.end()) {
    return;
  }
  region.scratch().marked.push_back(id);
  region.writer().Op(Part::kAnnotations, Op::OpDecorate).Use(id).Word(spv::Decoration::NonUniform);
}

// The index is decorated as well as what it picks (spec/rpl 11.3), so it has to be an id of
// this region: a parameter is copied first.
Ref Indexing(RegionLowering& region, Ref step, target::Needs indexing) {
  if (!step.own()) {
    // A constant index picks one resource for all invocations and stays as it is.
    const SymbolKind kind = region.table().store()[step.symbol()].kind;
    if (kind != SymbolKind::kLocal) {
      return step;
    }
    step = region.Compute(Op::OpCopyObject,
                          region.globals().Type(region.pool().Vector(ir::Scalar::kU32, 1)), step);
  }
  MarkNonUniform(region, step, indexing);
  return step;
}

// Operands of the IR: the sampler, the image, the coordinate, then what the form says.
Ref LowerSample(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  const SampleForm& form = FormOf(inst.builtin);
  const std::span<const uint32_t> arguments = region.source().List(inst.arguments);
  const Handle sampler = LoadHandle(region, ir::InstId{arguments[0]});
  const Handle image = LoadHandle(region, ir::InstId{arguments[1]});
  // The two are put together in the block that samples: SPIR-V forbids the result of OpSampledImage
  // in any other block, so it is never remembered.
  const Ref sampled = region.Compute(Op::OpSampledImage, region.globals().SampledImage(image.type),
                                     image.value, sampler.value);
  MarkHandle(region, image, sampled);
  const Ref result = region.writer().NewId();
  Instruction made = region.Code(form.op);
  made.Use(region.Type(inst.type)).Use(result).Use(sampled);
  size_t next = 2;
  made.Use(region.ValueOf(ir::InstId{arguments[next++]}));
  if (form.reference) {
    made.Use(region.ValueOf(ir::InstId{arguments[next++]}));
  }
  if (form.tail == Tail::kLevel) {
    made.Word(spv::ImageOperandsMask::Lod);
  } else if (form.tail == Tail::kGradients) {
    made.Word(spv::ImageOperandsMask::Grad);
  }
  // What is left stands in the order of the instruction's operands: a level, two gradients or a
  // component.
  for (; next < arguments.size(); ++next) {
    made.Use(region.ValueOf(ir::InstId{arguments[next]}));
  }
  return result;
}

// Operations on an image without a sampler.
Ref LowerImage(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  const std::span<const uint32_t> arguments = region.source().List(inst.arguments);
  const Handle image = LoadHandle(region, ir::InstId{arguments[0]});
  const auto operand = [&](size_t i) { return region.ValueOf(ir::InstId{arguments[i]}); };
  if (inst.builtin == ir::Builtin::kImageStore) {
    region.Code(Op::OpImageWrite).Use(image.value).Use(operand(1)).Use(operand(2));
    return {};
  }
  const SymbolId type = region.Type(inst.type);
  const Ref result = region.writer().NewId();
  if (inst.builtin == ir::Builtin::kFetch) {
    region.Code(Op::OpImageFetch)
        .Use(type)
        .Use(result)
        .Use(image.value)
        .Use(operand(1))
        .Word(spv::ImageOperandsMask::Lod)
        .Use(operand(2));
    return result;
  }
  if (inst.builtin == ir::Builtin::kImageLoad) {
    region.Code(Op::OpImageRead).Use(type).Use(result).Use(image.value).Use(operand(1));
    return result;
  }
  region.writer().needs |= target::BitOf(target::Need::kImageQuery);
  const bool levels = inst.builtin == ir::Builtin::kImageLevels;
  // A storage image has no levels, so its size is asked for without one.
  const bool sized_by_level = !levels && arguments.size() > 1;
  Instruction made = region.Code(levels           ? Op::OpImageQueryLevels
                                 : sized_by_level ? Op::OpImageQuerySizeLod
                                                  : Op::OpImageQuerySize);
  made.Use(type).Use(result).Use(image.value);
  if (sized_by_level) {
    made.Use(operand(1));
  }
  return result;
}

}  // namespace kiln::spirv
