// SPDX-License-Identifier: MIT
// What a region of a typed module decides before its text is made: names of its locals and of the
// interface, which locals only stand for an input, which values nobody needs, and which statements
// say what WGSL does anyway. All of it makes that text, read and written again, stays as it is.
// Private to this folder. See spec/wgsl 3.16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/emit/wgsl/typed/legal_names.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl {

class RegionLowering;

// A local that is the copy of an input: its row.
struct InputCopy {
  ir::LocalId local{};
  uint32_t row = 0;
};

struct TypedRegion {
  NameSet names;                     // of everything that the text may mention
  std::vector<std::string> io;       // by row of the interface
  std::vector<bool> io_used;         // by row: inputs that the text mentions
  std::vector<InputCopy> copies;     // locals that are not variables
  std::vector<ir::LocalId> touched;  // locals that the text mentions, in order
  std::vector<bool> left_out;        // by instruction: nothing is written for it
  std::vector<std::string> outputs;  // by row: what was stored last
  std::vector<ir::LocalId> exits;    // of loops and switches around the current place

  const InputCopy* CopyOf(ir::LocalId local) const;
  bool IsTouched(ir::LocalId local) const;
};

// Requires: the uses of values are counted.
void PrepareTyped(RegionLowering& region);

// The row of the interface that a place is, or its only item.
bool IsInterfacePlace(const ir::SpecialisedRegion& region, ir::InstId place, uint32_t& row);
// Whether a value is zero in all its parts.
bool IsZeroConstant(const ir::Pool& pool, ir::ConstId id);
bool IsZero(const ir::SpecialisedRegion& region, const ir::Pool& pool, ir::InstId value);
// Whether an instruction may be left out if nobody uses what it gives.
bool IsPure(const ir::Inst& inst);

}  // namespace kiln::wgsl
