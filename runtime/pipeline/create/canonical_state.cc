// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/canonical_state.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "compiler/base/hash/canonical.h"
#include "runtime/pipeline/formats.h"

namespace kiln::runtime {
namespace {

bool IsConstant(VkBlendFactor factor) {
  return factor >= VK_BLEND_FACTOR_CONSTANT_COLOR &&
         factor <= VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA;
}

// min and max read no factors.
bool ReadsConstants(VkBlendFactor source, VkBlendFactor destination, VkBlendOp operation) {
  return operation != VK_BLEND_OP_MIN && operation != VK_BLEND_OP_MAX &&
         (IsConstant(source) || IsConstant(destination));
}

// Fields that the device ignores are set to one value, so that pipelines which differ in them alone
// have one key and are created once.
void CanonicalBlend(PipelineDesc& desc) {
  bool constants = false;
  for (size_t i = 0; i < desc.attachments.size(); ++i) {
    VkPipelineColorBlendAttachmentState& state = desc.attachments[i];
    const std::optional<ColorFormat> format = DescribeColorFormat(desc.signature.color[i]);
    // The mask keeps only components that the format has. An attachment without a format, or with
    // one that is not known here, has none.
    state.colorWriteMask &= format ? (1U << format->components) - 1 : 0;
    // Without blending, or with nothing to be written, factors and operations mean nothing.
    if (state.blendEnable == VK_FALSE || state.colorWriteMask == 0) {
      state = {.colorWriteMask = state.colorWriteMask};
      continue;
    }
    // One attachment that reads the constants is enough to keep them.
    constants =
        constants ||
        ReadsConstants(state.srcColorBlendFactor, state.dstColorBlendFactor, state.colorBlendOp) ||
        ReadsConstants(state.srcAlphaBlendFactor, state.dstAlphaBlendFactor, state.alphaBlendOp);
  }
  if (!constants) {
    desc.blend_constants = {};
  }
}

void CanonicalDepthStencil(PipelineDesc& desc) {
  DepthStencilDesc& state = desc.depth_stencil;
  const bool dynamic_bounds =
      std::ranges::find(desc.dynamic_states, VK_DYNAMIC_STATE_DEPTH_BOUNDS) !=
      desc.dynamic_states.end();
  // Vulkan writes no depth without the depth test, whatever the setting says.
  if (!state.depth_test) {
    state.depth_write = false;
    state.depth_compare = VK_COMPARE_OP_NEVER;
  }
  // Bounds that are set while recording are ignored in the pipeline as well.
  if (!state.bounds_test || dynamic_bounds) {
    state.bounds_min = 0.0F;
    state.bounds_max = 1.0F;
  }
  if (!state.stencil_test) {
    state.front = {};
    state.back = {};
  }
}

// Floats go into the key by their bits: -0.0 and 0.0 may draw differently, and a NaN has to be
// equal to itself.
uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }
uint32_t Flag(bool value) { return value ? 1 : 0; }

// Each list ends up with its length in front of it, so a binding of one set cannot be taken for one
// of the next.
CanonicalList SetList(const PipelineDesc& desc) {
  CanonicalList sets;
  for (const SetDesc& set : desc.sets) {
    CanonicalList bindings;
    for (const BindingDesc& binding : set) {
      bindings.U32(binding.binding).U32(static_cast<uint32_t>(binding.type)).U32(binding.count);
    }
    sets.List(bindings);
  }
  return sets;
}

// Stages [begin, end) with their code.
CanonicalList StageList(const PipelineDesc& desc, std::span<const Digest> code, size_t begin,
                        size_t end) {
  CanonicalList stages;
  for (size_t i = begin; i < end; ++i) {
    // The digest of the code stands for the code. Two programs with equal modules share a pipeline,
    // whatever their names are.
    stages.U32(static_cast<uint32_t>(desc.stages[i].stage))
        .Text(desc.stages[i].entry)
        .Content(code[i]);
  }
  return stages;
}

CanonicalList SpecializationList(const PipelineDesc& desc) {
  CanonicalList list;
  for (size_t i = 0; i < desc.specialization.size(); ++i) {
    list.U32(desc.specialization[i].constantID).U32(desc.specialization_values[i]);
  }
  return list;
}

CanonicalList LayoutList(const PipelineDesc& desc) {
  CanonicalList layout = SetList(desc);
  layout.U32(desc.push_size).U32(desc.layout_stages);
  return layout;
}

// The format is the one that the metadata asks for and not the one that a device uses in its stead,
// so keys are the same on all devices and can stand in packs.
CanonicalList VertexInputList(const PipelineDesc& desc) {
  CanonicalList list;
  // Neither bindings nor attributes are sorted: the key takes them as the description has them.
  for (const VkVertexInputBindingDescription& binding : desc.vertex_bindings) {
    list.U32(binding.binding).U32(binding.stride).U32(static_cast<uint32_t>(binding.inputRate));
  }
  for (const VertexAttributeDesc& attribute : desc.vertex_attributes) {
    list.U32(attribute.location)
        .U32(attribute.binding)
        .U32(attribute.offset)
        .U32(static_cast<uint32_t>(VertexFormat(attribute.item, attribute.components)));
  }
  return list;
}

CanonicalList InputAssemblyList(const PipelineDesc& desc) {
  CanonicalList list;
  list.U32(static_cast<uint32_t>(desc.raster.topology)).U32(Flag(desc.raster.primitive_restart));
  return list;
}

CanonicalList RasterList(const PipelineDesc& desc) {
  CanonicalList list;
  const RasterDesc& raster = desc.raster;
  list.U32(static_cast<uint32_t>(raster.polygon_mode))
      .U32(raster.cull_mode)
      .U32(static_cast<uint32_t>(raster.front_face))
      .U32(Flag(raster.depth_clamp))
      .U32(Flag(raster.discard))
      .U32(Flag(raster.depth_bias))
      .U32(Bits(raster.line_width));
  return list;
}

CanonicalList MultisampleList(const PipelineDesc& desc) {
  CanonicalList list;
  const MultisampleDesc& multisample = desc.multisample;
  list.U32(static_cast<uint32_t>(multisample.samples))
      .U32(Flag(multisample.sample_shading))
      .U32(Flag(multisample.alpha_to_coverage))
      .U32(Flag(multisample.alpha_to_one));
  return list;
}

CanonicalList DepthStencilList(const PipelineDesc& desc) {
  CanonicalList list;
  const DepthStencilDesc& depth = desc.depth_stencil;
  list.U32(Flag(depth.depth_test))
      .U32(Flag(depth.depth_write))
      .U32(static_cast<uint32_t>(depth.depth_compare))
      .U32(Flag(depth.bounds_test))
      .U32(Bits(depth.bounds_min))
      .U32(Bits(depth.bounds_max))
      .U32(Flag(depth.stencil_test));
  for (const VkStencilOpState& face : {depth.front, depth.back}) {
    list.U32(static_cast<uint32_t>(face.failOp))
        .U32(static_cast<uint32_t>(face.passOp))
        .U32(static_cast<uint32_t>(face.depthFailOp))
        .U32(static_cast<uint32_t>(face.compareOp))
        .U32(face.compareMask)
        .U32(face.writeMask)
        .U32(face.reference);
  }
  return list;
}

// The states were sorted, because their order says nothing.
CanonicalList DynamicList(const PipelineDesc& desc) {
  CanonicalList list;
  for (const VkDynamicState state : desc.dynamic_states) {
    list.U32(static_cast<uint32_t>(state));
  }
  return list;
}

CanonicalList BlendList(const PipelineDesc& desc) {
  CanonicalList list;
  list.U32(Flag(desc.logic_op));
  for (const float constant : desc.blend_constants) {
    list.U32(Bits(constant));
  }
  return list;
}

CanonicalList StateList(const PipelineDesc& desc) {
  CanonicalList list;
  list.List(InputAssemblyList(desc))
      .List(RasterList(desc))
      .List(MultisampleList(desc))
      .List(DepthStencilList(desc))
      .List(BlendList(desc))
      .List(DynamicList(desc));
  return list;
}

CanonicalList AttachmentList(const PipelineDesc& desc) {
  CanonicalList list;
  for (size_t i = 0; i < desc.attachments.size(); ++i) {
    const VkPipelineColorBlendAttachmentState& state = desc.attachments[i];
    list.U32(static_cast<uint32_t>(desc.signature.color[i]))
        .U32(state.blendEnable)
        .U32(static_cast<uint32_t>(state.srcColorBlendFactor))
        .U32(static_cast<uint32_t>(state.dstColorBlendFactor))
        .U32(static_cast<uint32_t>(state.colorBlendOp))
        .U32(static_cast<uint32_t>(state.srcAlphaBlendFactor))
        .U32(static_cast<uint32_t>(state.dstAlphaBlendFactor))
        .U32(static_cast<uint32_t>(state.alphaBlendOp))
        .U32(state.colorWriteMask);
  }
  // The formats of the pass close the list.
  list.U32(static_cast<uint32_t>(desc.signature.depth_stencil)).U32(desc.signature.view_mask);
  return list;
}

}  // namespace

