// SPDX-License-Identifier: MIT
// Private to the engine: what is known while one program is laid out. engine.cc has steps 1 to 5 of
// spec/layout 7.3, which give numbers; engine_records.h makes records of them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/layout/bytes.h"
#include "compiler/layout/engine/allocator.h"
#include "compiler/layout/engine/global_order.h"
#include "compiler/layout/engine/written.h"
#include "compiler/layout/program_layout.h"
#include "compiler/layout/split.h"

namespace kiln::layout {

inline constexpr Owner kGlobalsOwner = 0xfffffffeu;
inline constexpr std::string_view kGlobalsName = "<globals>";
// All pixel outputs together; those of different entry points may overlap.
inline constexpr Owner kOutputOwner = 0xfffffffdu;
inline constexpr Kind kBoundKinds[] = {Kind::kB, Kind::kT, Kind::kU, Kind::kS, Kind::kSlot};

// What is known of one item besides what was declared.
struct ItemState {
  Demands demands;
  std::optional<uint32_t> home;  // written; otherwise the default space
  // Start of the run in its home space, by kind, once it has one.
  struct Base {
    uint32_t space = 0;
    uint64_t index = 0;
  };
  std::array<std::optional<Base>, kKindCount> bases;
  std::optional<uint64_t> first_space;
  bool is_explicit = false;
  // An unbounded leaf that the author placed, by kind.
  std::array<std::optional<Base>, kKindCount> unbounded;

  uint64_t& count(Kind kind) { return demands.counts[static_cast<size_t>(kind)]; }
  std::optional<Base>& base(Kind kind) { return bases[static_cast<size_t>(kind)]; }
};

struct EngineState {
  EngineState(const Program& of, Types& its_types, ByteLayouts& their_bytes)
      : program(of), types(its_types), bytes(their_bytes) {}
  EngineState(const EngineState&) = delete;
  EngineState& operator=(const EngineState&) = delete;

  void Add(uint32_t order, Diagnostic diagnostic) {
    findings.Add(std::move(diagnostic), order, &items[order]);
  }
  Diagnostic About(uint32_t order, Code code) const {
    const Parameter& parameter = *items[order].parameter;
    return Make(code, parameter.where).With("name", parameter.name);
  }
  std::string_view NameOf(Owner owner) const {
    if (owner == kGlobalsOwner) {
      return kGlobalsName;
    }
    return owner == kOutputOwner ? "SV_Target" : items[owner].parameter->name;
  }
  bool NeedsBuffer(uint32_t order) const {
    return measured[order].demands.bytes && !items[order].bytes_elsewhere;
  }
  bool rpl() const { return program.policy == Policy::kRpl; }
  bool slots() const { return rpl() || !IsD3d(program.platform); }
  // What the implicit buffer takes in this space.
  Kind BufferKind(uint32_t space) const {
    return !slots() || (shifted() && ShiftOf(program.settings, Kind::kB, space)) ? Kind::kB
                                                                                 : Kind::kSlot;
  }
  bool shifted() const {
    return slots() && program.settings.vulkan_registers == VulkanRegisters::kShift;
  }

  const Program& program;
  Types& types;
  ByteLayouts& bytes;
  Findings findings;
  std::deque<Parameter> gathered;
  std::vector<Item> items;
  std::vector<ItemState> measured;  // by item
  ProgramLayout out;
};

}  // namespace kiln::layout
