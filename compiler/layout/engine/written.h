// SPDX-License-Identifier: MIT
// Bindings as the author wrote them -> numbers of the target's kinds. See spec/layout 7.3, 7.5.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/layout/engine/global_order.h"

namespace kiln::layout {

// "t3": class and number. kPush stands for 'c', a place in the implicit buffer.
struct Register {
  Kind register_class = Kind::kT;
  uint64_t number = 0;
};
std::optional<Register> ParseRegister(std::string_view text);

// The shift of a register class in a space, if it has one.
std::optional<int64_t> ShiftOf(const Settings& settings, Kind register_class, uint32_t space);

// Adds to `item` what its parameter says for the target of the program. `order` is for findings.
void ReadWritten(const Program& program, const Types& types, uint32_t order, Item& item,
                 Findings& findings);

}  // namespace kiln::layout
