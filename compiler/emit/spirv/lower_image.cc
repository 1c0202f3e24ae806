// SPDX-License-Identifier: MIT
// Samplers and images: sampling, fetching, loading, storing, asking; and the decorations of images
// that a variable picks. See spec/rpl 6.4, 11.3, 14.2, 14.7.
#include <algorithm>
#include <iterator>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower_segment.h"
#include "compiler/ir/builtins.h"

namespace kiln::spirv {

using spv::Op;

// --- non-uniform images --------------------------------------------------------------------------

void SegmentLowering::MarkNonUniform(Ref id) {
  writer_.needs |= target::BitOf(target::Need::kShaderNonUniform) |
                   target::BitOf(target::Need::kSampledImageArrayNonUniformIndexing);
  if (std::ranges::find(marked_, id) != marked_.end()) {
    return;
  }
  marked_.push_back(id);
  writer_.Op(Part::kAnnotations, Op::OpDecorate).Use(id).Word(spv::Decoration::NonUniform);
}

// The index of an image array: constants stay; a name of an enclosing segment is copied first,
// because only own ids are decorated.
Ref SegmentLowering::Indexing(Ref step) {
  if (!step.own()) {
    const SymbolKind kind = table_.store()[step.symbol()].kind;
    if (kind != SymbolKind::kLocal) {
      return step;
    }
    step = Compute(Op::OpCopyObject, globals_.Type(pool_.Vector(ir::Scalar::kU32, 1)), step);
  }
  MarkNonUniform(step);
  return step;
}

// Loaded handles are not remembered across blocks, but inside one.
SegmentLowering::Handle SegmentLowering::LoadHandle(ir::InstId id) {
  const Place place = PlaceOf(id);
  Handle handle{.value = EntryOf(place).value,
                .type = Type(place.type),
                .non_uniform = place.non_uniform,
                .parameter = place.root.parameter};
  if (handle.value.valid()) {
    return handle;
  }
  const Ref pointer = PointerTo(place);
  handle.value = Compute(Op::OpLoad, handle.type, pointer);
  Decorate(handle, handle.value);
  EntryOf(place).value = handle.value;
  return handle;
}

void SegmentLowering::Decorate(const Handle& image, Ref id) {
  if (image.non_uniform) {
    MarkNonUniform(id);
  } else if (image.parameter.valid()) {
    Instruction(writer_.WhenNonUniform(image.parameter), Op::OpDecorate)
        .Use(id)
        .Word(spv::Decoration::NonUniform);
  }
}

// --- sampling ------------------------------------------------------------------------------------

namespace {

// What follows the sampled image and the coordinate.
enum class Tail : uint8_t { kNothing, kLevel, kGradients, kComponent };
struct SampleForm {
  ir::Builtin builtin;
  Op op;
  bool reference;  // a depth to compare with follows the coordinate
  Tail tail;
};
constexpr SampleForm kSampleForms[] = {
    {ir::Builtin::kSample, Op::OpImageSampleImplicitLod, false, Tail::kNothing},
    {ir::Builtin::kSampleDref, Op::OpImageSampleDrefImplicitLod, true, Tail::kNothing},
    {ir::Builtin::kSampleLod, Op::OpImageSampleExplicitLod, false, Tail::kLevel},
    {ir::Builtin::kSampleDrefLod, Op::OpImageSampleDrefExplicitLod, true, Tail::kLevel},
    {ir::Builtin::kSampleGrad, Op::OpImageSampleExplicitLod, false, Tail::kGradients},
    {ir::Builtin::kGather, Op::OpImageGather, false, Tail::kComponent},
    {ir::Builtin::kGatherDref, Op::OpImageDrefGather, true, Tail::kNothing},
};

const SampleForm& FormOf(ir::Builtin builtin) {
  const auto* found = std::ranges::find(kSampleForms, builtin, &SampleForm::builtin);
  KILN_CHECK(found != std::end(kSampleForms), "{} does not sample", ir::FactsOf(builtin).name);
  return *found;
}

}  // namespace

Ref SegmentLowering::LowerSample(const ir::BuiltinCallInst& inst) {
  const SampleForm& form = FormOf(inst.builtin);
  const std::span<const uint32_t> arguments = segment_.List(inst.arguments);
  const Handle sampler = LoadHandle(ir::InstId{arguments[0]});
  const Handle image = LoadHandle(ir::InstId{arguments[1]});
  const Ref sampled =
      Compute(Op::OpSampledImage, globals_.SampledImage(image.type), image.value, sampler.value);
  Decorate(image, sampled);
  const Ref result = writer_.NewId();
  Instruction made = Code(form.op);
  made.Use(Type(inst.type)).Use(result).Use(sampled);
  size_t next = 2;
  made.Use(ValueOf(ir::InstId{arguments[next++]}));
  if (form.reference) {
    made.Use(ValueOf(ir::InstId{arguments[next++]}));
  }
  if (form.tail == Tail::kLevel) {
    made.Word(spv::ImageOperandsMask::Lod);
  } else if (form.tail == Tail::kGradients) {
    made.Word(spv::ImageOperandsMask::Grad);
  }
  for (; next < arguments.size(); ++next) {
    made.Use(ValueOf(ir::InstId{arguments[next]}));
  }
  return result;
}

// --- images alone --------------------------------------------------------------------------------

Ref SegmentLowering::LowerImage(const ir::BuiltinCallInst& inst) {
  const std::span<const uint32_t> arguments = segment_.List(inst.arguments);
  const Handle image = LoadHandle(ir::InstId{arguments[0]});
  const auto operand = [&](size_t i) { return ValueOf(ir::InstId{arguments[i]}); };
  if (inst.builtin == ir::Builtin::kImageStore) {
    Code(Op::OpImageWrite).Use(image.value).Use(operand(1)).Use(operand(2));
    return {};
  }
  const SymbolId type = Type(inst.type);
  const Ref result = writer_.NewId();
  if (inst.builtin == ir::Builtin::kFetch) {
    Code(Op::OpImageFetch)
        .Use(type)
        .Use(result)
        .Use(image.value)
        .Use(operand(1))
        .Word(spv::ImageOperandsMask::Lod)
        .Use(operand(2));
    return result;
  }
  if (inst.builtin == ir::Builtin::kImageLoad) {
    Code(Op::OpImageRead).Use(type).Use(result).Use(image.value).Use(operand(1));
    return result;
  }
  writer_.needs |= target::BitOf(target::Need::kImageQuery);
  const bool levels = inst.builtin == ir::Builtin::kImageLevels;
  const bool sized_by_level = !levels && arguments.size() > 1;
  Instruction made = Code(levels           ? Op::OpImageQueryLevels
                          : sized_by_level ? Op::OpImageQuerySizeLod
                                           : Op::OpImageQuerySize);
  made.Use(type).Use(result).Use(image.value);
  if (sized_by_level) {
    made.Use(operand(1));
  }
  return result;
}

}  // namespace kiln::spirv
