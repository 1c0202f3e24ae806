// SPDX-License-Identifier: MIT
#include "compiler/artifact/metadata.h"

#include <utility>

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include "proto/kiln/v1/metadata.pb.h"

namespace kiln::artifact {
namespace {

using Wire = v1::PipelineMetadata;

constexpr size_t kMaxBytes = size_t{4} << 20;  // spec/daemon 10, metadata output
constexpr size_t kMaxJsonBytes = 8 * kMaxBytes;
constexpr int kMaxItems = 65'536;  // of any one list
constexpr uint32_t kMaxImageArray = 65'536;

Error Invalid(std::string context) {
  return {ErrorCode::kInvalidArgument, std::move(context), "METADATA_INVALID"};
}

// Converts one message. The first thing that is wrong is kept, what follows is then meaningless.
class Decoder {
 public:
  Result<PipelineMetadata> Decode(const Wire& wire);

 private:
  // Where a field is, for messages: "attribute 'uv'". Text is made only for an error.
  struct Place {
    std::string_view record;
    std::string_view name;
  };

  void Fail(Error error) {
    if (!error_) {
      error_ = std::move(error);
    }
  }
  static std::string Text(Place place) {
    return place.name.empty() ? std::string(place.record)
                              : fmt::format("{} '{}'", place.record, place.name);
  }

