// SPDX-License-Identifier: MIT
// Places: pointers are made when something is loaded, stored or passed, never before.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

// The root of a place, and what lies behind it.
struct PlaceRoot {
  Ref id{};
  spv::StorageClass storage = spv::StorageClass::Function;
  TypeForm form = TypeForm::kPlain;
  bool writable = true;
  TypeForm whole = TypeForm::kPlain;  // of a buffer itself
  SymbolId parameter{};               // image or sampler parameter, else invalid
};
struct Place {
  PlaceRoot root{};
  ir::TypeId type{};
  std::span<const uint32_t> steps{};  // InstIds
  bool in_bounds = true;              // every step is constant
  bool non_uniform = false;           // invocations pick different items of an array of resources
  target::Needs indexing = 0;         // what that needs
  target::Needs dynamic = 0;          // a resource is picked by a variable, alike for all
  bool bounded = false;               // variable steps are clamped
  ir::TypeId root_type{};             // if there are steps
  uint32_t picks = 0;                 // leading steps that pick one buffer of an array
  uint32_t merged = 0;                // steps behind them that are one step into a block
  uint32_t member = 0;                // that step
};

Place PlaceOf(RegionLowering& region, ir::InstId id);
// What is known of the place in this block; until the next call.
PlaceCache::Entry& EntryOf(RegionLowering& region, const Place& place);
Ref PointerTo(RegionLowering& region, const Place& place);
// The buffer that a place lies in: a variable, or what the leading steps pick of an array of them.
Ref BlockOf(RegionLowering& region, const Place& place);
Ref LowerTemp(RegionLowering& region, ir::TypeId type);
Ref LowerLoad(RegionLowering& region, const ir::LoadInst& inst);
void LowerStore(RegionLowering& region, const ir::StoreInst& inst);

}  // namespace kiln::spirv
