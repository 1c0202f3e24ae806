// SPDX-License-Identifier: MIT
// The numbers in a module that are of neither code nor declarations: what a layout or a setting of
// the variant says.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/code_object.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/layout.h"

namespace kiln::spirv {

inline constexpr std::string_view kWorkgroupSizes[] = {"workgroup_size_x", "workgroup_size_y",
                                                       "workgroup_size_z"};

inline uint32_t NumberOf(const LayoutRelocation& slot, const layout::Layout& layout) {
  switch (slot.kind) {
    case LayoutRelocationKind::kSet:
      return layout.PlacementOf(ir::DeclId{slot.row}).set;
    case LayoutRelocationKind::kBinding:
      return layout.PlacementOf(ir::DeclId{slot.row}).binding;
    case LayoutRelocationKind::kLocation:
      return layout.LocationOf(ir::MemberId{slot.row});
  }
  KILN_UNREACHABLE();
}

// Along one of kWorkgroupSizes.
inline uint32_t WorkgroupSize(const ir::SpecialisedProgram& variant, std::string_view axis) {
  uint32_t size = 1;
  for (const ir::SpecialisedSetting& setting : variant.settings) {
    size = setting.name == axis ? setting.bits : size;  // the last one wins
  }
  return size;
}

}  // namespace kiln::spirv
