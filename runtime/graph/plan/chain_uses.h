// SPDX-License-Identifier: MIT
// The live accesses of every chain in plan order, with all that their barriers depend on, and the
// lifetime of every chain. They lie side by side: later steps look at no access row in another
// order. O(accesses + chains). See spec/graph 6.6
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/plan/accesses.h"

namespace kiln::graph {

enum class UseKind : uint8_t { kRead, kWrite, kHost };
// A live access among those of its chain.
struct Use {
  Stages stages = 0;
  Accesses accesses = 0;
  uint32_t access = 0;
  int32_t position = -1;
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  UseKind kind = UseKind::kRead;
  bool forgets = false;  // old contents are not needed
  Origin origin = Origin::kUser;
};
static_assert(sizeof(Use) == 32);

struct ChainUseInputs {
  const Declarations& rows;
  const AccessFacts& facts;
  const PassAccesses& accesses;
  const LivePasses& passes;
  const PassOrder& order;
};

struct ChainUses {
  std::vector<uint32_t> begin;  // by chain, and one more: into uses
  std::vector<Use> uses;
  std::vector<int32_t> first;  // by chain: position of the first use on the device, or −1
  std::vector<int32_t> last;   // outputs are used to the end of the frame
  std::vector<uint32_t> next;  // scratch
};

// `chain_accesses` are the accesses of the uses.
void CollectUses(const ChainUseInputs& in, ChainUses& out, std::vector<uint32_t>& chain_accesses);

}  // namespace kiln::graph
