// SPDX-License-Identifier: MIT
// A block as the flat list of values a program fills in: dotted names and offsets.
// See spec/rpl 12.2.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"

namespace kiln::metadata {

// A vector or matrix, or a fixed array of either. Numbers are bytes.
struct FlatParameter {
  std::string name;     // dotted
  ir::TypeId type{};    // of one item
  uint32_t offset = 0;  // from the start of the block, or of the tail item
  uint32_t item_count = 1;
  std::vector<uint32_t> dimensions{};  // outermost first
  uint32_t array_stride = 0;           // of the innermost dimension; 0 if not an array
  uint32_t matrix_stride = 0;          // 0 if not a matrix
  const ir::SpecialisedMember* member =
      nullptr;  // tags and origin; null if the variant has no record
};

struct FlatBlock {
  std::vector<FlatParameter> parameters{};
  // The runtime tail; an invalid type if there is none.
  ir::TypeId tail_type{};
  std::string tail_field{};                      // dotted path
  std::string tail_name{};                       // field name of a tail of structs, else empty
  std::vector<FlatParameter> tail_parameters{};  // of one item
};

// Requires: `block` is a live buffer or push constant of the variant, and fits 32 bits. Ends early
// when the names have more than `most` bytes; the list has some of its parameters then, whose names
// have more than that.
FlatBlock Flatten(const ir::SpecialisedProgram& variant, const ir::SpecialisedDecl& block,
                  layout::Rules rules, layout::TypeLayouts& types, uint64_t most);

}  // namespace kiln::metadata
