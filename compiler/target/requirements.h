// SPDX-License-Identifier: MIT
// What a Vulkan device must offer for code with certain needs. See spec/rpl 12.1; spec/pso 6.9.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/target/capabilities.h"
#include "compiler/target/target.h"

namespace kiln::target {

// Names of members of the feature structures, in snake case, in alphabetical order.
std::vector<std::string_view> FeaturesOf(Needs needs);

// Device extensions that are not part of the version of the environment, in alphabetical order.
std::vector<std::string_view> DeviceExtensionsOf(Needs needs, Environment environment);

}  // namespace kiln::target
