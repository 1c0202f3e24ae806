// SPDX-License-Identifier: MIT
#include "compiler/artifact/metadata_enums.h"

#include <array>

#include "compiler/base/check.h"

namespace kiln::artifact {

// The size of a table is checked against the last enumerator.
// Words are what metadata have in place of numbers, and the tables below are their only list:
// writers and readers both go through them.
#define KILN_NAMES(Enum, kLast, ...)                                                         \
  template <>                                                                                \
  std::span<const std::string_view> NamesOf<Enum>() {                                        \
    static constexpr auto kNames = std::to_array<std::string_view>({__VA_ARGS__});           \
    static_assert(kNames.size() == static_cast<size_t>(Enum::kLast) + 1, "table of " #Enum); \
    return kNames;                                                                           \
  }

// Each table follows the order of its enumeration, and a name once used is never changed: it is in
// every artifact that was ever made.
KILN_NAMES(PipelineType, kCompute, "graphics_classic", "compute")
KILN_NAMES(Stage, kCompute, "vertex", "fragment", "compute")
KILN_NAMES(PolygonMode, kWireframe, "fill", "wireframe")
KILN_NAMES(CullMode, kFront, "none", "back", "front")
KILN_NAMES(CompareOperation, kGreaterOrEqual, "never", "always", "equal", "not_equal", "less",
           "less_or_equal", "greater", "greater_or_equal")
KILN_NAMES(StencilOperation, kDecrementAndWrap, "keep", "zero", "replace", "increment_and_clamp",
           "decrement_and_clamp", "invert", "increment_and_wrap", "decrement_and_wrap")
KILN_NAMES(BlendFactor, kSourceAlphaSaturate, "zero", "one", "source_color",
           "one_minus_source_color", "destination_color", "one_minus_destination_color",
           "source_alpha", "one_minus_source_alpha", "destination_alpha",
           "one_minus_destination_alpha", "constant_color", "one_minus_constant_color",
           "constant_alpha", "one_minus_constant_alpha", "source_alpha_saturate")
KILN_NAMES(BlendOperation, kMax, "add", "subtract", "reverse_subtract", "min", "max")
KILN_NAMES(OutputItem, kSint, "float", "uint", "sint")
KILN_NAMES(InputRate, kInstance, "vertex", "instance")
KILN_NAMES(AttributeClass, kMatrix4x4, "vector1", "vector2", "vector3", "vector4", "matrix3x3",
           "matrix4x4")
KILN_NAMES(ItemFormat, kSint32, "float16", "float32", "unorm8", "unorm16", "snorm8", "snorm16",
           "uint8", "uint16", "uint32", "sint8", "sint16", "sint32")
KILN_NAMES(ParameterType, kF4x3, "f1", "f2", "f3", "f4", "u1", "u2", "u3", "u4", "s1", "s2", "s3",
           "s4", "f3x3", "f4x4", "h1", "h2", "h3", "h4", "f2x2", "f2x3", "f2x4", "f3x2", "f3x4",
           "f4x2", "f4x3")
KILN_NAMES(BufferType, kReadWriteStorage, "uniform", "read_only_storage", "read_write_storage")
KILN_NAMES(Topology, kTriangleList, "triangle_list")
KILN_NAMES(FrontFace, kCounterClockwise, "clockwise", "counter_clockwise")
KILN_NAMES(ViewportY, kDown, "up", "down")
KILN_NAMES(DynamicState, kDepthBounds, "viewport", "scissor", "depth_bounds")
KILN_NAMES(OptionType, kFloat, "flag", "uint", "sint", "float")

#undef KILN_NAMES

// Types of images have facts besides their names, so they have a table of their own.
template <>
std::span<const std::string_view> NamesOf<ImageType>() {
  static constexpr std::string_view kNames[] = {
#define KILN_IMAGE_TYPE(type, name, dim, role, flags) name,
#include "compiler/artifact/image_types.def"
  };
  return kNames;
}

namespace {

// The header lists the enumerators again, as it is installed and the table is not.
constexpr bool ImageTypesAgree() {
  constexpr ImageType kRows[] = {
#define KILN_IMAGE_TYPE(type, name, dim, role, flags) ImageType::k##type,
#include "compiler/artifact/image_types.def"
  };
  size_t next = 0;
  for (const ImageType type : kRows) {
    if (static_cast<size_t>(type) != next++) {
      return false;
    }
  }
  return next == static_cast<size_t>(ImageType::kStorageTexelBuffer) + 1;
}
static_assert(ImageTypesAgree());

}  // namespace

const ImageTypeFacts& FactsOf(ImageType type) {
  static constexpr ImageTypeFacts kFacts[] = {
#define KILN_IMAGE_TYPE(type, name, dim, role, flags) \
  {ImageDim::k##dim, ImageRole::k##role, ((flags)&1) != 0, ((flags)&2) != 0},
#include "compiler/artifact/image_types.def"
  };
  return kFacts[static_cast<size_t>(type)];
}

// Rows first, columns second.
AttributeShape ShapeOf(AttributeClass kind) {
  switch (kind) {
    case AttributeClass::kVector1:
      return {1, 1};
    case AttributeClass::kVector2:
      return {2, 1};
    case AttributeClass::kVector3:
      return {3, 1};
    case AttributeClass::kVector4:
      return {4, 1};
    case AttributeClass::kMatrix3x3:
      return {3, 3};
    case AttributeClass::kMatrix4x4:
      return {4, 4};
  }
  KILN_UNREACHABLE();
}

// In bytes, of one component.
uint32_t ItemSize(ItemFormat format) {
  switch (format) {
    case ItemFormat::kUnorm8:
    case ItemFormat::kSnorm8:
    case ItemFormat::kUint8:
    case ItemFormat::kSint8:
      return 1;
    case ItemFormat::kFloat16:
    case ItemFormat::kUnorm16:
    case ItemFormat::kSnorm16:
    case ItemFormat::kUint16:
    case ItemFormat::kSint16:
      return 2;
    case ItemFormat::kFloat32:
    case ItemFormat::kUint32:
    case ItemFormat::kSint32:
      return 4;
  }
  KILN_UNREACHABLE();
}

// Scalars differ between these types, the shapes do not.
AttributeShape ShapeOf(ParameterType type) {
  switch (type) {
    case ParameterType::kF1:
    case ParameterType::kU1:
    case ParameterType::kS1:
    case ParameterType::kH1:
      return {1, 1};
    case ParameterType::kF2:
    case ParameterType::kU2:
    case ParameterType::kS2:
    case ParameterType::kH2:
      return {2, 1};
    case ParameterType::kF3:
    case ParameterType::kU3:
    case ParameterType::kS3:
    case ParameterType::kH3:
      return {3, 1};
    case ParameterType::kF4:
    case ParameterType::kU4:
    case ParameterType::kS4:
    case ParameterType::kH4:
      return {4, 1};
    // A type fCxR has C columns, which is the number that comes first: the shape turns them round.
    case ParameterType::kF3x3:
      return {3, 3};
    case ParameterType::kF4x4:
      return {4, 4};
    case ParameterType::kF2x2:
      return {2, 2};
    case ParameterType::kF2x3:
      return {3, 2};
    case ParameterType::kF2x4:
      return {4, 2};
    case ParameterType::kF3x2:
      return {2, 3};
    case ParameterType::kF3x4:
      return {4, 3};
    case ParameterType::kF4x2:
      return {2, 4};
    case ParameterType::kF4x3:
      return {3, 4};
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::artifact
