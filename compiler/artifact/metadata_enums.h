// SPDX-License-Identifier: MIT
// Enumerations of pipeline metadata and their spellings. In metadata they are strings, spelled as
// in the source language; the spellings are in metadata_enums.cc and nowhere else. Enumerators have
// the order of their table, from 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kiln::artifact {

enum class PipelineType : uint8_t { kGraphicsClassic, kCompute };
enum class Stage : uint8_t { kVertex, kFragment, kCompute };
enum class PolygonMode : uint8_t { kFill, kWireframe };
enum class CullMode : uint8_t { kNone, kBack, kFront };
enum class CompareOperation : uint8_t {
  kNever,
  kAlways,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual
};
enum class StencilOperation : uint8_t {
  kKeep,
  kZero,
  kReplace,
  kIncrementAndClamp,
  kDecrementAndClamp,
  kInvert,
  kIncrementAndWrap,
  kDecrementAndWrap
};
enum class BlendFactor : uint8_t {
  kZero,
  kOne,
  kSourceColor,
  kOneMinusSourceColor,
  kDestinationColor,
  kOneMinusDestinationColor,
  kSourceAlpha,
  kOneMinusSourceAlpha,
  kDestinationAlpha,
  kOneMinusDestinationAlpha,
  kConstantColor,
  kOneMinusConstantColor,
  kConstantAlpha,
  kOneMinusConstantAlpha,
  kSourceAlphaSaturate
};
enum class BlendOperation : uint8_t { kAdd, kSubtract, kReverseSubtract, kMin, kMax };
enum class OutputItem : uint8_t { kFloat, kUint, kSint };
enum class InputRate : uint8_t { kVertex, kInstance };
enum class AttributeClass : uint8_t {
  kVector1,
  kVector2,
  kVector3,
  kVector4,
  kMatrix3x3,
  kMatrix4x4
};
enum class ItemFormat : uint8_t {
  kFloat16,
  kFloat32,
  kUnorm8,
  kUnorm16,
  kSnorm8,
  kSnorm16,
  kUint8,
  kUint16,
  kUint32,
  kSint8,
  kSint16,
  kSint32
};
enum class ParameterType : uint8_t {
  kF1,
  kF2,
  kF3,
  kF4,
  kU1,
  kU2,
  kU3,
  kU4,
  kS1,
  kS2,
  kS3,
  kS4,
  kF3x3,
  kF4x4,
  kH1,  // 16-bit floats, in storage buffers only
  kH2,
  kH3,
  kH4,
  kF2x2,  // columns x rows; of other languages than RPL
  kF2x3,
  kF2x4,
  kF3x2,
  kF3x4,
  kF4x2,
  kF4x3
};
enum class BufferType : uint8_t { kUniform, kReadOnlyStorage, kReadWriteStorage };
// The order of image_types.def, which has the names and facts.
enum class ImageType : uint8_t {
  kColor2d,
  kColor3d,
  kColorCube,
  kColor2dArray,
  kDepth2d,
  kDepth3d,
  kDepthCube,
  kDepth2dArray,
  kStorage2d,
  kStorage3d,
  kStorage2dArray,
  kColor1d,
  kColor1dArray,
  kColorCubeArray,
  kColor2dMs,
  kColor2dMsArray,
  kDepth1d,
  kDepth1dArray,
  kDepthCubeArray,
  kDepth2dMs,
  kDepth2dMsArray,
  kStorage1d,
  kStorage1dArray,
  kStorageCube,
  kStorageCubeArray,
  kStorage2dMs,
  kStorage2dMsArray,
  kTexelBuffer,
  kStorageTexelBuffer
};
enum class ImageDim : uint8_t { k1d, k2d, k3d, kCube, kBuffer };
enum class ImageRole : uint8_t { kColor, kDepth, kStorage };
enum class Topology : uint8_t { kTriangleList };
enum class FrontFace : uint8_t { kClockwise, kCounterClockwise };
enum class ViewportY : uint8_t { kUp, kDown };
enum class DynamicState : uint8_t { kViewport, kScissor, kDepthBounds };
enum class OptionType : uint8_t { kFlag, kUint, kSint, kFloat };

// Spellings of the enumerators of E, in order. Defined for every enumeration above.
template <class E>
std::span<const std::string_view> NamesOf();

template <class E>
std::string_view NameOf(E value) {
  return NamesOf<E>()[static_cast<size_t>(value)];
}

// nullopt if no enumerator of E is spelled like that.
template <class E>
std::optional<E> FromName(std::string_view name) {
  const std::span<const std::string_view> names = NamesOf<E>();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return static_cast<E>(i);
    }
  }
  return std::nullopt;
}

// Components of one column, columns, and bytes of one component.
struct AttributeShape {
  uint32_t rows;
  uint32_t columns;
};
AttributeShape ShapeOf(AttributeClass kind);
uint32_t ItemSize(ItemFormat format);

// What a type of images says, as columns of image_types.def.
struct ImageTypeFacts {
  ImageDim dim;
  ImageRole role;
  bool arrayed, multisampled;
};
const ImageTypeFacts& FactsOf(ImageType type);

// Rows and columns of a parameter; a component takes four bytes, of h1 to h4 two.
AttributeShape ShapeOf(ParameterType type);

}  // namespace kiln::artifact
