// SPDX-License-Identifier: MIT
// What a target adds when everything has its number: the reserved bindings and groups of WebGPU,
// and the order that Vulkan wants of unbounded arrays. See spec/layout 5.5, 10.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/layout/engine/global_order.h"
#include "compiler/layout/program_layout.h"

namespace kiln::layout {

// Bindings from kFirstReserved to kPushBinding of every group are the engine's; the last one, in
// the last group, is that of push constants.
inline constexpr uint64_t kFirstReserved = 512;
inline constexpr uint64_t kPushBinding = 999;
inline constexpr uint32_t kMaxGroup = 3;

// `items` are those that out.parameters were made of, in the same order.
void FinishTarget(const Program& program, const Types& types, const std::vector<Item>& items,
                  Findings& findings, ProgramLayout& out);

}  // namespace kiln::layout
