// SPDX-License-Identifier: MIT
// Scalars as WGSL literals that read back to the same bits. See spec/wgsl 3.4.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/types.h"

namespace kiln::wgsl {

// Whether a literal can have these bits: infinities and values that are no number have none.
bool HasLiteral(ir::Scalar scalar, uint32_t bits);

// "1.5f", "-0.0f", "2.0h", "-5i", "7u", "true"; the smallest s1 is "i32(-2147483648)". Requires:
// HasLiteral.
std::string Literal(ir::Scalar scalar, uint32_t bits);

// The value of a finite half.
float HalfToFloat(uint32_t bits);

}  // namespace kiln::wgsl
