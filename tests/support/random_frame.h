// SPDX-License-Identifier: MIT
// Random frames for tests of the render graph: every pass type, creates, writes and reads in random
// layouts and ranges, imports in all states, histories, semaphores, uploads. See spec/graph 13.1,
// 14.1
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/graph_file.h"
#include "runtime/graph/plan.h"

namespace kiln::test {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL) {}
  uint64_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545F4914F6CDD1DULL >> 11;
  }
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(Next() % bound); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }

 private:
  uint64_t state_;
};

struct RandomFrameLimits {
  uint32_t min_passes = 2;
  uint32_t max_passes = 60;
  bool plain = false;  // device passes and whole transient textures in one read layout only
};

// Breaks no rule but possibly CYCLE.
graph::FrameDescription RandomFrame(uint64_t seed, const RandomFrameLimits& limits = {});
graph::PlanOptions RandomOptions(uint64_t seed);

// The frames of spec/graph 14.1: `passes` passes as a frame has them. Made up once, declared often.
struct TypicalFrame {
  struct Pass {
    uint32_t first_read = 0;
    uint32_t reads = 0;
    uint32_t first_texture = 0;
    uint32_t textures = 0;
  };
  std::vector<Pass> passes;
  std::vector<uint32_t> reads;  // textures
  std::vector<graph::TextureDesc> textures;
  std::vector<graph::TextureId> ids;  // of the frame that is declared
};
TypicalFrame MakeTypicalFrame(uint64_t seed, uint32_t passes);
void Declare(TypicalFrame& frame, graph::Graph& graph);

}  // namespace kiln::test
