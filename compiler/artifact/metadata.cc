// SPDX-License-Identifier: MIT
#include "compiler/artifact/metadata.h"

#include <utility>

#include <fmt/format.h>

#include "compiler/artifact/metadata_wire.h"

namespace kiln::artifact {
namespace {

// A larger number can only be damage, and an engine would allocate that many descriptors.
// An array of resources is one descriptor for each of its elements.
constexpr uint32_t kMaxResourceArray = 65'536;
// Devices have eight attachments. An engine makes a table that is as long as the largest location.
constexpr uint32_t kMaxColorLocations = 32;

Error Invalid(std::string context) {
  return {ErrorCode::kInvalidArgument, std::move(context), "METADATA_INVALID"};
}

// Converts one message. The first thing that is wrong is kept, what follows is then meaningless.
// One method for each record of the schema (proto/kiln). A method returns something even after
// an error, so no caller has to ask for one.
class Decoder {
 public:
  // The decoder copies texts and turns words into enumerators, so the result stands alone.
  Result<PipelineMetadata> Decode(const wire::Pipeline& from);

 private:
  // Where a field is, for messages: "attribute 'uv'". Text is made only for an error.
  struct Place {
    std::string_view record;
    std::string_view name;
  };

  // Later errors are mostly caused by the first.
  void Fail(Error error) {
    if (!error_) {
      error_ = std::move(error);
    }
  }
  static std::string Text(Place place) {
    return place.name.empty() ? std::string(place.record)
                              : fmt::format("{} '{}'", place.record, place.name);
  }

  // A text that must be one of an enumeration. Missing and unknown are told apart, since they have
  // different causes: a field that the writer left out, and a value that this reader does not know.
  template <class E>
  E Value(std::string_view text, std::string_view field, Place place) {
    // Words and not numbers are on the wire, so that a value that was added later is told by its
    // name.
    if (const std::optional<E> value = FromName<E>(text)) {
      return *value;
    }
    if (text.empty()) {
      Fail({ErrorCode::kInvalidArgument, fmt::format("{} has no {}", Text(place), field),
            "METADATA_INCOMPLETE"});
    } else {
      Fail(Invalid(fmt::format("{} of {} is '{}', which is not known", field, Text(place), text)));
    }
    return {};
  }

  // Lists of hostile bytes may be long. The reader has kept no more than the limit of items but
  // counted all, so the refusal names the real number.
  template <class List, class Convert>
  auto Each(const List& list, std::string_view field, Convert convert) {
    // The type of an item is what the conversion returns, so no list is named twice.
    std::vector<decltype(convert(list.items[0]))> out;
    if (list.count > wire::kMaxItems) {
      Fail({ErrorCode::kResourceExhausted,
            fmt::format("metadata has {} {}, at most {} are read", list.count, field,
                        wire::kMaxItems),
            "LIMIT"});
      return out;
    }
    out.reserve(list.items.size());
    // Nothing is converted once something is wrong: a list of a million damaged items costs one
    // message.
    for (const auto& item : list.items) {
      if (error_) {
        break;
      }
      out.push_back(convert(item));
    }
    return out;
  }
  // Texts are not judged: names and tags are the author's.
  template <class List>
  std::vector<std::string> Texts(const List& list, std::string_view field) {
    return Each(list, field, [](std::string_view text) { return std::string(text); });
  }
  // Which stages use something.
  template <class List>
  std::vector<Stage> Stages(const List& list, Place place) {
    return Each(list, "stages",
                [&](std::string_view text) { return Value<Stage>(text, "stages", place); });
  }
  // Zero is no array; engines make so many descriptors unseen.
  uint32_t ArraySize(uint32_t size, Place place) {
    if (size > kMaxResourceArray) {
      Fail(Invalid(fmt::format("array_size of {} is {}, it must be at most {}", Text(place), size,
                               kMaxResourceArray)));
    }
    return size;
  }
  // Only an image that is sampled can be one descriptor with a sampler.
  std::string CombinedSampler(const wire::Image& from, Place place) {
    const std::optional<ImageType> type = FromName<ImageType>(from.type);
    if (!from.sampler.empty() && type.has_value() &&
        (FactsOf(*type).role == ImageRole::kStorage || FactsOf(*type).dim == ImageDim::kBuffer)) {
      Fail(Invalid(
          fmt::format("{} is a {} and has sampler '{}'", Text(place), from.type, from.sampler)));
    }
    return std::string(from.sampler);
  }
  // An absent hash is all zero; one of another length is damage.
  Hash128 Hash(const wire::RawBytes& from, std::string_view field) {
    const ByteView bytes = from.bytes;
    Hash128 hash;
    if (bytes.size() == hash.bytes.size()) {
      std::memcpy(hash.bytes.data(), bytes.data(), bytes.size());
    } else if (!bytes.empty()) {
      Fail(Invalid(fmt::format("{} has {} bytes instead of 16", field, bytes.size())));
    }
    return hash;
  }

