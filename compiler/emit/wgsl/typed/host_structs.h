// SPDX-License-Identifier: MIT
// Structs that lie in buffers: which members need a size so that WGSL puts the next one where the
// layout has it. WGSL has one declaration for a struct, whatever it is used for, so all buffers
// must agree. See spec/wgsl 3.8, 3.16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/emit/wgsl/types.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/rules.h"

namespace kiln::wgsl {

class HostStructs {
 public:
  HostStructs(Types& types, layout::TypeLayouts& layouts) : types_(types), layouts_(layouts) {}

  // What a buffer holds, and all that is in it. False: WGSL cannot say it.
  bool Add(ir::TypeId type, layout::Rules rules);

  // "struct name {…}", with the atomic leaves of a variable from `first` on.
  std::string Text(const std::string& name, ir::TypeId type, std::span<const uint32_t> atomic,
                   uint32_t first);

 private:
  struct Place {  // as WGSL has it
    uint64_t size = 0, alignment = 1;
  };
  struct Row {
    ir::TypeId type{};
    Place place{};
    std::vector<uint64_t> offsets;
    std::vector<uint64_t> sizes;  // of members that need one; else zero
  };

  bool PlaceOf(ir::TypeId type, layout::Rules rules, Place& place);
  bool AddStruct(ir::TypeId type, layout::Rules rules, Place& place);

  Types& types_;
  layout::TypeLayouts& layouts_;
  std::vector<Row> rows_;
};

}  // namespace kiln::wgsl
