// SPDX-License-Identifier: MIT
// Local names in view while a function is lowered. A name is visible from the end of its
// declaration to the end of its scope. See spec/rpl 8.5
#pragma once

#include <vector>

#include "compiler/front/rpl/lower_context.h"

namespace kiln::rpl {

class VisibleNames {
 public:
  explicit VisibleNames(LowerContext& context)
      : context_(context), innermost_(context.lexed.symbols.size(), kNone) {}

  // Invalid if there is none.
  ir::ListId Candidates(uint32_t symbol);
  void Declare(uint32_t symbol, ir::LocalId local, ir::CexprId condition);
  // A scope: what was declared since the mark goes out of view.
  size_t OpenNames() const { return visible_.size(); }
  void CloseNames(size_t mark);

 private:
  // Entries of one symbol form a chain, innermost first.
  struct Visible {
    uint32_t symbol;
    uint32_t outer;  // entry, or kNone
    ir::LocalId local;
    bool conditional;
    // This and those it hides, to the first that is always there; made when first asked for.
    ir::ListId candidates;
  };

  LowerContext& context_;
  std::vector<uint32_t> innermost_;  // by symbol: entry of visible_, kNone
  std::vector<Visible> visible_;
};

}  // namespace kiln::rpl
