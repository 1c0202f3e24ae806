// SPDX-License-Identifier: MIT
#include "client/cli/variant/view_pairs.h"

#include <algorithm>

namespace kiln::cli {

std::vector<ViewPair> PairsOf(const std::vector<RenderedView>& first,
                              const std::vector<RenderedView>& second) {
  std::vector<ViewPair> pairs;
  for (const RenderedView& one : first) {
    const auto other = std::ranges::find(second, one.view, &RenderedView::view);
    pairs.push_back({.view = one.view,
                     .first = one.text,
                     .second = other == second.end() ? std::string_view() : other->text});
  }
  for (const RenderedView& other : second) {
    if (std::ranges::find(first, other.view, &RenderedView::view) == first.end()) {
      pairs.push_back({.view = other.view, .first = {}, .second = other.text});
    }
  }
  return pairs;
}

}  // namespace kiln::cli
