// SPDX-License-Identifier: MIT
#include "cache/pack/sections.h"

#include <algorithm>
#include <utility>

namespace kiln::pack {

Bytes RawSection(const Tables& tables, SectionKind kind) {
  if (std::optional<RowSection> rows = RowSectionOf(tables, kind); rows.has_value()) {
    return std::move(rows->columns);
  }
  const auto found = std::find_if(tables.raw.begin(), tables.raw.end(),
                                  [&](const auto& section) { return section.first == kind; });
  return found == tables.raw.end() ? Bytes() : found->second;
}

}  // namespace kiln::pack
