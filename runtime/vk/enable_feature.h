// SPDX-License-Identifier: MIT
// Features by name, for who makes a device: what kiln itself needs, and switching one on.
#pragma once

#include <span>
#include <string_view>

#include "runtime/vk/features.h"

namespace kiln::vk {

// What kiln itself cannot do without, sorted.
std::span<const std::string_view> NeededFeatures();

// False, and nothing is changed, for a feature that kiln does not know.
bool EnableFeature(FeatureChain& features, std::string_view name);

}  // namespace kiln::vk
