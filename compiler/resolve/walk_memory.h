// SPDX-License-Identifier: MIT
// What the walk over one variant leaves for the walk over the next: versions of functions, closed
// settings, declarations of the interface that no option changes, and memory. It shows in nothing
// that comes out. Kept by the Units that the walks get their closed units from.
#pragma once

#include <map>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/resolve/answer_tree.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/reach.h"

namespace kiln::resolve {

struct WalkMemory {
  explicit WalkMemory(const Program& program);

  // One declaration of Program::interface() in the variant at hand, or in all if fixed.
  struct Interface {
    const ir::ClosedDecl* closed = nullptr;  // null: not live, or wrong
    bool fixed = false;
  };

  Reach reach;
  std::vector<Interface> interface;
  std::map<uint32_t, AnswerTree<Diagnosed<std::vector<ir::ClosedSetting>>>> settings;  // by outputs
  Bitset interface_reads, layout_reads, settings_reads, code_reads;
  Bitset settled;                     // members of containers
  std::vector<ir::DeclId> functions;  // of the entry points
  std::vector<ir::TypeId> pending;
};

}  // namespace kiln::resolve
