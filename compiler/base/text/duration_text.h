// SPDX-License-Identifier: MIT
// Durations as people write them, on command lines, in manifests and in configurations alike.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/base/clock.h"

namespace kiln {

// "0", "500ms", "90s", "5m", "2h", "7d"; whole numbers only. Nothing for anything else, and for
// more than 1,000,000 hours, which a Duration still holds.
std::optional<Duration> ReadDuration(std::string_view text);

}  // namespace kiln
