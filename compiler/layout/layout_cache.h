// SPDX-License-Identifier: MIT
// Layouts of many variants of one program. Sets, bindings and locations follow from which
// declarations are live; what lies inside of a buffer changes its size and no number. So the
// numbers are assigned once for each list of live declarations and taken again for all that differ
// in the content of blocks only. What comes out is what Assign makes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"
#include "compiler/target/target.h"

namespace kiln::layout {

class LayoutCache {
 public:
  // `types` must outlive the object; `target` is copied. Equal addresses of specialised
  // declarations must mean equal ones as long as it lives.
  LayoutCache(const target::Target& target, TypeLayouts& types) : target_(target), types_(types) {}

  // Requires and diagnostics: as Assign.
  Diagnosed<Layout> Assign(const ir::SpecialisedProgram& variant);

 private:
  using Key = std::vector<uint64_t>;
  struct CachedLayout {
    Key key;
    Layout layout;  // with the blocks of the variant that was first
  };

  void ReadKey(const ir::SpecialisedProgram& variant);
  // Nothing if a block deserves a message.
  std::optional<Layout> WithBlocks(const Layout& numbers, const ir::SpecialisedProgram& variant);

  const target::Target target_;
  TypeLayouts& types_;
  Key key_;  // of the variant in work
  std::vector<CachedLayout> known_;
  InternIndex index_;
};

}  // namespace kiln::layout
