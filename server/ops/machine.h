// SPDX-License-Identifier: MIT
// What this process uses of the machine, and how tight things are. See spec/daemon 5.5, 9.5
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kiln::ops {

uint64_t ResidentBytes();  // of this process; 0 if the system does not tell
uint64_t MemoryBytes();    // of the control group, else of the machine

// Lets this process have so many descriptors, or as many as the system allows, and never fewer than
// before. How many it may have now.
uint64_t RaiseDescriptorLimit(uint64_t wanted);

// Share of the last ten seconds in which some task waited for `resource` (cpu, memory, io), from 0
// to 1. Nothing where the kernel does not tell.
std::optional<double> Pressure(const std::string& resource);

}  // namespace kiln::ops