PipelineDesc CanonicalState(PipelineDesc desc) {
  // Sorted here, so that callers may name states in any order.
  std::ranges::sort(desc.dynamic_states);
  CanonicalBlend(desc);
  CanonicalDepthStencil(desc);
  // No triangle reaches the rasterizer, so which side of it faces the viewer makes no difference.
  if (desc.raster.discard) {
    desc.raster.cull_mode = VK_CULL_MODE_NONE;
    desc.raster.front_face = VK_FRONT_FACE_COUNTER_CLOCKWISE;
  }
  return desc;
}

// The domain string ends with a version: a change of what is digested must change it, or old keys
// of caches and journals would name other pipelines.
Hash128 PipelineKey(const PipelineDesc& desc, std::span<const Digest> code) {
  // Digested is what the device will see, not what was written.
  const PipelineDesc canonical = CanonicalState(desc);
  CanonicalWriter writer("kiln.pso.1");
  writer.U32(1, static_cast<uint32_t>(canonical.bind_point))
      .List(2, StageList(canonical, code, 0, canonical.stages.size()))
      .List(3, SpecializationList(canonical))
      .List(4, LayoutList(canonical));
  if (canonical.bind_point == VK_PIPELINE_BIND_POINT_GRAPHICS) {
    writer.List(5, VertexInputList(canonical))
        .List(6, StateList(canonical))
        .List(7, AttachmentList(canonical));
  }
  return writer.Key();
}

