// SPDX-License-Identifier: MIT
// Predeclared names of types: "vec3f", "mat4x3", "texture_depth_2d".
#pragma once

#include <optional>
#include <string_view>

#include "compiler/front/wgsl/sema/type.h"

namespace kiln::wgsl::front {

// What the name says of the type; the rest are template arguments.
struct TypeName {
  Type type;
  // Of vectors, matrices, atomics and sampled textures: the scalar is an argument.
  bool needs_scalar = false;
  // It is no type without arguments.
  bool needs_arguments = false;
};
std::optional<TypeName> FindTypeName(std::string_view name);

struct TexelFormat {
  std::string_view name;
  ir::ImageFormat format = ir::ImageFormat::kUnknown;
  ScalarKind channel = ScalarKind::kF32;
  bool read_write = false;
};
const TexelFormat* FindTexelFormat(std::string_view name);
std::optional<AddressSpace> FindAddressSpace(std::string_view name);
std::optional<AccessMode> FindAccessMode(std::string_view name);
// A word that means something as an argument of a type.
bool IsTypeWord(std::string_view name);

}  // namespace kiln::wgsl::front
