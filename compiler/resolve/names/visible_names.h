// SPDX-License-Identifier: MIT
// Local names at a place of a function, read off its generic IR: for messages about a name that is
// not there.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/resolve/program.h"

namespace kiln::resolve {

struct VisibleNames {
  std::vector<ir::LocalId> visible;  // rows of the module, outermost first
  std::vector<ir::LocalId> others;   // declared later, or in a scope that is closed
};

// The instruction of `module` whose main or operator span is the row `span_number`, and that is of
// `kind`; kNoRow if there is none, or the place is none.
uint32_t FindInst(const Program& program, uint32_t module, uint32_t span_number, ir::InstKind kind);

// What can be mentioned where `inst` stands. Empty if it is in no function.
VisibleNames NamesAt(const Program& program, uint32_t module, uint32_t inst);

}  // namespace kiln::resolve
