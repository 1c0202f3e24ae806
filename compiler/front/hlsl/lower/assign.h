// SPDX-License-Identifier: MIT
// Assignments: the right side, the place, the store.
#pragma once

#include "compiler/front/hlsl/lower/place.h"

namespace kiln::hlsl {

struct Assignment {
  Place place;
  ir::InstId value;  // what the expression gives: of `i++` what was there before
};
// Requires: kAssign or kUpdate.
Assignment Assign(LowerContext& context, const Expr& expr);

// What kGiven means while a tree over it is lowered.
class GivenScope {
 public:
  GivenScope(LowerContext& context, ir::InstId first, ir::InstId second = {})
      : context_(context), saved_(context.given) {
    context.given = {first, second};
  }
  GivenScope(const GivenScope&) = delete;
  GivenScope& operator=(const GivenScope&) = delete;
  ~GivenScope() { context_.given = saved_; }

 private:
  LowerContext& context_;
  const std::array<ir::InstId, 2> saved_;
};

}  // namespace kiln::hlsl
