// SPDX-License-Identifier: MIT
// What a parameter uses of each kind, and the leaves that its resources are split into. A pure
// function of type, target and context; places are relative to the runs that assignment finds.
// See spec/layout 5.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/layout/program.h"

namespace kiln::layout {

// Numbers of one kind that a leaf takes.
struct LeafPart {
  Kind kind = Kind::kSlot;
  // 0: in the home space, from the start of the parameter's run. Otherwise in the group-th of the
  // parameter's own spaces, counted from 1.
  uint64_t group = 0;
  uint64_t offset = 0;
  uint64_t count = 1;
};

struct Leaf {
  std::string path;
  TypeId type{};                    // without arrays
  bool block = false;               // its element is a block of bytes that has this binding
  bool data = false;                // the constant buffer of a parameter block: "name{data}"
  bool in_block = false;            // of a parameter block with spaces of its own
  std::optional<uint64_t> counter;  // slot of its counter, if that is apart
  uint64_t items = 1;               // product of all arrays around it; kUnbounded
  uint32_t part_count = 0;
  std::array<LeafPart, 2> parts{};
  std::vector<uint64_t> strides;  // per array around it, outermost first, in items

  std::span<const LeafPart> used_parts() const { return std::span(parts).first(part_count); }
  std::span<LeafPart> used_parts() { return std::span(parts).first(part_count); }
};

enum class SplitFault : uint8_t {
  kNone,
  kTooMany,          // a count above the limit, or a type nested too deep
  kUnspecialised,    // a count is unknown
  kArray,            // array of resources
  kUnbounded,        // array without size
  kUnboundedSpaces,  // unsized array of parameter blocks
  kSubpass,          // subpass input
};

struct Demands {
  std::vector<Leaf> leaves;
  std::array<uint64_t, kKindCount> counts{};  // in the home space; never unbounded
  uint64_t spaces = 0;                        // whole spaces of its own
  bool bytes = false;                         // loose ones: they go to the implicit buffer
  SplitFault fault = SplitFault::kNone;
  std::string fault_path;

  // Needs spaces and nothing else.
  bool whole() const;
};

struct SplitContext {
  Platform platform = Platform::kVulkan;
  Policy policy = Policy::kFirstFit;
  Role role = Role::kResource;
  WebgpuArrays webgpu_arrays = WebgpuArrays::kError;
  WebgpuPush webgpu_push = WebgpuPush::kUniform;
  bool reserved_samplers = false;  // the sampler of a combined one has no slot (spec/layout 10.3)
  // Slot targets: register classes that are numbered apart (spec/layout 7.5), by Kind.
  std::array<bool, kKindCount> classes{};
};

// The limits of spec/layout 4.9 for a count and for the nesting of types.
inline constexpr uint64_t kMaxCount = 1u << 20;
inline constexpr uint32_t kMaxFirstFitDepth = 64;

// The register class of a resource or block; a combined texture also has a sampler.
Kind RegisterClassOf(const Type& type);

Demands Split(const Types& types, TypeId type, std::string_view name, const SplitContext& context);

}  // namespace kiln::layout
