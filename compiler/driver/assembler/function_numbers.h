// SPDX-License-Identifier: MIT
// Locals and regions by the function that they belong to and their place in it. Their numbers in a
// program shift when another function is edited; this name does not.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/ids.h"
#include "compiler/resolve/program.h"

namespace kiln::driver {

// Numbers of one kind, locals or regions.
class FunctionNumbering {
 public:
  // An item of a function: which one, in source order.
  struct Place {
    ir::DeclId function{};  // invalid: no function has it
    uint32_t index = 0;
  };

  // Requires: the items of a function are added in a row, in source order.
  void Add(ir::DeclId function, uint32_t number);
  Place PlaceOf(uint32_t number) const {
    return number < places_.size() ? places_[number] : Place{};
  }
  // kNoRow: the function has no such item.
  uint32_t NumberAt(Place place) const;

 private:
  struct Range {
    uint32_t first = 0, count = 0;
  };
  std::vector<Place> places_;      // by number
  std::vector<Range> functions_;   // by DeclId, into numbers_
  std::vector<uint32_t> numbers_;  // of all functions
};

struct FunctionNumbers {
  explicit FunctionNumbers(const resolve::Program& program);

  FunctionNumbering locals, regions;
};

// Numbers that no longer exist stand for their place until it exists again.
class RetiredNumbers {
 public:
  // The number in `after` of what had `number` in `before`.
  uint32_t Renumber(uint32_t number, const FunctionNumbering& before,
                    const FunctionNumbering& after);

 private:
  std::vector<FunctionNumbering::Place> places_;  // by number, from kFirst
};

}  // namespace kiln::driver
