// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runtime/c/context.h"
#include "runtime/vk/device.h"

// A device; what is made with it keeps it.
struct kiln_device : kiln::c::Object {
  std::shared_ptr<kiln::runtime::Device> device;
  VkInstance instance = VK_NULL_HANDLE;
};
