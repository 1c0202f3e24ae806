// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/preprocess/macro_table.h"

#include <algorithm>

namespace kiln::hlsl {

// Equal as C means it: the same kind, the same parameters by number, the same tokens with
// spaces at the same places. Names of parameters do not matter here.
bool MacroTable::Equal(uint32_t row, uint32_t other) const {
  const Macro& a = macros_[row];
  const Macro& b = macros_[other];
  return row == other ||
         (a.kind == b.kind && a.is_variadic == b.is_variadic && a.parameters == b.parameters &&
          std::ranges::equal(Body(a), Body(b), [](const Token& x, const Token& y) {
            return x.kind == y.kind && x.symbol == y.symbol && x.flags == y.flags;
          }));
}

}  // namespace kiln::hlsl
