// SPDX-License-Identifier: MIT
// The dump is stable: one fact per line, records in metadata order, two spaces per level. Lists
// that are empty leave no trace, so goldens change only where the metadata says something new.
#include "compiler/artifact/metadata_text.h"

#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace kiln::artifact {
namespace {

// Writes one record of metadata. Each method writes the lines of one part, and only `Print`
// knows their order.
// Descriptors of an array; nothing is said where there is none.
std::string CountText(uint32_t count) { return count == 0 ? "" : fmt::format(" [{}]", count); }

class Printer {
 public:
  std::string Print(const PipelineMetadata& metadata);

 private:
  template <class... Args>
  void Line(int level, fmt::format_string<Args...> format, Args&&... args) {
    out_.append(static_cast<size_t>(level) * 2, ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  // " key={a, b}", or nothing if there are none.
  static std::string List(std::string_view key, const std::vector<std::string>& items) {
    return items.empty() ? std::string() : fmt::format(" {}={{{}}}", key, fmt::join(items, ", "));
  }
  static std::string List(const std::vector<Stage>& stages) {
    std::vector<std::string> names;
    names.reserve(stages.size());
    for (const Stage stage : stages) {
      names.emplace_back(NameOf(stage));
    }
    return List("stages", names);
  }

  void Head(const PipelineMetadata& metadata);
  void State(const PipelineMetadata& metadata);
  void Stencil(std::string_view face, const StencilFace& stencil);
  void Fixed(const FixedState& fixed);
  void Source(const AttributeSource& source);
  void Parameters(int level, const std::vector<Parameter>& parameters);
  void Resources(std::string_view name, const Set& set);
  void Output(const ColorOutput& output);
  void Influence(const PipelineMetadata& metadata);

  std::string out_;
};

// What tells one artifact from another: what it is for and which bytes it has.
void Printer::Head(const PipelineMetadata& metadata) {
  // What identifies the artifact comes first, what depends on content behind it: two dumps differ
  // first where the pipelines do.
  Line(0, "pipeline {}", NameOf(metadata.pipeline_type));
  if (!metadata.spirv_version.empty()) {
    Line(0, "spirv {}", metadata.spirv_version);
  }
  for (const EntryPoint& entry : metadata.entry_points) {
    Line(0, "entry {} {}", NameOf(entry.stage), entry.name);
  }
  Line(0, "layout_hash {}", metadata.layout_hash.hex());
  for (const Hash128& hash : metadata.module_hashes) {
    Line(0, "module {}", hash.hex());
  }
  for (const std::string& feature : metadata.required_features) {
    Line(0, "feature {}", feature);
  }
  for (const std::string& extension : metadata.required_extensions) {
    Line(0, "extension {}", extension);
  }
  for (const Specialization& option : metadata.specialization) {
    // The values are shown as bits, as they are stored: how to read them follows from the type.
    Line(0, "specialization {} id={} {} default={:#010x} value={:#010x}", option.name, option.id,
         NameOf(option.type), option.default_bits, option.value_bits);
  }
}

void Printer::Stencil(std::string_view face, const StencilFace& stencil) {
  // One line for a face keeps what belongs together in one place of a diff.
  Line(1, "stencil_{} fail={} depth_fail={} pass={} compare={} masks={:#04x}/{:#04x} reference={}",
       face, NameOf(stencil.on_fail), NameOf(stencil.on_depth_fail), NameOf(stencil.on_pass),
       NameOf(stencil.compare), stencil.compare_mask, stencil.write_mask, stencil.reference);
}

// The settings are a fixed number of lines, written even where they have the values by default:
// they are few, and a line that is missing would read as a setting that is unknown.
void Printer::State(const PipelineMetadata& metadata) {
  const Settings& settings = metadata.settings;
  Line(0, "settings");
  Line(1, "polygon_mode {}", NameOf(settings.polygon_mode));
  Line(1, "cull_mode {}", NameOf(settings.cull_mode));
  Line(1, "depth test={} write={} compare={}", settings.depth_test, settings.depth_write,
       NameOf(settings.depth_compare_operation));
  Line(1, "depth_bounds test={} {} to {}", settings.depth_bounds_test, settings.depth_min,
       settings.depth_max);
  Line(1, "stencil test={}", settings.stencil_test);
  Stencil("front", settings.stencil_front);
  Stencil("back", settings.stencil_back);
  const auto& blend = metadata.blend_constants;
  Line(1, "blend_constants {} {} {} {}", blend[0], blend[1], blend[2], blend[3]);
  Fixed(metadata.fixed_state);
}

// No setting changes these (spec/rpl 9.3), and engines read them all the same.
void Printer::Fixed(const FixedState& fixed) {
  std::string dynamic;
  for (const DynamicState state : fixed.dynamic_state) {
    dynamic += fmt::format(" {}", NameOf(state));
  }
  Line(0, "fixed_state");
  Line(1, "topology {} restart={}", NameOf(fixed.topology), fixed.primitive_restart);
  Line(1, "rasterizer clamp={} discard={} bias={} line_width={}", fixed.depth_clamp,
       fixed.rasterizer_discard, fixed.depth_bias, fixed.line_width);
  Line(1, "front_face {}", NameOf(fixed.front_face));
  Line(1, "viewport_y {}", NameOf(fixed.viewport_y));
  Line(1, "samples {} shading={} alpha_to_coverage={} alpha_to_one={} logic_op={}",
       fixed.sample_count, fixed.sample_shading, fixed.alpha_to_coverage, fixed.alpha_to_one,
       fixed.logic_op);
  Line(1, "dynamic{}", dynamic);
}

// A source is one vertex buffer; its attributes are one level below it.
void Printer::Source(const AttributeSource& source) {
  Line(0, "source {} rate={} binding={} block_size={}", source.name, NameOf(source.rate),
       source.binding, source.block_size);
  for (const Attribute& attribute : source.attributes) {
    // Only matrices take more than one location; the usual attribute stays short.
    const std::string columns =
        attribute.location_count == 1
            ? std::string()
            : fmt::format(" locations={} column_stride={}", attribute.location_count,
                          attribute.column_stride);
    Line(1, "attribute {} location={} offset={} {} {}{}{}", attribute.name, attribute.location,
         attribute.offset, NameOf(attribute.kind), NameOf(attribute.item_format), columns,
         List("tags", attribute.tags));
  }
}

// `level` differs since parameters occur in buffers, in the items of their tails, and in push
// constants.
void Printer::Parameters(int level, const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    std::string shape;
    if (!parameter.dimensions.empty()) {
      shape += fmt::format(" [{}] array_stride={}", fmt::join(parameter.dimensions, "]["),
                           parameter.array_stride);
    }
    if (parameter.matrix_stride != 0) {
      shape += fmt::format(" matrix_stride={}", parameter.matrix_stride);
    }
    Line(level, "parameter {} {} offset={}{}{}", parameter.name, NameOf(parameter.type),
         parameter.offset, shape, List("tags", parameter.tags));
  }
}

void Printer::Resources(std::string_view name, const Set& set) {
  if (set.buffers.empty() && set.samplers.empty() && set.images.empty()) {
    return;
  }
  Line(0, "set {}", name);
  for (const Buffer& buffer : set.buffers) {
    Line(1, "buffer {} binding={} {}{} main_size={}{}", buffer.name, buffer.binding,
         NameOf(buffer.type), CountText(buffer.array_size), buffer.main_size, List(buffer.stages));
    Parameters(2, buffer.main_parameters);
    if (buffer.tail_item_size != 0) {
      Line(2, "tail {} {} offset={} item_size={}", buffer.tail_field, buffer.tail_type,
           buffer.tail_offset, buffer.tail_item_size);
      Parameters(3, buffer.tail_item_parameters);
    }
  }
  for (const Sampler& sampler : set.samplers) {
    Line(1, "sampler {} binding={}{}{}{}", sampler.name, sampler.binding,
         CountText(sampler.array_size), sampler.comparison ? " comparison" : "",
         List(sampler.stages));
  }
  for (const Image& image : set.images) {
    const std::string count = CountText(image.is_array ? image.image_array_size : 0);
    const std::string item =
        image.item == OutputItem::kFloat ? "" : fmt::format(" {}", NameOf(image.item));
    // Only storage images have a format and an access.
    const std::string storage =
        image.format.empty() ? "" : fmt::format(" {} {}", image.format, image.access);
    const std::string combined =
        image.sampler.empty()
            ? ""
            : fmt::format(" sampler={}{}", image.sampler, image.comparison ? " comparison" : "");
    Line(1, "image {} binding={} {}{}{}{}{}{}", image.name, image.binding, NameOf(image.type),
         count, item, storage, combined, List(image.stages));
  }
}

// A dash for a component that is not written, so that the letters keep their places.
void Printer::Output(const ColorOutput& output) {
  std::string mask;
  for (size_t i = 0; i < output.write.size(); ++i) {
    mask += output.write[i] ? "rgba"[i] : '-';
  }
  Line(0, "color_output {} location={} {} components={} write={} blend={}{}", output.name,
       output.location, NameOf(output.item), output.components_count, mask, output.use_blend,
       List("tags", output.tags));
  Line(1, "color {} {} {}", NameOf(output.source_color_blend_factor),
       NameOf(output.color_blend_operation), NameOf(output.destination_color_blend_factor));
  Line(1, "alpha {} {} {}", NameOf(output.source_alpha_blend_factor),
       NameOf(output.alpha_blend_operation), NameOf(output.destination_alpha_blend_factor));
}

// What the variant depends on: the state that goes between stages, and the options that had a
// part in it.
void Printer::Influence(const PipelineMetadata& metadata) {
  for (const StateField& field : metadata.state) {
    Line(0, "state {}.{} {} location={}{}{}", field.container, field.name, NameOf(field.type),
         field.location, field.written ? " written" : "", field.read ? " read" : "");
  }
  for (const OptionInfluence& option : metadata.option_influence) {
    Line(0, "option {} {} = {}{}", option.scope, option.name, option.value,
         List("affects", option.affects));
  }
}

// Settings come only where the type of pipeline has them, as in the metadata themselves.
std::string Printer::Print(const PipelineMetadata& metadata) {
  Head(metadata);
  if (metadata.pipeline_type == PipelineType::kGraphicsClassic) {
    State(metadata);
  } else {
    const auto& size = metadata.workgroup_size;
    Line(0, "workgroup_size {} {} {}", size[0], size[1], size[2]);
  }
  // From the input of the pipeline to its output.
  for (const AttributeSource& source : metadata.attribute_sources) {
    Source(source);
  }
  for (size_t i = 0; i < kSetCount; ++i) {
    Resources(kSetNames[i], metadata.sets[i]);
  }
  if (metadata.push_constant) {
    Line(0, "push_constant {} size={}{}", metadata.push_constant->name, metadata.push_constant_size,
         List(metadata.push_constant->stages));
    Parameters(1, metadata.push_constant->members);
  }
  for (const ColorOutput& output : metadata.color_outputs) {
    Output(output);
  }
  Influence(metadata);
  return std::move(out_);
}

}  // namespace

std::string MetadataText(const PipelineMetadata& metadata) { return Printer().Print(metadata); }

}  // namespace kiln::artifact
