// SPDX-License-Identifier: MIT
// The practical floor of emission: copy a finished module and renumber every id in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kiln::bench {

struct RelocatableModule {
  std::vector<uint32_t> words;
  std::vector<uint32_t> id_positions;
};

// Finds the words that hold ids. Requires: a valid module.
RelocatableModule FindIds(std::span<const uint32_t> words);

// Copies the module into `out` with every id replaced by ids[id]; returns the number of words.
size_t CopyAndRenumber(const RelocatableModule& module, std::span<const uint32_t> ids,
                       std::vector<uint32_t>& out);

}  // namespace kiln::bench
