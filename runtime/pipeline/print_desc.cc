// SPDX-License-Identifier: MIT
// A description of a pipeline as text, for tests and for whoever compares two of them. Every field
// that decides the pipeline is printed; handles and addresses are not.
#include "runtime/pipeline/print_desc.h"

#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runtime/pipeline/formats.h"

namespace kiln::runtime {
namespace {

// Blank-separated names of the values 0, 1, 2, …
// The enumerations of Vulkan count from zero without gaps up to where the lists end; a value behind
// them prints as nothing.
std::string_view Nth(std::string_view names, uint32_t value) {
  for (; value > 0 && !names.empty(); --value) {
    // Behind the last name the search gives the largest number, and adding one makes zero: nothing
    // is removed any more.
    names.remove_prefix(std::min(names.size(), names.find(' ') + 1));
  }
  return names.substr(0, names.find(' '));
}

std::string_view Compare(VkCompareOp value) {
  return Nth("NEVER LESS EQUAL LESS_OR_EQUAL GREATER NOT_EQUAL GREATER_OR_EQUAL ALWAYS", value);
}
std::string_view Stencil(VkStencilOp value) {
  return Nth(
      "KEEP ZERO REPLACE INCREMENT_AND_CLAMP DECREMENT_AND_CLAMP INVERT INCREMENT_AND_WRAP "
      "DECREMENT_AND_WRAP",
      value);
}
std::string_view Factor(VkBlendFactor value) {
  return Nth(
      "ZERO ONE SRC_COLOR ONE_MINUS_SRC_COLOR DST_COLOR ONE_MINUS_DST_COLOR SRC_ALPHA "
      "ONE_MINUS_SRC_ALPHA DST_ALPHA ONE_MINUS_DST_ALPHA CONSTANT_COLOR ONE_MINUS_CONSTANT_COLOR "
      "CONSTANT_ALPHA ONE_MINUS_CONSTANT_ALPHA SRC_ALPHA_SATURATE",
      value);
}
std::string_view Operation(VkBlendOp value) {
  return Nth("ADD SUBTRACT REVERSE_SUBTRACT MIN MAX", value);
}
std::string_view Descriptor(VkDescriptorType value) {
  return Nth(
      "SAMPLER COMBINED_IMAGE_SAMPLER SAMPLED_IMAGE STORAGE_IMAGE UNIFORM_TEXEL_BUFFER "
      "STORAGE_TEXEL_BUFFER UNIFORM_BUFFER STORAGE_BUFFER",
      value);
}
std::string_view StageWord(VkShaderStageFlagBits stage) {
  switch (static_cast<int>(stage)) {
    case VK_SHADER_STAGE_VERTEX_BIT:
      return "VERTEX";
    case VK_SHADER_STAGE_FRAGMENT_BIT:
      return "FRAGMENT";
    default:
      return "COMPUTE";
  }
}

// One object prints one description; lines are appended in the order of the calls.
class Printer {
 public:
  std::string Print(const PipelineDesc& desc);

 private:
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void Layout(const PipelineDesc& desc);
  void Graphics(const PipelineDesc& desc);
  void DepthStencil(const DepthStencilDesc& state);
  void Attachments(const PipelineDesc& desc);

