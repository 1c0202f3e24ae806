// SPDX-License-Identifier: MIT
// Functions of a device that kiln does not call itself, for callers without a loader of their own.
#pragma once

#include "runtime/vk/table.h"

namespace kiln::vk {

// Null if the device has none of that name. Requires: LoadInstance of the device's instance.
PFN_vkVoidFunction DeviceFunction(VkDevice device, const char* name);

}  // namespace kiln::vk
