// SPDX-License-Identifier: MIT
// Turns the accesses of passes around, into the uses of each chain in plan order: what barriers,
// lifetimes and memory are made from. Linear, and the largest tables of planning, so it is written
// for the cache: fields are filled where they stay.
#include "runtime/graph/plan/chain_uses.h"

#include <numeric>

namespace kiln::graph {
namespace {

// Host accesses are one kind, whether they read or write: the host waits for the device itself.
UseKind KindOf(uint8_t bits) {
  static_assert(kWrites == 1 && kOnHost == 2);
  constexpr UseKind kKinds[] = {UseKind::kRead, UseKind::kWrite, UseKind::kHost, UseKind::kHost};
  return kKinds[bits & (kWrites | kOnHost)];
}

// Where the uses of every chain begin, without those of passes that were culled.
void CountUses(const Declarations& rows, const std::vector<uint8_t>& live,
               std::vector<uint32_t>& begin) {
  begin.assign(rows.chains.size() + 1, 0);
  for (const AccessRow& access : rows.accesses) {
    const uint32_t chain = rows.versions[access.version].chain;
    begin[chain + 1] += live[access.pass] != 0 ? 1 : 0;
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
}

// Puts the accesses of passes, which come in plan order, to those of their chains.
class UseSorter {
 public:
  UseSorter(const ChainUseInputs& in, ChainUses& out, std::vector<uint32_t>& chain_accesses)
      : accesses_(in.rows.accesses.data()),
        layouts_(in.accesses.layouts.data()),
        bits_(in.facts.bits.data()),
        versions_(in.rows.versions.data()),
        next_(out.next.data()),
        uses_(out.uses.data()),
        chain_accesses_(chain_accesses.data()) {}

  void Add(uint32_t index, int32_t position, Origin origin) {
    const AccessRow& access = accesses_[index];
    const uint32_t at = next_[versions_[access.version].chain]++;
    chain_accesses_[at] = index;
    // Rows are filled in place: a copy would wait for each field that was just written.
    Use& use = uses_[at];
    use.stages = access.stages;
    use.accesses = access.accesses;
    use.access = index;
    use.position = position;
    use.layout = layouts_[index];
    use.kind = KindOf(bits_[index]);
    use.forgets = (bits_[index] & kForgets) != 0;
    use.origin = origin;
  }

 private:
  const AccessRow* accesses_;
  const VkImageLayout* layouts_;
  const uint8_t* bits_;
  const VersionRow* versions_;
  uint32_t* next_;  // by chain
  Use* uses_;
  uint32_t* chain_accesses_;
};

// Passes are taken in plan order and their accesses put behind those of the same chain, so the uses
// of each chain come out in plan order: a counting sort whose counts are known from declaring.
void SortUses(const ChainUseInputs& in, ChainUses& out, std::vector<uint32_t>& chain_accesses) {
  if (in.passes.culled.empty()) {
    out.begin = in.facts.chain_begin;
  } else {
    CountUses(in.rows, in.passes.live, out.begin);
  }
  out.next = out.begin;
  out.uses.resize(out.begin.back());
  chain_accesses.resize(out.begin.back());
  UseSorter sorter(in, out, chain_accesses);
  for (const PlanPass& pass : in.order.order) {
    const int32_t position = in.order.positions[pass.pass];
    const Origin origin = in.rows.passes[pass.pass].origin;
    const uint32_t end = in.accesses.pass_begin[pass.pass + 1];
    for (uint32_t i = in.accesses.pass_begin[pass.pass]; i < end; ++i) {
      sorter.Add(in.accesses.pass_accesses[i], position, origin);
    }
  }
}

// The lifetime of each chain: from its first to its last use on the device. Uses by the host come
// before that.
void FindLifetimes(ChainUses& out) {
  const size_t chains = out.begin.size() - 1;
  out.first.resize(chains);
  out.last.resize(chains);
  for (size_t chain = 0; chain < chains; ++chain) {
    const Use* use = out.uses.data() + out.begin[chain];
    const Use* const end = out.uses.data() + out.begin[chain + 1];
    while (use != end && use->position < 0) {
      ++use;
    }
    out.first[chain] = use == end ? -1 : use->position;
    out.last[chain] = use == end ? -1 : (end - 1)->position;
  }
}

// Outputs keep their bytes until the frame has ended.
void ExtendOutputs(const ChainUseInputs& in, ChainUses& out) {
  const int32_t end = static_cast<int32_t>(in.order.device_passes()) - 1;
  for (const VersionRow& version : in.rows.versions) {
    if (version.output != 0 && out.first[version.chain] >= 0) {
      out.last[version.chain] = end;
    }
  }
}

}  // namespace

void CollectUses(const ChainUseInputs& in, ChainUses& out, std::vector<uint32_t>& chain_accesses) {
  SortUses(in, out, chain_accesses);
  FindLifetimes(out);
  ExtendOutputs(in, out);
}

}  // namespace kiln::graph
