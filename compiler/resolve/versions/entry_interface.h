// SPDX-License-Identifier: MIT
// The interface of one entry point of a typed module: the variables through which it exchanges
// values with what is around it, and which part of a parameter or of the result each of them
// carries. Equal interfaces are one, so that a query may answer with a number.
// See docs/IR.md, "Entry points".
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/ir/specialised.h"

namespace kiln::resolve {

// A vector, matrix or array of those in a parameter or in the result.
struct InterfaceLeaf {
  static constexpr uint32_t kResult = ir::kNoRow;

  uint32_t parameter = kResult;   // row of the members of the signature
  std::vector<uint32_t> steps{};  // from the parameter or result to it: live members
  ir::TypeId type{};              // as it is declared
  uint32_t in = ir::kNoRow;       // row that it is loaded from
  uint32_t out = ir::kNoRow;      // row that it is stored to
  uint32_t first_item = 0;        // of a row that is an array of a built-in
  friend bool operator==(const InterfaceLeaf&, const InterfaceLeaf&) = default;
};

struct EntryInterface {
  uint32_t number = 0;  // from 1; decided when it is interned
  std::vector<ir::InterfaceRow> rows{};
  std::vector<InterfaceLeaf> leaves{};
  std::vector<uint32_t> unwritten{};  // outputs that only the next stage mentions
};

// Those of all variants of a program. Addresses are stable.
class EntryInterfaces {
 public:
  const EntryInterface* Intern(EntryInterface made);

 private:
  std::deque<EntryInterface> all_;
  InternIndex index_;
};

}  // namespace kiln::resolve
