// SPDX-License-Identifier: MIT
// The views of two things side by side.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/variant/inspect_views.h"

namespace kiln::cli {

struct ViewPair {
  std::string view;
  std::string_view first, second;  // empty: only the other has it
};

// In the order of the first; behind them what only the second has. The views must outlive them.
std::vector<ViewPair> PairsOf(const std::vector<RenderedView>& first,
                              const std::vector<RenderedView>& second);

}  // namespace kiln::cli
