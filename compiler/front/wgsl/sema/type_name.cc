// SPDX-License-Identifier: MIT
// Predeclared types by name, without a table of all spellings: vectors and matrices are taken
// apart, since they have 42 names, and everything else is in short tables that are searched in
// order. A name is asked for only if no scope has it.
#include "compiler/front/wgsl/sema/type_name.h"

namespace kiln::wgsl::front {
namespace {

// Scalars have neither arguments nor other spellings.
struct ScalarName {
  std::string_view name;
  ScalarKind kind;
};
constexpr ScalarName kScalars[] = {{"bool", ScalarKind::kBool},
                                   {"i32", ScalarKind::kI32},
                                   {"u32", ScalarKind::kU32},
                                   {"f32", ScalarKind::kF32},
                                   {"f16", ScalarKind::kF16}};

// A depth texture has no arguments, a sampled one the type of its texels, a storage texture its
// format and access.
struct Texture {
  std::string_view name;
  TextureClass of;
  TextureDim dim;
  bool needs_arguments;
};
constexpr Texture kTextures[] = {
    {"texture_1d", TextureClass::kSampled, TextureDim::k1d, true},
    {"texture_2d", TextureClass::kSampled, TextureDim::k2d, true},
    {"texture_2d_array", TextureClass::kSampled, TextureDim::k2dArray, true},
    {"texture_3d", TextureClass::kSampled, TextureDim::k3d, true},
    {"texture_cube", TextureClass::kSampled, TextureDim::kCube, true},
    {"texture_cube_array", TextureClass::kSampled, TextureDim::kCubeArray, true},
    {"texture_multisampled_2d", TextureClass::kMultisampled, TextureDim::k2d, true},
    {"texture_depth_2d", TextureClass::kDepth, TextureDim::k2d, false},
    {"texture_depth_2d_array", TextureClass::kDepth, TextureDim::k2dArray, false},
    {"texture_depth_cube", TextureClass::kDepth, TextureDim::kCube, false},
    {"texture_depth_cube_array", TextureClass::kDepth, TextureDim::kCubeArray, false},
    {"texture_depth_multisampled_2d", TextureClass::kDepthMultisampled, TextureDim::k2d, false},
    {"texture_storage_1d", TextureClass::kStorage, TextureDim::k1d, true},
    {"texture_storage_2d", TextureClass::kStorage, TextureDim::k2d, true},
    {"texture_storage_2d_array", TextureClass::kStorage, TextureDim::k2dArray, true},
    {"texture_storage_3d", TextureClass::kStorage, TextureDim::k3d, true},
};

constexpr TexelFormat kFormats[] = {
#define KILN_WGSL_FORMAT(name, enumerator, channel, read_write) \
  {name, ir::ImageFormat::k##enumerator, ScalarKind::k##channel, read_write == 1},
#include "compiler/front/wgsl/sema/texel_formats.def"
};

// Of `vec3f`: i32, u32, f32, f16.
std::optional<ScalarKind> ScalarOfSuffix(char suffix) {
  switch (suffix) {
    case 'i':
      return ScalarKind::kI32;
    case 'u':
      return ScalarKind::kU32;
    case 'f':
      return ScalarKind::kF32;
    case 'h':
      return ScalarKind::kF16;
    default:
      return std::nullopt;
  }
}
// WGSL has two to four rows and columns.
bool IsCount(char c) { return c >= '2' && c <= '4'; }

// vecN, matCxR, with or without the letter of a scalar.
// `vec3`, `vec3f`, `mat2x4h`. Without a letter the name is a generator: arguments or values say
// of what. Matrices have floats only.
std::optional<TypeName> FindVectorName(std::string_view name) {
  TypeName found;
  std::string_view rest;
  if (name.starts_with("vec") && name.size() >= 4 && IsCount(name[3])) {
    found.type = {.kind = TypeKind::kVector, .rows = static_cast<uint8_t>(name[3] - '0')};
    rest = name.substr(4);
  } else if (name.starts_with("mat") && name.size() >= 6 && IsCount(name[3]) && name[4] == 'x' &&
             IsCount(name[5])) {
    found.type = {.kind = TypeKind::kMatrix,
                  .rows = static_cast<uint8_t>(name[5] - '0'),
                  .columns = static_cast<uint8_t>(name[3] - '0')};
    rest = name.substr(6);
  } else {
    return std::nullopt;
  }
  if (rest.empty()) {
    found.needs_scalar = true;
    found.needs_arguments = true;
    return found;
  }
  const std::optional<ScalarKind> scalar = ScalarOfSuffix(rest[0]);
  if (rest.size() != 1 || !scalar.has_value() ||
      (found.type.kind == TypeKind::kMatrix && !IsFloat(*scalar))) {
    return std::nullopt;
  }
  found.type.scalar = *scalar;
  return found;
}

}  // namespace

// Predeclared types and generators of them (WGSL, "Predeclared Types and Type-Generators
// Summary"). Names of a source hide these; so scopes are asked before.
std::optional<TypeName> FindTypeName(std::string_view name) {
  for (const ScalarName& row : kScalars) {
    if (row.name == name) {
      return TypeName{.type = {.kind = TypeKind::kScalar, .scalar = row.kind}};
    }
  }
  if (std::optional<TypeName> vector = FindVectorName(name)) {
    return vector;
  }
  for (const Texture& row : kTextures) {
    if (row.name == name) {
      return TypeName{.type = {.kind = TypeKind::kTexture,
                               .scalar = ScalarKind::kF32,
                               .texture = row.of,
                               .dim = row.dim},
                      .needs_scalar = row.needs_arguments && row.of != TextureClass::kStorage,
                      .needs_arguments = row.needs_arguments};
    }
  }
  // A sampler is told from a comparing one by its count, as Type has no field of its own for
  // it.
  if (name == "sampler" || name == "sampler_comparison") {
    return TypeName{.type = {.kind = TypeKind::kSampler, .count = name == "sampler" ? 0u : 1u}};
  }
  if (name == "atomic") {
    return TypeName{
        .type = {.kind = TypeKind::kAtomic}, .needs_scalar = true, .needs_arguments = true};
  }
  if (name == "array" || name == "ptr") {
    return TypeName{.type = {.kind = name == "array" ? TypeKind::kArray : TypeKind::kPointer},
                    .needs_arguments = true};
  }
  return std::nullopt;
}

// WGSL, "Texel Formats".
const TexelFormat* FindTexelFormat(std::string_view name) {
  for (const TexelFormat& row : kFormats) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

// `handle` is no word of a source, so it is not among these.
std::optional<AddressSpace> FindAddressSpace(std::string_view name) {
  for (const AddressSpace space :
       {AddressSpace::kFunction, AddressSpace::kPrivate, AddressSpace::kWorkgroup,
        AddressSpace::kUniform, AddressSpace::kStorage}) {
    if (TextOf(space) == name) {
      return space;
    }
  }
  return std::nullopt;
}

// WGSL, "Memory Access Mode".
std::optional<AccessMode> FindAccessMode(std::string_view name) {
  for (const AccessMode mode : {AccessMode::kRead, AccessMode::kWrite, AccessMode::kReadWrite}) {
    if (TextOf(mode) == name) {
      return mode;
    }
  }
  return std::nullopt;
}

// Words that only mean something as arguments of a template list. Alone they are no values.
bool IsTypeWord(std::string_view name) {
  return FindTexelFormat(name) != nullptr || FindAddressSpace(name).has_value() ||
         FindAccessMode(name).has_value() || name == "bgra8unorm";
}

}  // namespace kiln::wgsl::front
