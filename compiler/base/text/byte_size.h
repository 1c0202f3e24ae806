// SPDX-License-Identifier: MIT
// Sizes as people write them, on command lines, in manifests and in configurations alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln {

// "10", "10B", "10K", "10KB", "10KiB"; the same with M, G and T. A unit is 1,024 times the one
// before. Nothing for anything else, and for what does not fit into 64 bits.
std::optional<uint64_t> ReadByteSize(std::string_view text);

}  // namespace kiln
