// SPDX-License-Identifier: MIT
// Which types convert to which, how far apart they are, and what two operands have in common.
// See spec/hlsl 9.1 to 9.3
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/front/hlsl/sema/type.h"

namespace kiln::hlsl {

enum class Dialect : uint8_t { k2018, k2021 };

enum class ConversionKind : uint8_t {
  kNone,      // never
  kSame,      // the same value
  kNumeric,   // item by item
  kSplat,     // a scalar to a vector or matrix
  kTruncate,  // to fewer items, rows or columns: HLSL2011
  kReshape,   // vector of 4 and 2x2
  kFill,      // a scalar to every leaf of a struct or array: a cast
  kLeaves,    // an aggregate leaf by leaf: a cast
};

struct Conversion {
  ConversionKind kind = ConversionKind::kNone;
  bool implicit = false;
  bool reported = false;   // HLSL2011 although nothing is cut: structs of 2018
  uint8_t shape_rank = 3;  // 0 same, 1 splat, 2 truncation
  uint8_t item_rank = 3;   // spec/hlsl 9.4
  bool allowed_by_cast() const { return kind != ConversionKind::kNone; }
};
Conversion ConversionOf(const Types& types, TypeId from, TypeId to, Dialect dialect);

// How far an item is from another: 0 identical or a literal of its natural type, 1 wider, 2 int and
// uint, 3 any other.
uint8_t ItemRank(Item from, Item to);

enum class Purpose : uint8_t { kArithmetic, kChoice };  // booleans stay booleans in choices

Item CommonItem(Item a, Item b, Purpose purpose);

struct CommonType {
  TypeId type;
  bool truncates_left = false;
  bool truncates_right = false;
};
// Of two numeric types; nothing if their shapes do not meet.
std::optional<CommonType> CommonTypeOf(Types& types, TypeId left, TypeId right, Purpose purpose);

}  // namespace kiln::hlsl
