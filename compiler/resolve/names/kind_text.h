// SPDX-License-Identifier: MIT
// How messages call a kind of thing.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/decls.h"
#include "compiler/ir/specialised.h"

namespace kiln::resolve {

std::string_view DeclKindText(const ir::Decl& decl);  // "uniform buffer", "state container"
std::string_view LocalKindText(ir::LocalKind kind);   // "argument", "alias", "variable"

// "the conditional of buffer". Requires: a kind of the interface, settings left out.
std::string_view ConditionText(ir::DeclKind kind);

// The text of a type in version 2, where the boolean has a name.
std::string BooleanText(const ir::Pool& pool, ir::TypeId type);

// "'a' -> 'b' -> 'a'" of a cycle that starts with its first item; a long one shows where it starts
// and where it closes.
template <class Items, class Text>
std::string ChainText(const Items& cycle, Text text) {
  constexpr size_t kShown = 8;  // at each end
  std::string chain;
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (i == kShown && cycle.size() > 2 * kShown) {
      chain += "... -> ";
      i = cycle.size() - kShown;
    }
    chain += text(cycle[i]) + " -> ";
  }
  return chain + text(cycle.front());
}

}  // namespace kiln::resolve