  template <class E>
  E Value(const std::string& text, std::string_view field, Place place) {
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

  template <class List, class Convert>
  auto Each(const List& list, std::string_view field, Convert convert) {
    std::vector<decltype(convert(list[0]))> out;
    if (list.size() > kMaxItems) {
      Fail({ErrorCode::kResourceExhausted,
            fmt::format("metadata has {} {}, at most {} are read", list.size(), field, kMaxItems),
            "LIMIT"});
      return out;
    }
    out.reserve(static_cast<size_t>(list.size()));
    for (const auto& item : list) {
      if (error_) {
        break;
      }
      out.push_back(convert(item));
    }
    return out;
  }
  template <class List>
  std::vector<std::string> Texts(const List& list, std::string_view field) {
    return Each(list, field, [](const std::string& text) { return text; });
  }
  template <class List>
  std::vector<Stage> Stages(const List& list, Place place) {
    return Each(list, "stages",
                [&](const std::string& text) { return Value<Stage>(text, "stages", place); });
  }
  Hash128 Hash(const std::string& bytes, std::string_view field) {
    Hash128 hash;
    if (bytes.size() == hash.bytes.size()) {
      std::memcpy(hash.bytes.data(), bytes.data(), bytes.size());
    } else if (!bytes.empty()) {
      Fail(Invalid(fmt::format("{} has {} bytes instead of 16", field, bytes.size())));
    }
    return hash;
  }

  void DecodeHead(const Wire& wire, PipelineMetadata& out);
  void DecodeGraphics(const Wire& wire, PipelineMetadata& out);
  void DecodeResources(const Wire& wire, PipelineMetadata& out);
  Settings DecodeSettings(const Wire::Settings& wire);
  FixedState DecodeFixedState(const Wire::FixedState& wire);
  Attribute DecodeAttribute(const Wire::Attribute& wire);
  AttributeSource DecodeSource(const Wire::AttributeSource& wire);
  Parameter DecodeParameter(const Wire::Parameter& wire);
  template <class List>
  std::vector<Parameter> DecodeParameters(const List& list) {
    return Each(list, "parameters",
                [&](const Wire::Parameter& parameter) { return DecodeParameter(parameter); });
  }
  Buffer DecodeBuffer(const Wire::Buffer& wire);
  Sampler DecodeSampler(const Wire::Sampler& wire);
  Image DecodeImage(const Wire::Image& wire);
  Set DecodeSet(const Wire::Set& wire);
  ColorOutput DecodeOutput(const Wire::ColorOutput& wire);

  std::optional<Error> error_;
};

Settings Decoder::DecodeSettings(const Wire::Settings& wire) {
  constexpr Place kPlace = {"settings", ""};
  const auto stencil = [&](const std::string& text, std::string_view field) {
    return Value<StencilOperation>(text, field, kPlace);
  };
  const auto compare = [&](const std::string& text, std::string_view field) {
    return Value<CompareOperation>(text, field, kPlace);
  };
  Settings out;
  out.polygon_mode = Value<PolygonMode>(wire.polygon_mode(), "polygon_mode", kPlace);
  out.cull_mode = Value<CullMode>(wire.cull_mode(), "cull_mode", kPlace);
  out.depth_test = wire.depth_test();
  out.depth_write = wire.depth_write();
  out.depth_compare_operation = compare(wire.depth_compare_operation(), "depth_compare_operation");
  out.depth_bounds_test = wire.depth_bounds_test();
  out.depth_min = wire.depth_min();
  out.depth_max = wire.depth_max();
  out.stencil_test = wire.stencil_test();
  out.stencil_front = {
      .on_fail = stencil(wire.stencil_front_on_fail(), "stencil_front_on_fail"),
      .on_depth_fail = stencil(wire.stencil_front_on_depth_fail(), "stencil_front_on_depth_fail"),
      .on_pass = stencil(wire.stencil_front_on_pass(), "stencil_front_on_pass"),
      .compare = compare(wire.stencil_front_compare(), "stencil_front_compare"),
      .compare_mask = wire.stencil_front_compare_mask(),
      .write_mask = wire.stencil_front_write_mask(),
      .reference = wire.stencil_front_reference()};
  out.stencil_back = {
      .on_fail = stencil(wire.stencil_back_on_fail(), "stencil_back_on_fail"),
      .on_depth_fail = stencil(wire.stencil_back_on_depth_fail(), "stencil_back_on_depth_fail"),
      .on_pass = stencil(wire.stencil_back_on_pass(), "stencil_back_on_pass"),
      .compare = compare(wire.stencil_back_compare(), "stencil_back_compare"),
      .compare_mask = wire.stencil_back_compare_mask(),
      .write_mask = wire.stencil_back_write_mask(),
      .reference = wire.stencil_back_reference()};
  return out;
}

FixedState Decoder::DecodeFixedState(const Wire::FixedState& wire) {
  constexpr Place kPlace = {"fixed_state", ""};
  return {
      .topology = Value<Topology>(wire.topology(), "topology", kPlace),
      .primitive_restart = wire.primitive_restart(),
      .depth_clamp = wire.depth_clamp(),
      .rasterizer_discard = wire.rasterizer_discard(),
      .depth_bias = wire.depth_bias(),
      .line_width = wire.line_width(),
      .dynamic_state = Each(wire.dynamic_state(), "dynamic states",
                            [&](const std::string& text) {
                              return Value<DynamicState>(text, "dynamic_state", kPlace);
                            }),
      .front_face = Value<FrontFace>(wire.front_face(), "front_face", kPlace),
      .viewport_y = Value<ViewportY>(wire.viewport_y(), "viewport_y", kPlace),
      .sample_count = wire.sample_count(),
      .sample_shading = wire.sample_shading(),
      .alpha_to_coverage = wire.alpha_to_coverage(),
      .alpha_to_one = wire.alpha_to_one(),
      .logic_op = wire.logic_op(),
  };
}

Attribute Decoder::DecodeAttribute(const Wire::Attribute& wire) {
  const Place place = {"attribute", wire.name()};
  Attribute out{
      .name = wire.name(),
      .location = wire.location(),
      .offset = wire.offset(),
      .kind = Value<AttributeClass>(wire.class_(), "class", place),
      .item_format = Value<ItemFormat>(wire.item_format(), "item_format", place),
      .tags = Texts(wire.tags(), "tags"),
      .location_count = wire.location_count(),
      .column_stride = wire.column_stride(),
  };
  const uint32_t columns = ShapeOf(out.kind).columns;
  if (!error_ && out.location_count != columns) {
    Fail(Invalid(fmt::format("{} takes {} locations, its class takes {}", Text(place),
                             out.location_count, columns)));
  }
  return out;
}

AttributeSource Decoder::DecodeSource(const Wire::AttributeSource& wire) {
  const Place place = {"attribute source", wire.name()};
  return {.name = wire.name(),
          .rate = Value<InputRate>(wire.rate(), "rate", place),
          .binding = wire.binding(),
          .block_size = wire.block_size(),
          .attributes =
              Each(wire.attributes(), "attributes",
                   [&](const Wire::Attribute& attribute) { return DecodeAttribute(attribute); })};
}

Parameter Decoder::DecodeParameter(const Wire::Parameter& wire) {
  return {.name = wire.name(),
          .type = Value<ParameterType>(wire.type(), "type", {"parameter", wire.name()}),
          .offset = wire.offset(),
          .total_item_count = wire.total_item_count(),
          .tags = Texts(wire.tags(), "tags"),
          .dimensions = {wire.dimensions().begin(), wire.dimensions().end()},
          .array_stride = wire.array_stride(),
          .matrix_stride = wire.matrix_stride()};
}

Buffer Decoder::DecodeBuffer(const Wire::Buffer& wire) {
  const Place place = {"buffer", wire.name()};
  return {.name = wire.name(),
          .binding = wire.binding(),
          .type = Value<BufferType>(wire.type(), "type", place),
          .main_size = wire.main_size(),
          .tail_item_size = wire.tail_item_size(),
          .main_parameters = DecodeParameters(wire.main_parameters()),
          .tail_name = wire.tail_name(),
          .tail_item_parameters = DecodeParameters(wire.tail_item_parameters()),
          .tail_offset = wire.tail_offset(),
          .tail_field = wire.tail_field(),
          .tail_type = wire.tail_type(),
          .stages = Stages(wire.stages(), place)};
}

Sampler Decoder::DecodeSampler(const Wire::Sampler& wire) {
  return {.name = wire.name(),
          .binding = wire.binding(),
          .stages = Stages(wire.stages(), {"sampler", wire.name()}),
          .comparison = wire.comparison()};
}

Image Decoder::DecodeImage(const Wire::Image& wire) {
  const Place place = {"image", wire.name()};
  if (wire.image_array_size() == 0 || wire.image_array_size() > kMaxImageArray) {
    Fail(Invalid(fmt::format("image_array_size of {} is {}, it must be 1 to {}", Text(place),
                             wire.image_array_size(), kMaxImageArray)));
  }
  return {.name = wire.name(),
          .binding = wire.binding(),
          .type = Value<ImageType>(wire.type(), "type", place),
          .image_array_size = wire.image_array_size(),
          .is_array = wire.is_array(),
          .stages = Stages(wire.stages(), place),
          .format = wire.format(),
          .access = wire.access()};
}

Set Decoder::DecodeSet(const Wire::Set& wire) {
  return {.buffers = Each(wire.buffers(), "buffers",
                          [&](const Wire::Buffer& buffer) { return DecodeBuffer(buffer); }),
          .samplers = Each(wire.samplers(), "samplers",
                           [&](const Wire::Sampler& sampler) { return DecodeSampler(sampler); }),
          .images = Each(wire.images(), "images",
                         [&](const Wire::Image& image) { return DecodeImage(image); })};
}

ColorOutput Decoder::DecodeOutput(const Wire::ColorOutput& wire) {
  const Place place = {"color output", wire.name()};
  const auto factor = [&](const std::string& text, std::string_view field) {
    return Value<BlendFactor>(text, field, place);
  };
  if (wire.components_count() < 1 || wire.components_count() > 4) {
    Fail(Invalid(fmt::format("components_count of {} is {}, it must be 1 to 4", Text(place),
                             wire.components_count())));
  }
  return {
      .name = wire.name(),
      .location = wire.location(),
      .item = Value<OutputItem>(wire.item(), "item", place),
      .components_count = wire.components_count(),
      .tags = Texts(wire.tags(), "tags"),
      .use_blend = wire.use_blend(),
      .write = {wire.write_r(), wire.write_g(), wire.write_b(), wire.write_a()},
      .source_color_blend_factor =
          factor(wire.source_color_blend_factor(), "source_color_blend_factor"),
      .destination_color_blend_factor =
          factor(wire.destination_color_blend_factor(), "destination_color_blend_factor"),
      .color_blend_operation =
          Value<BlendOperation>(wire.color_blend_operation(), "color_blend_operation", place),
      .source_alpha_blend_factor =
          factor(wire.source_alpha_blend_factor(), "source_alpha_blend_factor"),
      .destination_alpha_blend_factor =
          factor(wire.destination_alpha_blend_factor(), "destination_alpha_blend_factor"),
      .alpha_blend_operation =
          Value<BlendOperation>(wire.alpha_blend_operation(), "alpha_blend_operation", place),
  };
}

void Decoder::DecodeHead(const Wire& wire, PipelineMetadata& out) {
  out.pipeline_type = Value<PipelineType>(wire.pipeline_type(), "pipeline_type", {"metadata", ""});
  out.entry_points =
      Each(wire.entry_points(), "entry points", [&](const Wire::EntryPoint& entry) -> EntryPoint {
        return {Value<Stage>(entry.stage(), "stage", {"entry point", entry.name()}), entry.name()};
      });
  out.option_influence = Each(
      wire.option_influence(), "options",
      [&](const Wire::OptionInfluence& option) -> OptionInfluence {
        return {option.name(), option.class_(), option.value(), Texts(option.affects(), "effects")};
      });
  out.required_features = Texts(wire.required_features(), "features");
  out.required_extensions = Texts(wire.required_extensions(), "extensions");
  out.layout_hash = Hash(wire.layout_hash(), "layout_hash");
  out.module_hashes = Each(wire.module_hashes(), "modules",
                           [&](const std::string& bytes) { return Hash(bytes, "module_hashes"); });
  out.specialization =
      Each(wire.specialization(), "specializations",
           [&](const Wire::Specialization& option) -> Specialization {
             return {option.name(), option.id(),
                     Value<OptionType>(option.type(), "type", {"specialization", option.name()}),
                     option.default_(), option.value()};
           });
  out.spirv_version = wire.spirv_version();
}

void Decoder::DecodeGraphics(const Wire& wire, PipelineMetadata& out) {
  for (const auto& [present, field] :
       {std::pair{wire.has_settings(), "settings"}, {wire.has_fixed_state(), "fixed_state"}}) {
    if (!present) {
      Fail({ErrorCode::kInvalidArgument, fmt::format("metadata has no {}", field),
            "METADATA_INCOMPLETE"});
      return;
    }
  }
  out.settings = DecodeSettings(wire.settings());
  out.fixed_state = DecodeFixedState(wire.fixed_state());
  out.attribute_sources =
      Each(wire.attribute_sources(), "attribute sources",
           [&](const Wire::AttributeSource& source) { return DecodeSource(source); });
  out.color_outputs = Each(wire.color_outputs(), "color outputs",
                           [&](const Wire::ColorOutput& output) { return DecodeOutput(output); });
  const Wire::BlendConstants& blend = wire.blend_constants();
  out.blend_constants = {blend.r(), blend.g(), blend.b(), blend.a()};
  out.state = Each(wire.state(), "state fields", [&](const Wire::StateField& field) -> StateField {
    return {field.container(),
            field.name(),
            Value<ParameterType>(field.type(), "type", {"state field", field.name()}),
            field.location(),
            field.written(),
            field.read()};
  });
}

void Decoder::DecodeResources(const Wire& wire, PipelineMetadata& out) {
  const Wire::Sets& sets = wire.sets();
  out.sets = {DecodeSet(sets.pass()), DecodeSet(sets.material()), DecodeSet(sets.object()),
              DecodeSet(sets.shared())};
  out.push_constant_size = wire.push_constant_size();
  if (wire.has_push_constant()) {
    const Wire::PushConstant& push = wire.push_constant();
    out.push_constant = {push.name(), Stages(push.stages(), {"push constant", push.name()}),
                         DecodeParameters(push.members())};
  }
}

Result<PipelineMetadata> Decoder::Decode(const Wire& wire) {
  PipelineMetadata out;
  DecodeHead(wire, out);
  DecodeResources(wire, out);
  if (!error_ && out.pipeline_type == PipelineType::kGraphicsClassic) {
    DecodeGraphics(wire, out);
  }
  if (!error_ && out.pipeline_type == PipelineType::kCompute) {
    const Wire::WorkgroupSize& size = wire.workgroup_size();
    out.workgroup_size = {size.x(), size.y(), size.z()};
  }
  if (error_) {
    return *std::move(error_);
  }
  return out;
}

Result<Wire> Parse(ByteView bytes) {
  if (bytes.size() > kMaxBytes) {
    return Error{ErrorCode::kResourceExhausted,
                 fmt::format("metadata has {} bytes, at most {} are read", bytes.size(), kMaxBytes),
                 "LIMIT"};
  }
  const google::protobuf::LogSilencer quiet;  // damage is reported by the return value
  Wire wire;
  if (!wire.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Invalid(fmt::format("{} bytes are not a PipelineMetadata message", bytes.size()));
  }
  return wire;
}

}  // namespace

Result<PipelineMetadata> DecodeMetadata(ByteView bytes) {
  KILN_TRY(const Wire wire, Parse(bytes));
  return Decoder().Decode(wire);
}

Result<std::string> MetadataJson(ByteView bytes) {
  KILN_TRY(const Wire wire, Parse(bytes));
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.add_whitespace = true;
  std::string json;
  if (const auto status = google::protobuf::util::MessageToJsonString(wire, &json, options);
      !status.ok()) {
    return Invalid(fmt::format("metadata has no JSON form: {}", std::string(status.message())));
  }
  return json;
}

Result<Bytes> MetadataFromJson(std::string_view json) {
  if (json.size() > kMaxJsonBytes) {
    return Error{ErrorCode::kResourceExhausted,
                 fmt::format("the JSON of metadata has {} bytes, at most {} are read", json.size(),
                             kMaxJsonBytes),
                 "LIMIT"};
  }
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  Wire wire;
  if (const auto status =
          google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, &wire, options);
      !status.ok()) {
    return Invalid(fmt::format("no JSON of metadata: {}", std::string(status.message())));
  }
  Bytes bytes(wire.ByteSizeLong());
  wire.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

}  // namespace kiln::artifact
