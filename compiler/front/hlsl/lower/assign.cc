// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/lower/assign.h"

#include <utility>

#include "compiler/front/hlsl/lower/value.h"

namespace kiln::hlsl {

// spec/hlsl 10.3: the right side first, then the place, then load, operation, store. The place
// comes back with the value, since an assignment is a place that may be part of another one.
Assignment Assign(LowerContext& context, const Expr& expr) {
  if (expr.kind == ExprKind::kAssign) {
    const ir::InstId value = ValueOf(context, ExprId{expr.b});
    Place place = PlaceOf(context, ExprId{expr.a});
    Store(context, place, value);
    return {std::move(place), value};
  }
  const ir::InstId right = expr.c == kNoRow ? ir::InstId{} : ValueOf(context, ExprId{expr.c});
  Place place = PlaceOf(context, ExprId{expr.a});
  const ir::InstId old = Load(context, place);
  ir::InstId value;
  {
    // The value of an update is a tree over the old value and the right side, conversions and
    // all.
    const GivenScope given(context, old, right);
    value = ValueOf(context, ExprId{expr.b});
  }
  Store(context, place, value);
  return {std::move(place), expr.op == 0 ? value : old};
}

}  // namespace kiln::hlsl
