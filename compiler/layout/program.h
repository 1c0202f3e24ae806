// SPDX-License-Identifier: MIT
// What is laid out at once: the parameters of a program with every option resolved, the target and
// the settings. Front ends fill it in; texts are views that outlive it. See spec/layout 2, 3, 6.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/layout/attributes.h"
#include "compiler/layout/engine/allocator.h"
#include "compiler/layout/rules.h"
#include "compiler/layout/types.h"

namespace kiln::layout {

enum class Platform : uint8_t { kVulkan, kD3d12, kD3d11, kWebgpu };
inline constexpr Platform kPlatforms[] = {Platform::kD3d12, Platform::kD3d11, Platform::kVulkan,
                                          Platform::kWebgpu};
std::string_view PlatformName(Platform platform);  // "d3d12"
constexpr bool IsD3d(Platform platform) {
  return platform == Platform::kD3d12 || platform == Platform::kD3d11;
}

enum class Policy : uint8_t { kFirstFit, kRpl };
enum class VulkanRegisters : uint8_t { kIgnore, kDirect, kClasses, kShift };
enum class WebgpuArrays : uint8_t { kError, kSplit };
enum class WebgpuPush : uint8_t { kUniform, kImmediate };
enum class PackVariants : uint8_t { kPerVariant, kUnion };

// Slot = register + shift, for the registers of one class in one space, or in all.
struct Shift {
  Kind register_class = Kind::kB;
  std::optional<uint32_t> space;
  int64_t shift = 0;
};

struct FixedBinding {
  uint32_t index = 0;
  uint32_t space = 0;
};

// What is not set has the default of the target or policy.
struct Settings {
  std::optional<Rules> uniform_rules;
  std::optional<Rules> storage_rules;
  std::optional<Rules> push_rules;
  VulkanRegisters vulkan_registers = VulkanRegisters::kIgnore;
  std::vector<Shift> shifts;
  std::optional<FixedBinding> globals_binding;
  std::optional<WebgpuArrays> webgpu_arrays;
  WebgpuPush webgpu_push = WebgpuPush::kUniform;
  MatrixOrder matrix_order = MatrixOrder::kColumn;
  bool matrices_by_row = false;  // a matrix varying takes one location per row (HLSL)
  PackVariants pack_variants = PackVariants::kPerVariant;
  // WebGPU: the group of a set. Empty: the same number.
  std::vector<uint32_t> group_of_set;
  std::optional<uint32_t> uniform_limit;  // bytes
  std::optional<uint32_t> push_limit;
};

// register(t3, space1); without text register(space1). Applies to D3D and, if set so, to slots.
struct RegisterBinding {
  std::string_view text;
  std::optional<uint32_t> space;
};

// vk::binding(index, space), layout(set, binding), @group and @binding; without index only the
// space is written.
struct SlotBinding {
  std::optional<uint64_t> index;
  std::optional<uint32_t> space;
  std::optional<uint64_t> counter;  // of an append or consume buffer
};

enum class Role : uint8_t { kResource, kPush, kSpecialization };

struct Parameter {
  std::string_view name;
  TypeId type{};
  Role role = Role::kResource;
  // Policy rpl: order inside the module.
  uint8_t group = 0;
  bool may_alias = false;        // two such parameters may share numbers
  bool must_be_bound = false;    // SPIR-V: without set or binding it is an error
  bool absent = false;           // an option removed it; it keeps its numbers (`union`)
  std::optional<uint32_t> home;  // policy rpl: its set
  std::optional<Rules> rules{};  // of its block, written in the source
  std::vector<RegisterBinding> registers{};
  std::optional<SlotBinding> slot{};
  std::optional<uint32_t> spec_id{};
  Location where{};
};

enum class Direction : uint8_t { kIn, kOut };

// A varying of an entry point. A struct lists its fields when they have attributes of their own.
struct Varying {
  std::string_view name;
  TypeId type{};
  Direction direction = Direction::kIn;
  std::vector<Varying> fields{};
  std::optional<uint32_t> location{};
  std::string_view semantic;  // without its number
  uint32_t semantic_index = 0;
  std::string_view builtin;        // not empty: has no location
  std::string_view interpolation;  // "flat"; empty: none written
  Location where{};
};

// One parameter of an entry point, or its result.
struct EntryParameter {
  std::optional<Varying> varying;
  std::optional<Parameter> uniform;
};

struct EntryPoint {
  std::string_view name;
  std::string_view stage;
  std::vector<EntryParameter> parameters{};  // left to right, then the result
  // Names of the global push constants it sees; nothing: all of them.
  std::optional<std::vector<std::string_view>> pushes{};
  Location where{};
};

// A container of vertex data (spec/layout 4.8) or of varyings, of RPL.
enum class ContainerRole : uint8_t { kVertex, kInstance, kState, kColor };
struct Container {
  std::string_view name;
  ContainerRole role = ContainerRole::kVertex;
  std::vector<PackedField> fields{};
};

struct Unit {
  std::string_view name;
  std::vector<Parameter> parameters{};  // order of the preprocessed text
  std::vector<EntryPoint> entry_points{};
  std::vector<Container> containers{};
  bool imported = false;  // imported modules stand behind all units
};

struct Program {
  Platform platform = Platform::kVulkan;
  Policy policy = Policy::kFirstFit;
  Settings settings{};
  std::vector<Unit> units{};
};

// The rule sets of a program: what is set, else what the target has.
Rules UniformRules(const Program& program);
Rules StorageRules(const Program& program);
Rules PushRules(const Program& program);

}  // namespace kiln::layout
