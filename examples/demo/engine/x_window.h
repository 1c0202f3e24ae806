// SPDX-License-Identifier: MIT
// A window of an X server with a swapchain of its own, made anew when the window system says so.
#pragma once

#include <memory>

#include "examples/demo/engine/window.h"

namespace kiln::demo {

// What the instance and the device need for it.
inline constexpr const char* kWindowInstanceExtensions[] = {"VK_KHR_surface", "VK_KHR_xcb_surface"};
inline constexpr const char* kWindowDeviceExtensions[] = {"VK_KHR_swapchain"};

// The window of the display that DISPLAY names. The device outlives it.
// Errors: kUnavailable if there is no X server, or if the device cannot present to it.
Result<std::unique_ptr<Window>> OpenXWindow(runtime::Device& device, VkExtent2D extent);

}  // namespace kiln::demo