  void DecodeHead(const wire::Pipeline& from, PipelineMetadata& out);
  void DecodeGraphics(const wire::Pipeline& from, PipelineMetadata& out);
  void DecodeResources(const wire::Pipeline& from, PipelineMetadata& out);
  Settings DecodeSettings(const wire::Settings& from);
  FixedState DecodeFixedState(const wire::FixedState& from);
  Attribute DecodeAttribute(const wire::Attribute& from);
  AttributeSource DecodeSource(const wire::AttributeSource& from);
  Parameter DecodeParameter(const wire::Parameter& from);
  template <class List>
  std::vector<Parameter> DecodeParameters(const List& list) {
    return Each(list, "parameters",
                [&](const wire::Parameter& parameter) { return DecodeParameter(parameter); });
  }
  Buffer DecodeBuffer(const wire::Buffer& from);
  Sampler DecodeSampler(const wire::Sampler& from);
  Image DecodeImage(const wire::Image& from);
  Set DecodeSet(const wire::Set& from);
  ColorOutput DecodeOutput(const wire::ColorOutput& from);

  std::optional<Error> error_;
};

// Every word of the settings has to be there: a writer that leaves one out is older or damaged.
Settings Decoder::DecodeSettings(const wire::Settings& from) {
  constexpr Place kPlace = {"settings", ""};
  // The field is named twice, as the member and as text, because messages must say it as the schema
  // does.
  const auto stencil = [&](std::string_view text, std::string_view field) {
    return Value<StencilOperation>(text, field, kPlace);
  };
  const auto compare = [&](const std::string& text, std::string_view field) {
    return Value<CompareOperation>(text, field, kPlace);
  };
  Settings out;
  out.polygon_mode = Value<PolygonMode>(from.polygon_mode, "polygon_mode", kPlace);
  out.cull_mode = Value<CullMode>(from.cull_mode, "cull_mode", kPlace);
  out.depth_test = from.depth_test;
  out.depth_write = from.depth_write;
  out.depth_compare_operation = compare(from.depth_compare_operation, "depth_compare_operation");
  out.depth_bounds_test = from.depth_bounds_test;
  out.depth_min = from.depth_min;
  out.depth_max = from.depth_max;
  out.stencil_test = from.stencil_test;
  out.stencil_front = {
      .on_fail = stencil(from.stencil_front_on_fail, "stencil_front_on_fail"),
      .on_depth_fail = stencil(from.stencil_front_on_depth_fail, "stencil_front_on_depth_fail"),
      .on_pass = stencil(from.stencil_front_on_pass, "stencil_front_on_pass"),
      .compare = compare(from.stencil_front_compare, "stencil_front_compare"),
      .compare_mask = from.stencil_front_compare_mask,
      .write_mask = from.stencil_front_write_mask,
      .reference = from.stencil_front_reference};
  out.stencil_back = {
      .on_fail = stencil(from.stencil_back_on_fail, "stencil_back_on_fail"),
      .on_depth_fail = stencil(from.stencil_back_on_depth_fail, "stencil_back_on_depth_fail"),
      .on_pass = stencil(from.stencil_back_on_pass, "stencil_back_on_pass"),
      .compare = compare(from.stencil_back_compare, "stencil_back_compare"),
      .compare_mask = from.stencil_back_compare_mask,
      .write_mask = from.stencil_back_write_mask,
      .reference = from.stencil_back_reference};
  return out;
}

FixedState Decoder::DecodeFixedState(const wire::FixedState& from) {
  constexpr Place kPlace = {"fixed_state", ""};
  return {
      .topology = Value<Topology>(from.topology, "topology", kPlace),
      .primitive_restart = from.primitive_restart,
      .depth_clamp = from.depth_clamp,
      .rasterizer_discard = from.rasterizer_discard,
      .depth_bias = from.depth_bias,
      .line_width = from.line_width,
      .dynamic_state = Each(from.dynamic_state, "dynamic states",
                            [&](std::string_view text) {
                              return Value<DynamicState>(text, "dynamic_state", kPlace);
                            }),
      .front_face = Value<FrontFace>(from.front_face, "front_face", kPlace),
      .viewport_y = Value<ViewportY>(from.viewport_y, "viewport_y", kPlace),
      .sample_count = from.sample_count,
      .sample_shading = from.sample_shading,
      .alpha_to_coverage = from.alpha_to_coverage,
      .alpha_to_one = from.alpha_to_one,
      .logic_op = from.logic_op,
  };
}

// The format of an item is what the vertex buffer holds, the class is what the shader sees.
Attribute Decoder::DecodeAttribute(const wire::Attribute& from) {
  const Place place = {"attribute", from.name};
  Attribute out{
      .name = from.name,
      .location = from.location,
      .offset = from.offset,
      .kind = Value<AttributeClass>(from.class_, "class", place),
      .item_format = Value<ItemFormat>(from.item_format, "item_format", place),
      .tags = Texts(from.tags, "tags"),
      .location_count = from.location_count,
      .column_stride = from.column_stride,
  };
  // What the class of an attribute says must agree with what it takes, because engines compute with
  // both.
  const uint32_t columns = ShapeOf(out.kind).columns;
  // A class that is not known has no number of columns to compare with.
  if (!error_ && out.location_count != columns) {
    Fail(Invalid(fmt::format("{} takes {} locations, its class takes {}", Text(place),
                             out.location_count, columns)));
  }
  return out;
}

AttributeSource Decoder::DecodeSource(const wire::AttributeSource& from) {
  const Place place = {"attribute source", from.name};
  return {.name = from.name,
          .rate = Value<InputRate>(from.rate, "rate", place),
          .binding = from.binding,
          .block_size = from.block_size,
          .attributes = Each(from.attributes, "attributes", [&](const wire::Attribute& attribute) {
            return DecodeAttribute(attribute);
          })};
}

// Offsets and strides are taken as they are. They come from a layout that was checked before it
// was written, and an engine that gets them from elsewhere has to check them against the size
// of its buffers.
Parameter Decoder::DecodeParameter(const wire::Parameter& from) {
  return {.name = from.name,
          .type = Value<ParameterType>(from.type, "type", {"parameter", from.name}),
          .offset = from.offset,
          .total_item_count = from.total_item_count,
          .tags = Texts(from.tags, "tags"),
          .dimensions = from.dimensions,
          .array_stride = from.array_stride,
          .matrix_stride = from.matrix_stride};
}

// The tail is a runtime array: its size for one item is zero where there is none.
Buffer Decoder::DecodeBuffer(const wire::Buffer& from) {
  const Place place = {"buffer", from.name};
  return {.name = from.name,
          .binding = from.binding,
          .type = Value<BufferType>(from.type, "type", place),
          .main_size = from.main_size,
          .tail_item_size = from.tail_item_size,
          .main_parameters = DecodeParameters(from.main_parameters),
          .tail_name = from.tail_name,
          .tail_item_parameters = DecodeParameters(from.tail_item_parameters),
          .tail_offset = from.tail_offset,
          .tail_field = from.tail_field,
          .tail_type = from.tail_type,
          .stages = Stages(from.stages, place),
          .array_size = ArraySize(from.array_size, place)};
}

Sampler Decoder::DecodeSampler(const wire::Sampler& from) {
  const Place place = {"sampler", from.name};
  return {.name = from.name,
          .binding = from.binding,
          .stages = Stages(from.stages, place),
          .comparison = from.comparison,
          .array_size = ArraySize(from.array_size, place)};
}

// Format and access are texts, and empty for images that are only sampled. An item that is not
// written is a float, as that of all images was once.
Image Decoder::DecodeImage(const wire::Image& from) {
  const Place place = {"image", from.name};
  // Checked although the type of the field would hold it: engines make descriptors of it unseen.
  if (from.image_array_size == 0 || from.image_array_size > kMaxResourceArray) {
    Fail(Invalid(fmt::format("image_array_size of {} is {}, it must be 1 to {}", Text(place),
                             from.image_array_size, kMaxResourceArray)));
  }
  return {
      .name = from.name,
      .binding = from.binding,
      .type = Value<ImageType>(from.type, "type", place),
      .image_array_size = from.image_array_size,
      .is_array = from.is_array,
      .stages = Stages(from.stages, place),
      .format = from.format,
      .access = from.access,
      .item = from.item.empty() ? OutputItem::kFloat : Value<OutputItem>(from.item, "item", place),
      .sampler = CombinedSampler(from, place),
      .comparison = from.comparison};
}

Set Decoder::DecodeSet(const wire::Set& from) {
  return {.buffers = Each(from.buffers, "buffers",
                          [&](const wire::Buffer& buffer) { return DecodeBuffer(buffer); }),
          .samplers = Each(from.samplers, "samplers",
                           [&](const wire::Sampler& sampler) { return DecodeSampler(sampler); }),
          .images = Each(from.images, "images",
                         [&](const wire::Image& image) { return DecodeImage(image); })};
}

ColorOutput Decoder::DecodeOutput(const wire::ColorOutput& from) {
  const Place place = {"color output", from.name};
  const auto factor = [&](const std::string& text, std::string_view field) {
    return Value<BlendFactor>(text, field, place);
  };
  // None, and no writes: a location that the fragment stage leaves out.
  // A mask without components is harmless; writing components that do not exist is damage.
  const bool writes = from.write_r || from.write_g || from.write_b || from.write_a;
  if (from.components_count > 4 || (from.components_count == 0 && writes)) {
    Fail(Invalid(fmt::format("components_count of {} is {}, it must be 1 to 4", Text(place),
                             from.components_count)));
  }
  if (from.location >= kMaxColorLocations) {
    Fail(Invalid(fmt::format("location of {} is {}, it must be below {}", Text(place),
                             from.location, kMaxColorLocations)));
  }
  return {
      .name = from.name,
      .location = from.location,
      .item = Value<OutputItem>(from.item, "item", place),
      .components_count = from.components_count,
      .tags = Texts(from.tags, "tags"),
      .use_blend = from.use_blend,
      .write = {from.write_r, from.write_g, from.write_b, from.write_a},
      .source_color_blend_factor =
          factor(from.source_color_blend_factor, "source_color_blend_factor"),
      .destination_color_blend_factor =
          factor(from.destination_color_blend_factor, "destination_color_blend_factor"),
      .color_blend_operation =
          Value<BlendOperation>(from.color_blend_operation, "color_blend_operation", place),
      .source_alpha_blend_factor =
          factor(from.source_alpha_blend_factor, "source_alpha_blend_factor"),
      .destination_alpha_blend_factor =
          factor(from.destination_alpha_blend_factor, "destination_alpha_blend_factor"),
      .alpha_blend_operation =
          Value<BlendOperation>(from.alpha_blend_operation, "alpha_blend_operation", place),
  };
}

// What both types of pipeline have.
void Decoder::DecodeHead(const wire::Pipeline& from, PipelineMetadata& out) {
  out.pipeline_type = Value<PipelineType>(from.pipeline_type, "pipeline_type", {"metadata", ""});
  out.entry_points =
      Each(from.entry_points, "entry points", [&](const wire::EntryPoint& entry) -> EntryPoint {
        return {Value<Stage>(entry.stage, "stage", {"entry point", entry.name}), entry.name};
      });
  out.option_influence =
      Each(from.option_influence, "options",
           [&](const wire::OptionInfluence& option) -> OptionInfluence {
             return {option.name, option.class_, option.value, Texts(option.affects, "effects")};
           });
  out.required_features = Texts(from.required_features, "features");
  out.required_extensions = Texts(from.required_extensions, "extensions");
  out.layout_hash = Hash(from.layout_hash, "layout_hash");
  out.module_hashes = Each(from.module_hashes, "modules", [&](const wire::RawBytes& bytes) {
    return Hash(bytes, "module_hashes");
  });
  out.specialization =
      Each(from.specialization, "specializations",
           [&](const wire::Specialization& option) -> Specialization {
             return {option.name, option.id,
                     Value<OptionType>(option.type, "type", {"specialization", option.name}),
                     option.default_, option.value};
           });
  out.spirv_version = from.spirv_version;
}

// Only graphics pipelines have these; without them defaults would stand for settings that somebody
// wrote.
void Decoder::DecodeGraphics(const wire::Pipeline& from, PipelineMetadata& out) {
  // proto3 has no required fields, so presence is asked for here. Both are told by their name.
  for (const auto& [present, field] : {std::pair{from.settings.has_value(), "settings"},
                                       {from.fixed_state.has_value(), "fixed_state"}}) {
    if (!present) {
      Fail({ErrorCode::kInvalidArgument, fmt::format("metadata has no {}", field),
            "METADATA_INCOMPLETE"});
      return;
    }
  }
  out.settings = DecodeSettings(*from.settings);
  out.fixed_state = DecodeFixedState(*from.fixed_state);
  out.attribute_sources =
      Each(from.attribute_sources, "attribute sources",
           [&](const wire::AttributeSource& source) { return DecodeSource(source); });
  out.color_outputs = Each(from.color_outputs, "color outputs",
                           [&](const wire::ColorOutput& output) { return DecodeOutput(output); });
  const wire::BlendConstants& blend = from.blend_constants;
  out.blend_constants = {blend.r, blend.g, blend.b, blend.a};
  out.state = Each(from.state, "state fields", [&](const wire::StateField& field) -> StateField {
    return {field.container,
            field.name,
            Value<ParameterType>(field.type, "type", {"state field", field.name}),
            field.location,
            field.written,
            field.read};
  });
}

// All four sets are there, and a set that is not used is empty.
void Decoder::DecodeResources(const wire::Pipeline& from, PipelineMetadata& out) {
  const wire::Sets& sets = from.sets;
  // In the order of the numbers of the sets, which the field names of the schema stand for.
  out.sets = {DecodeSet(sets.pass), DecodeSet(sets.material), DecodeSet(sets.object),
              DecodeSet(sets.shared)};
  out.push_constant_size = from.push_constant_size;
  // Most programs have none, and a size of zero would not tell.
  if (from.push_constant) {
    const wire::PushConstant& push = *from.push_constant;
    out.push_constant = {push.name, Stages(push.stages, {"push constant", push.name}),
                         DecodeParameters(push.members)};
  }
}

// The first error ends it; what was converted after it is never seen.
Result<PipelineMetadata> Decoder::Decode(const wire::Pipeline& from) {
  PipelineMetadata out;
  // The head comes first: it says which kind of pipeline the rest is of.
  DecodeHead(from, out);
  DecodeResources(from, out);
  // Metadata of the other kind are left as they are by default, and not looked at: a compute
  // pipeline has no settings.
  if (!error_ && out.pipeline_type == PipelineType::kGraphicsClassic) {
    DecodeGraphics(from, out);
  }
  if (!error_ && out.pipeline_type == PipelineType::kCompute) {
    const wire::WorkgroupSize& size = from.workgroup_size;
    out.workgroup_size = {size.x, size.y, size.z};
  }
  if (error_) {
    return *std::move(error_);
  }
  return out;
}

}  // namespace

// The size is checked before anything is read, so the work on bytes from outside is bounded.
Result<PipelineMetadata> DecodeMetadata(ByteView bytes) {
  if (bytes.size() > kMaxMetadataBytes) {
    return Error{
        // A limit and no damage: another code, so that callers can tell them apart.
        ErrorCode::kResourceExhausted,
        fmt::format("metadata has {} bytes, at most {} are read", bytes.size(), kMaxMetadataBytes),
        "LIMIT"};
  }
  const std::optional<wire::Pipeline> pipeline = wire::ReadPipeline(bytes);
  if (!pipeline) {
    return Invalid(fmt::format("{} bytes are not a PipelineMetadata message", bytes.size()));
  }
  return Decoder().Decode(*pipeline);
}

}  // namespace kiln::artifact
