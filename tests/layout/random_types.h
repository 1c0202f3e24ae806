// SPDX-License-Identifier: MIT
// Random blocks of bytes: all scalar kinds, vectors, matrices of both orders, arrays and structs of
// depth 3. Equal seeds give equal types.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/layout/types.h"

namespace kiln::layout {

class RandomTypes {
 public:
  // Without 64-bit scalars no alignment is above 16.
  enum class Scalars : uint8_t { kAll, kNarrow };
  RandomTypes(Types& types, uint32_t seed, Scalars scalars = Scalars::kAll)
      : types_(types), random_(seed), scalars_(scalars) {}

  TypeId Block(int depth = 3) {
    std::vector<Member> members(1 + Below(6));
    for (size_t i = 0; i < members.size(); ++i) {
      members[i] = {.name = types_.Keep("m" + std::to_string(i)),
                    .type = Value(depth),
                    .order = Below(2) == 0 ? MatrixOrder::kRow : MatrixOrder::kDefault};
    }
    return types_.Struct(types_.Keep("s" + std::to_string(next_++)), members);
  }

  uint32_t Below(uint32_t limit) { return random_() % limit; }

 private:
  TypeId Value(int depth) {
    TypeId type = Item(depth);
    for (uint32_t dimensions = Below(4) == 0 ? 1 + Below(2) : 0; dimensions > 0; --dimensions) {
      type = types_.Array(type, 1 + Below(5));
    }
    return type;
  }
  TypeId Item(int depth) {
    switch (Below(depth > 1 ? 5 : 4)) {
      case 4:
        return Block(depth - 1);
      case 3:
        return types_.Matrix(Scalar(), 2 + Below(3), 2 + Below(3));
      default:
        return types_.Vector(Scalar(), 1 + Below(4));
    }
  }
  ScalarKind Scalar() {
    constexpr ScalarKind kScalars[] = {ScalarKind::kF32,  ScalarKind::kI32, ScalarKind::kU32,
                                       ScalarKind::kBool, ScalarKind::kF16, ScalarKind::kI16,
                                       ScalarKind::kU16,  ScalarKind::kI8,  ScalarKind::kU8,
                                       ScalarKind::kF64,  ScalarKind::kI64, ScalarKind::kU64};
    return kScalars[Below(scalars_ == Scalars::kAll ? 12 : 9)];
  }

  Types& types_;
  std::mt19937 random_;
  Scalars scalars_;
  uint32_t next_ = 0;
};

}  // namespace kiln::layout
