// SPDX-License-Identifier: MIT
#include "compiler/driver/assembler/function_numbers.h"

namespace kiln::driver {
namespace {

constexpr uint32_t kFirstRetired = 0x80000000u;  // no program has so many locals

}  // namespace

void FunctionNumbering::Add(ir::DeclId function, uint32_t number) {
  if (function.value >= functions_.size()) {
    functions_.resize(function.value + size_t{1});
  }
  // Numbers of one function are added one after the other, so a range says where they are.
  Range& range = functions_[function.value];
  if (range.count == 0) {
    range.first = static_cast<uint32_t>(numbers_.size());
  }
  if (number >= places_.size()) {
    places_.resize(number + size_t{1});
  }
  places_[number] = {.function = function, .index = range.count++};
  numbers_.push_back(number);
}

uint32_t FunctionNumbering::NumberAt(Place place) const {
  if (!place.function.valid() || place.function.value >= functions_.size()) {
    return ir::kNoRow;
  }
  const Range& range = functions_[place.function.value];
  return place.index < range.count ? numbers_[range.first + place.index] : ir::kNoRow;
}

// Rows of all modules in order: regions and their locals get their place in their function, which
// no edit of another function changes.
FunctionNumbers::FunctionNumbers(const resolve::Program& program) {
  for (uint32_t ordinal = 0; ordinal < program.modules().size(); ++ordinal) {
    const ir::ModuleView& module = program.module(ordinal);
    for (uint32_t row = 0; row < module.regions.size(); ++row) {
      const ir::Region& region = module.regions[row];
      const ir::DeclId function{program.bases(ordinal).decl + region.function.value};
      regions.Add(function, program.Wide(ordinal, ir::RegionId{row}).value);
      for (const uint32_t local : module.List(region.locals)) {
        locals.Add(function, program.Wide(ordinal, ir::LocalId{local}).value);
      }
    }
  }
}

// A number whose function or place is gone is retired: it gets one that no program has, and its
// place is remembered. If a later edit brings the place back, so comes its number.
uint32_t RetiredNumbers::Renumber(uint32_t number, const FunctionNumbering& before,
                                  const FunctionNumbering& after) {
  const bool retired = number >= kFirstRetired;
  const FunctionNumbering::Place place =
      retired ? places_[number - kFirstRetired] : before.PlaceOf(number);
  if (!place.function.valid()) {
    return number;
  }
  const uint32_t now = after.NumberAt(place);
  if (now != ir::kNoRow || retired) {
    return now != ir::kNoRow ? now : number;
  }
  places_.push_back(place);
  return kFirstRetired + static_cast<uint32_t>(places_.size() - 1);
}

}  // namespace kiln::driver
