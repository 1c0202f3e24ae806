// SPDX-License-Identifier: MIT
// Statements of a function, and how control leaves them. See spec/wgsl 5.5
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// Ways in which control leaves statements: bits.
enum class Way : uint8_t { kNext = 1, kBreak = 2, kContinue = 4, kReturn = 8 };

struct CheckedBody {
  StmtId body;
  uint8_t ways = 0;
};
// The body of the context's function; its parameters are declared in the scope that is open.
CheckedBody CheckBody(CheckContext& context, syntax::StmtId body);

}  // namespace kiln::wgsl::front
