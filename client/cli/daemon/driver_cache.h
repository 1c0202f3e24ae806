// SPDX-License-Identifier: MIT
// Where a Vulkan driver keeps compiled shaders of its own accord. kiln leaves that cache alone; who
// looks for what a start costs has to know it. See spec/pso 8.7
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace kiln::cli {

// A variable of the environment; empty if it is not set.
using Environment = std::function<std::string(const char* name)>;

// "in FOLDER", "switched off by NAME=VALUE", or "unknown for this driver". `driver_id`: VkDriverId.
std::string DriverCacheText(uint32_t driver_id, const Environment& environment);

}  // namespace kiln::cli
