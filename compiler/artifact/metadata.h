// SPDX-License-Identifier: MIT
// Pipeline metadata as plain structs: everything besides SPIR-V words that a pipeline state object
// needs. Decoded from the bytes of an artifact (proto/kiln/v1/metadata.proto) without
// protobuf, which engines do not link. Sizes, offsets and strides are bytes. See spec/rpl 12,
// spec/pso 3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/artifact/metadata_enums.h"
#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::artifact {

struct EntryPoint {
  Stage stage = Stage::kVertex;
  std::string name;
};

struct StencilFace {
  StencilOperation on_fail = StencilOperation::kKeep;
  StencilOperation on_depth_fail = StencilOperation::kKeep;
  StencilOperation on_pass = StencilOperation::kKeep;
  CompareOperation compare = CompareOperation::kNever;
  uint32_t compare_mask = 0;
  uint32_t write_mask = 0;
  uint32_t reference = 0;
};

// Defaults are those of the language.
struct Settings {
  PolygonMode polygon_mode = PolygonMode::kFill;
  CullMode cull_mode = CullMode::kBack;
  bool depth_test = true;
  bool depth_write = true;
  CompareOperation depth_compare_operation = CompareOperation::kLess;
  bool depth_bounds_test = false;
  float depth_min = 0.0F;
  float depth_max = 1.0F;
  bool stencil_test = false;
  StencilFace stencil_front;
  StencilFace stencil_back;
};

struct Attribute {
  std::string name;
  uint32_t location = 0;  // first one
  uint32_t offset = 0;
  AttributeClass kind = AttributeClass::kVector1;
  ItemFormat item_format = ItemFormat::kFloat32;
  std::vector<std::string> tags;
  uint32_t location_count = 1;  // columns
  uint32_t column_stride = 0;   // 0 for vectors
};

struct AttributeSource {
  std::string name;
  InputRate rate = InputRate::kVertex;
  uint32_t binding = 0;
  uint32_t block_size = 0;  // stride
  std::vector<Attribute> attributes;
};

struct Parameter {
  std::string name;  // dotted
  ParameterType type = ParameterType::kF1;
  uint32_t offset = 0;  // from the start of the block, or of the tail item
  uint32_t total_item_count = 1;
  std::vector<std::string> tags;
  std::vector<uint32_t> dimensions;
  uint32_t array_stride = 0;   // 0 if not an array
  uint32_t matrix_stride = 0;  // 0 if not a matrix
};

struct Buffer {
  std::string name;
  uint32_t binding = 0;
  BufferType type = BufferType::kUniform;
  uint32_t main_size = 0;
  uint32_t tail_item_size = 0;  // 0: no tail
  std::vector<Parameter> main_parameters;
  std::string tail_name;
  std::vector<Parameter> tail_item_parameters;
  uint32_t tail_offset = 0;
  std::string tail_field;
  std::string tail_type;
  std::vector<Stage> stages;
  uint32_t array_size = 0;  // descriptor count of an array; 0: no array
};

struct Sampler {
  std::string name;
  uint32_t binding = 0;
  std::vector<Stage> stages;
  bool comparison = false;
  uint32_t array_size = 0;  // as of buffers
};

struct Image {
  std::string name;
  uint32_t binding = 0;
  ImageType type = ImageType::kColor2d;
  uint32_t image_array_size = 1;  // descriptor count
  bool is_array = false;
  std::vector<Stage> stages;
  std::string format;                    // storage images and storage texel buffers
  std::string access;                    // the same
  OutputItem item = OutputItem::kFloat;  // of a texel; of storage images the format says it, too
  std::string sampler;                   // of a combined image sampler; else empty
  bool comparison = false;               // of that sampler
};

struct Set {
  std::vector<Buffer> buffers;
  std::vector<Sampler> samplers;
  std::vector<Image> images;
};

// Set numbers.
enum class SetIndex : uint8_t { kPass, kMaterial, kObject, kShared };
inline constexpr size_t kSetCount = 4;
inline constexpr std::array<std::string_view, kSetCount> kSetNames = {"pass", "material", "object",
                                                                      "shared"};

struct PushConstant {
  std::string name;
  std::vector<Stage> stages;
  std::vector<Parameter> members;
};

struct ColorOutput {
  std::string name;
  uint32_t location = 0;
  OutputItem item = OutputItem::kFloat;
  uint32_t components_count = 4;
  std::vector<std::string> tags;
  bool use_blend = false;
  std::array<bool, 4> write = {true, true, true, true};  // r g b a
  BlendFactor source_color_blend_factor = BlendFactor::kOne;
  BlendFactor destination_color_blend_factor = BlendFactor::kZero;
  BlendOperation color_blend_operation = BlendOperation::kAdd;
  BlendFactor source_alpha_blend_factor = BlendFactor::kOne;
  BlendFactor destination_alpha_blend_factor = BlendFactor::kZero;
  BlendOperation alpha_blend_operation = BlendOperation::kAdd;
};

struct FixedState {
  Topology topology = Topology::kTriangleList;
  bool primitive_restart = false;
  bool depth_clamp = false;
  bool rasterizer_discard = false;
  bool depth_bias = false;
  float line_width = 1.0F;
  std::vector<DynamicState> dynamic_state;
  FrontFace front_face = FrontFace::kClockwise;
  ViewportY viewport_y = ViewportY::kUp;
  uint32_t sample_count = 1;
  bool sample_shading = false;
  bool alpha_to_coverage = false;
  bool alpha_to_one = false;
  bool logic_op = false;
};

struct StateField {
  std::string container;
  std::string name;
  ParameterType type = ParameterType::kF1;
  uint32_t location = 0;
  bool written = false;
  bool read = false;
};

struct OptionInfluence {
  std::string name;
  std::string scope;
  std::string value;
  std::vector<std::string> affects;
};

struct Specialization {
  std::string name;
  uint32_t id = 0;
  OptionType type = OptionType::kFlag;
  uint32_t default_bits = 0;
  uint32_t value_bits = 0;
};

struct PipelineMetadata {
  PipelineType pipeline_type = PipelineType::kGraphicsClassic;
  std::vector<EntryPoint> entry_points;  // stage order
  Settings settings;                     // graphics
  std::vector<AttributeSource> attribute_sources;
  std::array<Set, kSetCount> sets;  // by SetIndex
  uint32_t push_constant_size = 0;
  std::optional<PushConstant> push_constant;
  std::vector<ColorOutput> color_outputs;
  std::array<float, 4> blend_constants = {};
  FixedState fixed_state;  // graphics
  std::vector<StateField> state;
  std::vector<OptionInfluence> option_influence;
  std::vector<std::string> required_features;
  Hash128 layout_hash;
  std::vector<Specialization> specialization;
  std::vector<Hash128> module_hashes;
  std::vector<std::string> required_extensions;
  std::string spirv_version;
  std::array<uint32_t, 3> workgroup_size = {1, 1, 1};  // compute
};

inline constexpr size_t kMaxMetadataBytes = size_t{4} << 20;  // spec/daemon 10, metadata output

// Requires nothing of the bytes: they may be damaged or hostile. Unknown fields are ignored.
// Memory is bounded by a constant times the size of the input, which is at most
// kMaxMetadataBytes.
// Errors: METADATA_INVALID if the bytes are no metadata, or a value is not of its enumeration;
//         METADATA_INCOMPLETE naming a field that must be there; LIMIT.
Result<PipelineMetadata> DecodeMetadata(ByteView bytes);

}  // namespace kiln::artifact
