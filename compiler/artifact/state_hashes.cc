// SPDX-License-Identifier: MIT
// The key is the runs of the state one behind the other, each behind its size, so that runs which
// are cut elsewhere are another key. A look-up costs a copy, a process hash and a comparison of
// some hundred bytes, a tenth of what SHA-256 takes.
#include "compiler/artifact/state_hashes.h"

#include <algorithm>

#include "compiler/artifact/state_hash.h"

namespace kiln::artifact {

Hash128 StateHashes::Of(ByteView metadata) {
  if (!FindStateRuns(metadata, runs_)) {
    return StateHash(metadata);
  }
  state_.clear();
  for (const ByteView run : runs_) {
    AppendLittle(state_, uint64_t{run.size()});
    Append(state_, run);
  }
  const uint64_t hash = Hash64(state_);
  const uint32_t known = index_.Find(hash, [&](uint32_t i) {
    return std::ranges::equal(ByteView(bytes_).subspan(rows_[i].first, rows_[i].size), state_);
  });
  if (known != InternIndex::kFree) {
    return rows_[known].hash;
  }
  const Hash128 made = StateHash(metadata);
  if (bytes_.size() + state_.size() <= kMostBytes) {
    index_.FindOrAdd(
        hash, [](uint32_t) { return false; },
        [&] {
          rows_.push_back({.first = bytes_.size(), .size = state_.size(), .hash = made});
          Append(bytes_, state_);
          return static_cast<uint32_t>(rows_.size() - 1);
        });
  }
  return made;
}

}  // namespace kiln::artifact
