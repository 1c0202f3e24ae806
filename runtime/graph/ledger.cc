// SPDX-License-Identifier: MIT
// Who used which bytes last: gives the first use of a chain its sources, in this frame and across
// frames. Spec: graph §6.8.3
#include <algorithm>
#include <bit>
#include <span>

#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

// What a chain takes over with its bytes.
struct Taken {
  Stages stages = 0;
  Accesses writes = 0;
  int32_t last = -1;
  bool outside = false;
  bool inside = false;
};

// The tiles of one class.
class Ledger {
 public:
  Ledger(PlanningScratch& scratch, uint32_t memory_class)
      : s_(scratch),
        index_(scratch.ledgers[memory_class]),
        buckets_(scratch.ledger_buckets.data() + index_.bucket) {}

  // Tiles for the segments, which are sorted, and for what lies between and after them.
  void Fill(std::span<const LedgerSegment> segments) {
    uint64_t end = 0;
    index_.first = static_cast<uint32_t>(s_.tiles.size());
    for (const LedgerSegment& segment : segments) {
      if (end < segment.begin) {
        Append(end, segment.begin, kNone);
      }
      Append(segment.begin, segment.end, static_cast<uint32_t>(s_.ledger_users.size()));
      s_.ledger_users.push_back({.stages = segment.stages,
                                 .writes = segment.writes,
                                 .last = segment.last,
                                 .chain = segment.chain,
                                 .age = segment.age});
      end = segment.end;
    }
    Append(end, ~uint64_t{0}, kNone);
    s_.tiles.back().after = kNone;
  }

  // Puts bytes into the hands of a user and collects who had them.
  Taken Take(uint64_t begin, uint64_t end, uint32_t user, std::vector<uint32_t>& sources) {
    Taken taken;
    const uint32_t first = Find(begin);
    Add(taken, s_.tiles[first].user, sources);
    uint32_t last = first;
    while (s_.tiles[last].end < end) {
      const uint32_t next = s_.tiles[last].after;
      if (last != first) {
        s_.spare_tiles.push_back(last);
      }
      last = next;
      Add(taken, s_.tiles[last].user, sources);
    }
    const LedgerTile rest = s_.tiles[last];
    uint32_t after = rest.after;
    if (end < rest.end && last != first) {  // the end of the last stays where it is
      s_.tiles[last].begin = end;
      after = last;
    } else if (end < rest.end) {
      after = Make({.begin = end, .end = rest.end, .user = rest.user, .after = rest.after});
      Point(s_.tiles[after], after);
    } else if (last != first) {
      s_.spare_tiles.push_back(last);
    }
    uint32_t own = first;
    if (s_.tiles[first].begin < begin) {  // and so does the begin of the first
      own = Make({});
      s_.tiles[first].end = begin;
      s_.tiles[first].after = own;
    }
    s_.tiles[own] = {.begin = begin, .end = end, .user = user, .after = after};
    Point(s_.tiles[own], own);
    return taken;
  }

  void Leave(std::vector<LedgerSegment>& segments) const {
    segments.clear();
    for (uint32_t index = index_.first; index != kNone; index = s_.tiles[index].after) {
      const LedgerTile& tile = s_.tiles[index];
      if (tile.user != kNone) {
        const LedgerUser& user = s_.ledger_users[tile.user];
        segments.push_back({.begin = tile.begin,
                            .end = tile.end,
                            .stages = user.stages,
                            .writes = user.writes,
                            .last = user.last,
                            .chain = user.chain,
                            .age = user.age});
      }
    }
  }

 private:
  void Append(uint64_t begin, uint64_t end, uint32_t user) {
    const auto tile = static_cast<uint32_t>(s_.tiles.size());
    s_.tiles.push_back({.begin = begin, .end = end, .user = user, .after = tile + 1});
    Point(s_.tiles.back(), tile);
  }

  uint32_t Make(const LedgerTile& tile) {
    if (s_.spare_tiles.empty()) {
      s_.tiles.push_back(tile);
      return static_cast<uint32_t>(s_.tiles.size()) - 1;
    }
    const uint32_t spare = s_.spare_tiles.back();
    s_.spare_tiles.pop_back();
    s_.tiles[spare] = tile;
    return spare;
  }

  uint32_t Find(uint64_t address) const {
    uint32_t tile = buckets_[address >> index_.shift];
    while (s_.tiles[tile].end <= address) {
      tile = s_.tiles[tile].after;
    }
    return tile;
  }

  void Add(Taken& taken, uint32_t index, std::vector<uint32_t>& sources) const {
    if (index == kNone) {
      return;
    }
    const LedgerUser& user = s_.ledger_users[index];
    taken.stages |= user.stages;
    taken.writes |= user.writes;
    taken.last = std::max(taken.last, user.last);
    if (user.chain == kNone) {
      taken.outside = true;
    } else {
      taken.inside = true;
      sources.push_back(user.chain);
    }
  }

  // Buckets whose first byte lies in the tile start at it.
  void Point(const LedgerTile& tile, uint32_t index) {
    const uint64_t last = std::min(tile.end, index_.top);
    for (uint64_t bucket = (tile.begin + (uint64_t{1} << index_.shift) - 1) >> index_.shift;
         bucket << index_.shift < last; ++bucket) {
      buckets_[bucket] = index;
    }
  }

