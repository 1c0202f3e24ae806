// SPDX-License-Identifier: MIT
// From numbers to records: the places of leaves, the implicit buffer, checks of what came out.
// Private to the engine. See spec/layout 7.3, step 6
#pragma once

#include <optional>
#include <vector>

#include "compiler/layout/engine/engine_state.h"

namespace kiln::layout {

class RecordWriter {
 public:
  // Requires: every item of `state`, which outlives the writer, has its numbers.
  explicit RecordWriter(EngineState& state)
      : state_(state),
        program_(state.program),
        types_(state.types),
        bytes_(state.bytes),
        findings_(state.findings),
        items_(state.items),
        measured_(state.measured),
        out_(state.out) {}

  // Fills state.out.parameters and state.out.globals. Once.
  void Write();

 private:
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

  EngineState& state_;
  const Program& program_;
  Types& types_;
  ByteLayouts& bytes_;
  Findings& findings_;
  std::vector<Item>& items_;
  std::vector<ItemState>& measured_;
  ProgramLayout& out_;
};

}  // namespace kiln::layout