// A part depends on less than the whole pipeline, and that is its point: a change of blending makes
// one new part and shares three. A field that is missing here would link parts of another pipeline,
// and one too many only costs a part.
std::array<Hash128, kLibraryParts> PartKeys(const PipelineDesc& desc,
                                            std::span<const Digest> code) {
  const PipelineDesc canonical = CanonicalState(desc);
  const CanonicalList layout = LayoutList(canonical);
  const CanonicalList dynamic = DynamicList(canonical);
  const CanonicalList specialization = SpecializationList(canonical);
  const uint32_t views = canonical.signature.view_mask;
  CanonicalWriter input("kiln.pso.part.1");
  // The first field tells the parts apart, so that no two of them can have one key.
  input.U32(1, 0).List(2, VertexInputList(canonical)).List(3, InputAssemblyList(canonical));
  CanonicalWriter raster("kiln.pso.part.1");
  raster.U32(1, 1)
      .List(2, StageList(canonical, code, 0, 1))
      .List(3, specialization)
      .List(4, layout)
      .List(5, RasterList(canonical))
      .List(6, dynamic)
      .U32(7, views);
  CanonicalWriter fragment("kiln.pso.part.1");
  fragment.U32(1, 2)
      .List(2, StageList(canonical, code, 1, canonical.stages.size()))
      .List(3, specialization)
      .List(4, layout)
      .List(5, DepthStencilList(canonical))
      .List(6, MultisampleList(canonical))
      .List(7, dynamic)
      .U32(8, views);
  CanonicalWriter output("kiln.pso.part.1");
  output.U32(1, 3)
      .List(2, AttachmentList(canonical))
      .List(3, BlendList(canonical))
      .List(4, MultisampleList(canonical));
  return {input.Key(), raster.Key(), fragment.Key(), output.Key()};
}

}  // namespace kiln::runtime
