// SPDX-License-Identifier: MIT
// Places as text, loads and stores, and the names of handles. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compiler/emit/wgsl/lower/region_lowering.h"

namespace kiln::wgsl {

// A place as text, and what is atomic in it.
struct PlaceText {
  std::string text;
  ir::TypeId type{};
  std::span<const uint32_t> atomic{};  // leaves of the declaration that is its root
  uint32_t leaf = 0;                   // the first one of the place
  bool constant = false;               // never written
  bool reads = false;                  // a step of it does
  uint32_t depth = 0;
};
PlaceText PlaceOf(RegionLowering& region, ir::InstId id);
void LowerTemp(RegionLowering& region, ir::InstId id);
void LowerLoad(RegionLowering& region, ir::InstId id, const ir::LoadInst& inst);
void LowerStore(RegionLowering& region, const ir::StoreInst& inst);
// An image or sampler that is named by the program alone. `dynamic`: of an array, chosen by this
// value; then `text` is the name of the array.
struct HandleText {
  std::string text;
  ir::TypeId type{};
  uint32_t extent = 0;  // of the array
  bool dynamic = false;
  ir::InstId index{};
  ir::DeclId decl{};
};
HandleText HandleOf(RegionLowering& region, ir::InstId id);

}  // namespace kiln::wgsl
