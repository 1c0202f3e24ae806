// SPDX-License-Identifier: MIT
// Whether a conditional declaration is there at all is decided per variant, so a mention lists
// every visible candidate, innermost first, up to the first that is always there. The list is the
// same for all mentions between two declarations of the name: it is made once and kept with the
// innermost.
#include "compiler/front/rpl/visible_names.h"

namespace kiln::rpl {

ir::ListId VisibleNames::Candidates(uint32_t symbol) {
  const uint32_t entry = innermost_[symbol];
  if (entry == kNone) {
    return {};
  }
  // An entry outside of the innermost one never changes while this one is visible, so a list that
  // was made stays right.
  if (!visible_[entry].candidates.valid()) {
    context_.words.clear();
    bool hidden = false;  // by one that is always there
    for (uint32_t i = entry; i != kNone && !hidden; i = visible_[i].outer) {
      context_.words.push_back(visible_[i].local.value);
      hidden = !visible_[i].conditional;
    }
    visible_[entry].candidates = context_.builder.List(context_.words);
  }
  return visible_[entry].candidates;
}

void VisibleNames::Declare(uint32_t symbol, ir::LocalId local, ir::CexprId condition) {
  visible_.push_back({.symbol = symbol,
                      .outer = innermost_[symbol],
                      .local = local,
                      .conditional = condition != ir::kTrue,
                      .candidates = {}});
  innermost_[symbol] = static_cast<uint32_t>(visible_.size() - 1);
}

// Names leave in the opposite order of declaration, so each symbol gets back what it meant before.
void VisibleNames::CloseNames(size_t mark) {
  while (visible_.size() > mark) {
    innermost_[visible_.back().symbol] = visible_.back().outer;
    visible_.pop_back();
  }
}

}  // namespace kiln::rpl