  std::string out_;
};

// The output is compared by tests, so everything is printed in the order of the description and
// with fixed formats.
void Printer::Layout(const PipelineDesc& desc) {
  for (size_t i = 0; i < kSetCount; ++i) {
    // A description lists the bindings of a set in ascending order, and so does the text.
    for (const BindingDesc& binding : desc.sets[i]) {
      Line("set {} binding {} {} count={} {}", i, binding.binding, Descriptor(binding.type),
           binding.count, binding.name);
    }
  }
  if (desc.push_size != 0) {
    Line("push {} bytes", desc.push_size);
  }
}

void Printer::DepthStencil(const DepthStencilDesc& state) {
  Line("depth test={} write={} compare={} bounds={} {} to {}", state.depth_test, state.depth_write,
       Compare(state.depth_compare), state.bounds_test, state.bounds_min, state.bounds_max);
  Line("stencil test={}", state.stencil_test);
  // Both faces always, also where they are alike: a reader compares two texts line by line.
  for (const auto& [name, face] : {std::pair{"front", state.front}, {"back", state.back}}) {
    Line("stencil {} fail={} depth_fail={} pass={} compare={} masks={}/{} reference={}", name,
         Stencil(face.failOp), Stencil(face.depthFailOp), Stencil(face.passOp),
         Compare(face.compareOp), face.compareMask, face.writeMask, face.reference);
  }
}

void Printer::Attachments(const PipelineDesc& desc) {
  for (size_t i = 0; i < desc.attachments.size(); ++i) {
    const VkPipelineColorBlendAttachmentState& state = desc.attachments[i];
    std::string mask;
    for (int bit = 0; bit < 4; ++bit) {
      // The mask is printed as letters in their order, with a mark for each that is off.
      mask += (state.colorWriteMask >> bit & 1U) != 0 ? "RGBA"[bit] : '-';
    }
    Line("color {} {} write={} blend={} color={} {} {} alpha={} {} {}", i,
         FormatName(desc.signature.color[i]), mask, state.blendEnable == VK_TRUE,
         Factor(state.srcColorBlendFactor), Operation(state.colorBlendOp),
         Factor(state.dstColorBlendFactor), Factor(state.srcAlphaBlendFactor),
         Operation(state.alphaBlendOp), Factor(state.dstAlphaBlendFactor));
  }
  const auto& constants = desc.blend_constants;
  Line("blend_constants {} {} {} {} logic_op={}", constants[0], constants[1], constants[2],
       constants[3], desc.logic_op);
  Line("depth_stencil {} view_mask={:#x}", FormatName(desc.signature.depth_stencil),
       desc.signature.view_mask);
}

void Printer::Graphics(const PipelineDesc& desc) {
  for (const VkVertexInputBindingDescription& binding : desc.vertex_bindings) {
    Line("vertex_buffer {} stride={} {}", binding.binding, binding.stride,
         Nth("VERTEX INSTANCE", binding.inputRate));
  }
  for (const VertexAttributeDesc& attribute : desc.vertex_attributes) {
    Line("attribute {} buffer={} offset={} {} {}", attribute.location, attribute.binding,
         attribute.offset, FormatName(VertexFormat(attribute.item, attribute.components)),
         attribute.name);
  }
  const RasterDesc& raster = desc.raster;
  Line("raster {} restart={} polygon={} cull={} front={} clamp={} discard={} bias={} line={}",
       Nth("POINT_LIST LINE_LIST LINE_STRIP TRIANGLE_LIST", raster.topology),
       raster.primitive_restart, Nth("FILL LINE POINT", raster.polygon_mode),
       Nth("NONE FRONT BACK FRONT_AND_BACK", raster.cull_mode),
       Nth("COUNTER_CLOCKWISE CLOCKWISE", raster.front_face), raster.depth_clamp, raster.discard,
       raster.depth_bias, raster.line_width);
  const MultisampleDesc& multisample = desc.multisample;
  Line("samples {} shading={} alpha_to_coverage={} alpha_to_one={}",
       static_cast<int>(multisample.samples), multisample.sample_shading,
       multisample.alpha_to_coverage, multisample.alpha_to_one);
  DepthStencil(desc.depth_stencil);
  Attachments(desc);
  std::string dynamic;
  for (const VkDynamicState state : desc.dynamic_states) {
    dynamic += ' ';
    dynamic += Nth("VIEWPORT SCISSOR LINE_WIDTH DEPTH_BIAS BLEND_CONSTANTS DEPTH_BOUNDS",
                   static_cast<uint32_t>(state));
  }
  Line("dynamic{} viewport_y={}", dynamic, NameOf(desc.viewport_y));
}

std::string Printer::Print(const PipelineDesc& desc) {
  Line("pipeline {}", desc.name);
  for (const StageDesc& stage : desc.stages) {
    Line("stage {} {}", StageWord(stage.stage), stage.entry);
  }
  // As bits, since the type of a value is not in the description.
  for (size_t i = 0; i < desc.specialization.size(); ++i) {
    Line("specialization {} = {:#010x}", desc.specialization[i].constantID,
         desc.specialization_values[i]);
  }
  Layout(desc);
  // The rest belongs to one kind of pipeline each.
  if (desc.bind_point == VK_PIPELINE_BIND_POINT_GRAPHICS) {
    Graphics(desc);
  } else {
    Line("workgroup {} {} {}", desc.workgroup_size[0], desc.workgroup_size[1],
         desc.workgroup_size[2]);
  }
  for (const std::string& feature : desc.required_features) {
    Line("feature {}", feature);
  }
  for (const std::string& extension : desc.required_extensions) {
    Line("extension {}", extension);
  }
  return std::move(out_);
}

}  // namespace

std::string PrintDesc(const PipelineDesc& desc) { return Printer().Print(desc); }

// For messages: the formats as Vulkan names them, without the prefix that all of them have.
std::string PrintSignature(const PassSignature& signature) {
  std::string out;
  const auto add = [&](VkFormat format) {
    out += fmt::format("{}{}", out.empty() ? "" : " + ",
                       FormatName(format).substr(std::string_view("VK_FORMAT_").size()));
  };
  for (const VkFormat format : signature.color) {
    add(format);
  }
  if (signature.depth_stencil != VK_FORMAT_UNDEFINED) {
    add(signature.depth_stencil);
  }
  // What is usual is not said.
  if (signature.samples != VK_SAMPLE_COUNT_1_BIT) {
    out += fmt::format(", {} samples", static_cast<int>(signature.samples));
  }
  if (signature.view_mask != 0) {
    out += fmt::format(", views {:#x}", signature.view_mask);
  }
  return out;
}

}  // namespace kiln::runtime
