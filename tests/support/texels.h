// SPDX-License-Identifier: MIT
// Texels of storage images as bytes and back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <vulkan/vulkan_core.h>

#include "tests/support/interpreter.h"

namespace kiln::oracle {

VkFormat FormatOf(ir::ImageFormat format);
bool HoldsFloats(ir::ImageFormat format);

// Requires: what the format can hold.
std::vector<std::byte> EncodeTexels(const StorageImage& image);
// Exact cells, but for normalised numbers, whose conversion rounds.
Value DecodeTexels(ir::ImageFormat format, std::span<const std::byte> bytes);

}  // namespace kiln::oracle