  PlanningScratch& s_;
  LedgerIndex& index_;
  uint32_t* buckets_;
};

// What earlier frames left, a frame older. Frames that are no longer in flight are forgotten: the
// host has waited for them.
void AgeLedger(std::vector<LedgerSegment>& ledger) {
  for (LedgerSegment& segment : ledger) {
    segment.last = -1;
    segment.chain = kNone;
    ++segment.age;
  }
  std::erase_if(ledger, [](const LedgerSegment& segment) { return segment.age > kLedgerFrames; });
}

// About four chains share a bucket, of which few hold their bytes at a time.
void OpenLedgers(Planning& planning) {
  PlanningScratch& scratch = planning.scratch;
  std::vector<MemoryClass>& classes = planning.plan.next.classes;
  scratch.ledgers.assign(classes.size(), {});
  scratch.tiles.clear();
  scratch.spare_tiles.clear();
  scratch.ledger_users.resize(scratch.packed.size());
  for (size_t i = 0; i < classes.size(); ++i) {
    AgeLedger(classes[i].ledger);
    scratch.ledgers[i].top = classes[i].ledger.empty() ? 1 : classes[i].ledger.back().end;
  }
  for (size_t i = 0; i < scratch.packed.size(); ++i) {
    const PlanChain& chain = planning.plan.chains[scratch.packed[i].chain];
    scratch.ledger_users[i] = {.stages = chain.final_stages,
                               .writes = chain.final_writes,
                               .last = chain.last,
                               .chain = scratch.packed[i].chain,
                               .age = 0};
    LedgerIndex& ledger = scratch.ledgers[scratch.packed_class[i]];
    ledger.top = std::max(ledger.top, chain.address + chain.size);
    ++ledger.chains;
  }
  uint32_t buckets = 0;
  for (LedgerIndex& ledger : scratch.ledgers) {
    const auto want = static_cast<uint32_t>(std::bit_width(ledger.chains / 4)) + 1;
    const auto bits = static_cast<uint32_t>(std::bit_width(ledger.top));
    ledger.shift = bits > want ? bits - want : 0;
    ledger.bucket = buckets;
    buckets += static_cast<uint32_t>(ledger.top >> ledger.shift) + 1;
  }
  scratch.ledger_buckets.resize(buckets);
  for (uint32_t i = 0; i < classes.size(); ++i) {
    Ledger(scratch, i).Fill(classes[i].ledger);
  }
}

void SortByFirst(PlanningScratch& scratch, size_t positions) {
  scratch.marks.assign(positions + 1, 0);
  const auto first = [&](size_t item) {
    return static_cast<size_t>(scratch.first[scratch.packed[item].chain]);
  };
  for (size_t i = 0; i < scratch.packed.size(); ++i) {
    ++scratch.marks[first(i) + 1];
  }
  for (size_t i = 1; i < scratch.marks.size(); ++i) {
    scratch.marks[i] += scratch.marks[i - 1];
  }
  scratch.by_first.resize(scratch.packed.size());
  for (uint32_t i = 0; i < scratch.packed.size(); ++i) {
    scratch.by_first[scratch.marks[first(i)]++] = i;
  }
}

// The first entries of a chain's cells begin where the last users of its bytes end.
void GiveSources(Planning& planning, uint32_t chain, const Taken& taken, uint32_t alias_begin) {
  std::vector<Entry>& entries = planning.plan.entries;
  for (uint32_t i = planning.scratch.create_entry[chain];
       i < entries.size() && entries[i].chain == chain; ++i) {
    Entry& entry = entries[i];
    if (!entry.create) {
      continue;
    }
    entry.src_stages = taken.stages;
    entry.src_accesses = taken.writes;
    entry.lo = taken.last;
    int32_t& lo = planning.scratch.max_lo[static_cast<size_t>(entry.hi)];
    lo = std::max(lo, entry.lo);
    entry.outside = taken.outside;
    entry.reason = taken.inside ? Reason::kAlias : entry.reason;
    entry.alias_begin = alias_begin;
    entry.alias_end = static_cast<uint32_t>(planning.plan.alias_sources.size());
  }
}

}  // namespace

void RunLedger(Planning& planning) {
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  std::vector<uint32_t>& sources = plan.alias_sources;
  SortByFirst(scratch, plan.device_passes());
  OpenLedgers(planning);
  sources.clear();
  for (const uint32_t item : scratch.by_first) {
    const PlanChain& chain = plan.chains[scratch.packed[item].chain];
    const auto alias_begin = static_cast<uint32_t>(sources.size());
    const Taken taken = Ledger(scratch, chain.memory_class)
                            .Take(chain.address, chain.address + chain.size, item, sources);
    GiveSources(planning, scratch.packed[item].chain, taken, alias_begin);
  }
  for (uint32_t i = 0; i < plan.next.classes.size(); ++i) {
    Ledger(scratch, i).Leave(plan.next.classes[i].ledger);
  }
}

}  // namespace kiln::graph
