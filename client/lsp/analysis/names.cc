// SPDX-License-Identifier: MIT
#include "client/lsp/analysis/names.h"

#include <algorithm>

#include "client/lsp/analysis/name_collector.h"

namespace kiln::lsp {

Names::Names(std::shared_ptr<const LinkedSources> program)
    : program_(std::move(program)), owners_(program_->program()) {
  NameCollector(*this).Run();
}

std::span<const Occurrence> Names::OfModule(uint32_t module) const {
  const auto [begin, end] = std::ranges::equal_range(occurrences_, module, {}, &Occurrence::module);
  return {begin, end};
}

const Occurrence* Names::At(uint32_t module, uint32_t offset) const {
  const std::span<const Occurrence> all = OfModule(module);
  // Occurrences do not overlap, so the last one that begins at or before the byte is the only one
  // that can cover it. A byte directly behind a name belongs to it: there the cursor stands while
  // one types.
  const auto behind = std::ranges::upper_bound(
      all, offset, {}, [](const Occurrence& one) { return one.bytes.begin; });
  if (behind == all.begin()) {
    return nullptr;
  }
  const Occurrence& found = *(behind - 1);
  if (offset <= found.bytes.end) {
    return &found;
  }
  return nullptr;
}

// A walk over the keys, which only rename and references do: once for each program, beside a walk
// over all of its occurrences.
std::optional<uint32_t> Names::FindKey(const std::string& key) const {
  const auto found = std::ranges::find(keys_, key);
  return found == keys_.end() ? std::nullopt
                              : std::optional(static_cast<uint32_t>(found - keys_.begin()));
}

std::string_view Names::TextAt(const Occurrence& occurrence) const {
  return TextOf(program_->source(occurrence.module).mended_text(), occurrence.bytes);
}

}  // namespace kiln::lsp
