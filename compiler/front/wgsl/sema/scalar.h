// SPDX-License-Identifier: MIT
// Scalars that are known when the module is read, as words: integers in two's complement of 64
// bits, floats as the bits of a double whatever their width (every f32 and f16 is one), flags as 0
// and 1. Operations are exact in their own width: what does not fit is a fault, as the language
// says.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/front/wgsl/sema/type.h"

namespace kiln::wgsl::front {

using Word = uint64_t;

inline Word WordOf(double value) { return std::bit_cast<Word>(value); }
inline Word WordOf(int64_t value) { return static_cast<Word>(value); }
inline double FloatOf(Word word) { return std::bit_cast<double>(word); }
inline int64_t IntOf(Word word) { return static_cast<int64_t>(word); }

// A value of a width, or why there is none.
struct ScalarResult {
  Word word = 0;
  std::string_view fault;  // empty: fine

  bool ok() const { return fault.empty(); }
};

// The nearest value of the width; a fault if it is too large or no number.
ScalarResult RoundTo(ScalarKind kind, double value);
// An integer of the kind; a fault if it does not fit.
ScalarResult FitInt(ScalarKind kind, int64_t value);

// As conversions of abstract values have it: what does not fit is a fault.
ScalarResult ConvertExact(ScalarKind from, ScalarKind to, Word word);
// As `i32 (x)` has it: integers keep their bits, floats saturate.
ScalarResult ConvertValue(ScalarKind from, ScalarKind to, Word word);

// The bits of a scalar of the IR: 32 or 16 of them.
uint64_t BitsOf(ScalarKind kind, Word word);
// The other way. A fault if the bits are no finite number.
ScalarResult FromBits(ScalarKind kind, uint64_t bits);

// "-3", "1.5": for messages.
std::string TextOf(ScalarKind kind, Word word);

// The value of a literal of the source, and what it is. A fault if it does not fit.
struct Literal {
  ScalarKind kind = ScalarKind::kAbstractInt;
  ScalarResult value;
};
std::optional<Literal> ReadLiteral(std::string_view text);

}  // namespace kiln::wgsl::front
