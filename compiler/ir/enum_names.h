// SPDX-License-Identifier: MIT
// The words of the text form for every enumeration of the IR: one table per enumeration, in the
// order of its enumerators. The size of a table is also the bound that VerifyIds checks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/ir/builtins.h"
#include "compiler/ir/module.h"
#include "compiler/ir/specialised.h"

namespace kiln::ir {

template <class Enum>
inline constexpr int kNames = 0;  // specialised below

#define KILN_NAMES(Enum, ...) \
  template <>                 \
  inline constexpr auto kNames<Enum> = std::to_array<std::string_view>({__VA_ARGS__})

KILN_NAMES(Scalar, "none", "f32", "u32", "s32", "bool", "f16", "f64", "s64", "u64", "s16", "u16");
KILN_NAMES(TypeKind, "void", "vector", "matrix", "array", "runtime_array", "struct", "sampler",
           "image", "named", "deferred", "declared", "sampled_image", "accel", "ray_query");
KILN_NAMES(ImageDim, "2d", "3d", "cube", "1d", "buffer", "subpass");
KILN_NAMES(ImageFormat, "unknown", "rgba32_float", "rgba16_float", "r32_float", "rgba8_unorm",
           "rgba8_snorm", "rgba32_sint", "rgba16_sint", "rgba8_sint", "r32_sint", "rgba32_uint",
           "rgba16_uint", "rgba8_uint", "r32_uint", "rg32_float", "rg16_float", "r11g11b10_float",
           "r16_float", "rgba16_unorm", "rgb10a2_unorm", "rg16_unorm", "rg8_unorm", "r16_unorm",
           "r8_unorm", "rgba16_snorm", "rg16_snorm", "rg8_snorm", "r16_snorm", "r8_snorm",
           "rg32_sint", "rg16_sint", "rg8_sint", "r16_sint", "r8_sint", "rgb10a2_uint", "rg32_uint",
           "rg16_uint", "rg8_uint", "r16_uint", "r8_uint", "r64_sint", "r64_uint");
KILN_NAMES(BinaryOp, "add", "sub", "mul", "div", "mod", "and", "or", "xor", "shift_left",
           "shift_right", "shift_right_arithmetic", "less", "greater", "less_equal",
           "greater_equal", "equal", "not_equal", "rem", "not_equal_ordered");
KILN_NAMES(UnaryOp, "negate", "not", "complement", "plus");
KILN_NAMES(LogicalOp, "and", "or");
KILN_NAMES(StageVariable, "position", "vertex_index", "instance_index", "frag_coord",
           "front_facing", "frag_depth", "global_id", "local_id", "local_index", "workgroup_id",
           "workgroup_count");
KILN_NAMES(Direction, "none", "in", "out");
KILN_NAMES(InstFlag, "precise", "relaxed", "non_uniform", "total", "saturating", "bounded");
KILN_NAMES(BranchHint, "none", "flatten", "dont_flatten");
KILN_NAMES(LoopHint, "none", "unroll", "dont_unroll");
KILN_NAMES(ImageOperand, "bias", "lod", "grad", "const_offset", "offset", "const_offsets", "sample",
           "min_lod", "sparse");
KILN_NAMES(AtomicOp, "load", "store", "add", "sub", "min", "max", "and", "or", "xor", "exchange",
           "compare_exchange");
KILN_NAMES(MemoryScope, "none", "device", "workgroup", "subgroup", "invocation");
KILN_NAMES(MemoryOrder, "relaxed", "acquire", "release", "acquire_release");
KILN_NAMES(MemoryKind, "workgroup", "buffer", "image");
KILN_NAMES(Stage, "vertex", "fragment", "compute");
KILN_NAMES(PipelineType, "graphics_classic", "compute");
KILN_NAMES(DeclKind, "constant", "setting", "struct", "container", "buffer", "push_constant",
           "sampler", "image", "function", "workgroup", "private", "entry");
KILN_NAMES(ContainerKind, "vertex_attributes", "instance_attributes", "state", "color_output");
KILN_NAMES(BufferKind, "uniform", "read_only_storage", "read_write_storage");
KILN_NAMES(ResourceSet, "pass", "material", "object", "shared");
KILN_NAMES(ImageAccess, "read_only", "write_only", "read_write");
KILN_NAMES(MemberKind, "field", "alias", "parameter");
KILN_NAMES(PackClass, "default", "float", "unorm", "snorm", "uint", "sint");
KILN_NAMES(Access, "in", "out", "in_out", "place");
KILN_NAMES(LocalKind, "param", "var", "alias", "exit", "leave");
KILN_NAMES(Interpolation, "smooth", "flat", "no_perspective", "centroid", "sample");
KILN_NAMES(Rate, "vertex", "instance");
KILN_NAMES(RuleSet, "std140", "std430", "scalar", "c", "d3d_cbuffer", "std140_relaxed",
           "std430_relaxed");
KILN_NAMES(ModuleRule, "names_hide_nothing", "nothing_behind_an_end", "expressions_have_effects",
           "functions_return", "reads_are_assigned", "entries_take_nothing",
           "vertex_writes_position", "one_function_per_name", "groups_order_the_interface");
KILN_NAMES(OptionScope, "global", "instance");
KILN_NAMES(OptionKind, "flag", "uint", "sint", "float", "enum");
KILN_NAMES(ValueKind, "flag", "uint", "sint", "float", "string", "failed");
KILN_NAMES(CexprOp, "literal", "name", "negate", "not", "complement", "plus", "add", "sub", "mul",
           "div", "mod", "and", "or", "xor", "shift_left", "shift_right", "less", "greater",
           "less_equal", "greater_equal", "equal", "not_equal", "logical_and", "logical_or",
           "convert", "select", "composite", "invalid");
KILN_NAMES(InvalidCexpr, "field_access", "index", "assignment", "call", "constructor_type",
           "constructor_count");
KILN_NAMES(Language, "rpl", "hlsl", "wgsl", "spirv");
KILN_NAMES(Influence, "layout", "settings", "code", "check", "specialization");  // by bit

#undef KILN_NAMES

template <>
inline constexpr auto kNames<ImageOp> = std::to_array<std::string_view>({
#define KILN_IMAGE_OP(op, name, operands, keywords) name,
#include "compiler/ir/image_ops.def"
});

template <>
inline constexpr auto kNames<AttributeKey> = std::to_array<std::string_view>({
#define KILN_ATTRIBUTE(key, name, a, b, owners) name,
#include "compiler/ir/attributes.def"
});

template <class Enum>
constexpr uint32_t CountOf() {
  return static_cast<uint32_t>(kNames<Enum>.size());
}
// Requires: an enumerator.
template <class Enum>
constexpr std::string_view NameOf(Enum value) {
  return kNames<Enum>[static_cast<size_t>(value)];
}
template <class Enum>
constexpr std::optional<Enum> FromName(std::string_view name) {
  for (size_t i = 0; i < kNames<Enum>.size(); ++i) {
    if (kNames<Enum>[i] == name) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

constexpr std::optional<InstKind> FindInstKind(std::string_view mnemonic) {
  for (size_t i = 0; i < std::size(kInstFacts); ++i) {
    if (kInstFacts[i].mnemonic == mnemonic) {
      return static_cast<InstKind>(i);
    }
  }
  return std::nullopt;
}
constexpr std::optional<Builtin> FindBuiltin(std::string_view name) {
  for (uint32_t i = 0; i < kBuiltinCount; ++i) {
    if (kBuiltinFacts[i].name == name) {
      return static_cast<Builtin>(i);
    }
  }
  return std::nullopt;
}

static_assert(CountOf<BinaryOp>() == static_cast<uint32_t>(BinaryOp::kNotEqualOrdered) + 1);
static_assert(CountOf<CexprOp>() == static_cast<uint32_t>(CexprOp::kInvalid) + 1);
static_assert(CountOf<TypeKind>() == static_cast<uint32_t>(TypeKind::kRayQuery) + 1);
static_assert(CountOf<ImageFormat>() == static_cast<uint32_t>(ImageFormat::kR64Uint) + 1);
static_assert(CountOf<StageVariable>() ==
              static_cast<uint32_t>(StageVariable::kWorkgroupCount) + 1);
static_assert(CountOf<DeclKind>() == static_cast<uint32_t>(DeclKind::kEntry) + 1);

}  // namespace kiln::ir
