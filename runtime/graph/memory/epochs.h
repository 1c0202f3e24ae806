// SPDX-License-Identifier: MIT
// The epochs in which chains hold their bytes: the positions between two barrier points, so that
// whoever takes over bytes always finds a point to wait at. Points are added while they save
// memory. O((c + e) log e) for c added points and e epochs, times the number of memory classes. See
// spec/graph 6.8.1
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/memory/pack_attempt.h"

namespace kiln::graph {

// Positions [begin, end) without a barrier point inside, and the bytes that chains hold in it.
struct Epoch {
  uint64_t sum = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Sizes of chains that begin (starts) and end (stops) before a position, and the epochs with the
// bytes that the chains hold in them, the largest first. Those of a memory class, or of all.
struct EpochLoad {
  std::vector<uint64_t> starts;
  std::vector<uint64_t> stops;
  std::vector<Epoch> heap;
  uint64_t peak_live = 0;
};

struct EpochInputs {
  std::span<const PackItem> packed;  // with positions for epochs
  size_t classes;
  uint32_t positions;
  uint32_t budget;  // points that may be added
};

struct Epochs {
  std::vector<uint32_t> of_position;
  EpochLoad load;  // of all chains that share memory
  uint64_t peak_epoch = 0;
  std::vector<EpochLoad> loads;  // scratch, by memory class, if there are several
  std::vector<uint32_t> ends;    // by position: where the epoch that begins there ends
};

// Adds points to `chosen`, which is by position, and numbers the epochs between all of them.
void SplitEpochs(const EpochInputs& in, std::vector<uint8_t>& chosen, Epochs& out);

}  // namespace kiln::graph
