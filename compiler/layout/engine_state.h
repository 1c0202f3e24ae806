// SPDX-License-Identifier: MIT
// Private to the engine: the state of laying out one program, step by step. engine.cc has steps 1
// to 5 of spec/layout 7.3, engine_records.cc what follows from them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/layout/allocator.h"
#include "compiler/layout/bytes.h"
#include "compiler/layout/global_order.h"
#include "compiler/layout/program_layout.h"
#include "compiler/layout/split.h"
#include "compiler/layout/written.h"

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

class EngineState {
 public:
  EngineState(const Program& program, Types& types, ByteLayouts& bytes)
      : program_(program), types_(types), bytes_(bytes) {}

  ProgramLayout Perform();

 private:
  void Measure(uint32_t order);
  void ReportSplit(uint32_t order);
  void MeasureAgain();
  SplitContext ContextOf(const Item& item) const;

  void Reserve(uint32_t order);
  void ReserveSpaces(uint32_t order, const WrittenNumber& written);
  void ReserveRun(uint32_t order, const WrittenNumber& written);
  bool ReserveUnbounded(uint32_t order, const WrittenNumber& written);
  void TakeCounterApart(uint32_t order, const WrittenNumber& written);

  void ReserveOutputs();
  void ReserveOutput(const Varying& varying);

  void ChooseDefaultSpace();
  void PlaceGlobals();
  void Allocate(uint32_t order);
  void AllocateSpaces(uint32_t order);
  void AllocateRun(uint32_t order, Kind kind);
  void NumberSpecializations();

  void Publish(uint32_t order);
  PlacedLeaf PublishLeaf(uint32_t order, Leaf& leaf);
  TypeId ContentOf(const Leaf& leaf) const;
  std::optional<Place> PlaceOf(uint32_t order, const Leaf& leaf, const LeafPart& part);
  void NumberShiftedBlocks(uint32_t order);
  Place Shifted(uint32_t order, Place place);
  void CheckReserved(uint32_t order, const Leaf& leaf, const PlacedLeaf& placed);
  void GatherGlobals();
  void CheckBlocks(uint32_t order);
  void CheckOverlapOfShifted();
  // A leaf whose slots are in the end those of a register class.
  bool IsShifted(uint32_t order, size_t leaf) const;
  std::optional<Rules> RulesOf(uint32_t order, const Leaf& leaf) const;
  void CheckPushes();
  void CheckOnePush();

  void Overlap(uint32_t order, Owner other, const Place& place);
  void Add(uint32_t order, Diagnostic diagnostic) {
    findings_.Add(std::move(diagnostic), order, &items_[order]);
  }
  Diagnostic About(uint32_t order, Code code) const {
    const Parameter& parameter = *items_[order].parameter;
    return Make(code, parameter.where).With("name", parameter.name);
  }
  std::string_view NameOf(Owner owner) const {
    if (owner == kGlobalsOwner) {
      return kGlobalsName;
    }
    return owner == kOutputOwner ? "SV_Target" : items_[owner].parameter->name;
  }
  bool NeedsBuffer(uint32_t order) const {
    return measured_[order].demands.bytes && !items_[order].bytes_elsewhere;
  }
  bool rpl() const { return program_.policy == Policy::kRpl; }
  bool slots() const { return rpl() || !IsD3d(program_.platform); }
  // What the implicit buffer takes in this space.
  Kind BufferKind(uint32_t space) const {
    return !slots() || (shifted() && ShiftOf(program_.settings, Kind::kB, space)) ? Kind::kB
                                                                                  : Kind::kSlot;
  }
  bool shifted() const {
    return slots() && program_.settings.vulkan_registers == VulkanRegisters::kShift;
  }

  const Program& program_;
  Types& types_;
  ByteLayouts& bytes_;
  Findings findings_;
  std::deque<Parameter> gathered_;
  std::vector<Item> items_;
  std::vector<ItemState> measured_;
  Allocator allocator_;
  uint32_t default_space_ = 0;
  bool need_buffer_ = false;
  ProgramLayout out_;
};

}  // namespace kiln::layout
