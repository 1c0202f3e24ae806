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
      : tiles_(scratch.tiles),
        index_(scratch.ledgers[memory_class]),
        buckets_(scratch.ledger_buckets.data() + index_.bucket) {}

  // Tiles for the segments, which are sorted, and for what lies between and after them.
  void Fill(std::span<const LedgerSegment> segments) {
    uint64_t end = 0;
    index_.first = static_cast<uint32_t>(tiles_.size());
    const auto add = [&](const LedgerSegment& segment, bool used) {
      tiles_.push_back({.segment = segment, .after = Next(), .used = used});
      Point(segment.begin, segment.end, static_cast<uint32_t>(tiles_.size()) - 1);
      end = segment.end;
    };
    for (const LedgerSegment& segment : segments) {
      if (end < segment.begin) {
        add({.begin = end, .end = segment.begin}, false);
      }
      add(segment, true);
    }
    add({.begin = end, .end = ~uint64_t{0}}, false);
    tiles_.back().after = kNone;
  }

  uint32_t Find(uint64_t address) const {
    uint32_t tile = buckets_[address >> index_.shift];
    while (tiles_[tile].segment.end <= address) {
      tile = tiles_[tile].after;
    }
    return tile;
  }

  // Replaces [segment.begin, segment.end), which begins in the tile; what it cuts keeps its other
  // parts.
  void Overwrite(uint32_t tile, const LedgerSegment& segment) {
    if (tiles_[tile].segment.end > segment.end) {  // its end stays
      const uint32_t rest = AddAfter(tile, tiles_[tile]);
      tiles_[rest].segment.begin = segment.end;
      Point(segment.end, tiles_[rest].segment.end, rest);
      tiles_[tile].segment.end = segment.end;
    }
    uint32_t after = tiles_[tile].after;
    while (after != kNone && tiles_[after].segment.end <= segment.end) {
      after = tiles_[after].after;
    }
    if (after != kNone) {
      tiles_[after].segment.begin = segment.end;
    }
    uint32_t own = tile;
    if (tiles_[tile].segment.begin < segment.begin) {
      tiles_[tile].segment.end = segment.begin;
      own = AddAfter(tile, {});
    }
    tiles_[own] = {.segment = segment, .after = after, .used = true};
    Point(segment.begin, segment.end, own);
  }

  void Leave(std::vector<LedgerSegment>& segments) const {
    segments.clear();
    for (uint32_t tile = index_.first; tile != kNone; tile = tiles_[tile].after) {
      if (tiles_[tile].used) {
        segments.push_back(tiles_[tile].segment);
      }
    }
  }

 private:
  uint32_t Next() const { return static_cast<uint32_t>(tiles_.size()) + 1; }

  uint32_t AddAfter(uint32_t tile, LedgerTile added) {
    added.after = tiles_[tile].after;
    tiles_.push_back(added);
    tiles_[tile].after = static_cast<uint32_t>(tiles_.size()) - 1;
    return tiles_[tile].after;
  }

  // Buckets whose first byte lies in [begin, end) start at the tile.
  void Point(uint64_t begin, uint64_t end, uint32_t tile) {
    const uint64_t last = std::min(end, index_.top);
    for (uint64_t bucket = (begin + (uint64_t{1} << index_.shift) - 1) >> index_.shift;
         bucket << index_.shift < last; ++bucket) {
      buckets_[bucket] = tile;
    }
  }

  std::vector<LedgerTile>& tiles_;
  LedgerIndex& index_;
  uint32_t* buckets_;
};

// Collects the users of [begin, end); the tile holds `begin`.
Taken TakeOver(Planning& planning, uint32_t tile, uint64_t end) {
  Taken taken;
  for (; tile != kNone && planning.scratch.tiles[tile].segment.begin < end;
       tile = planning.scratch.tiles[tile].after) {
    const LedgerSegment& segment = planning.scratch.tiles[tile].segment;
    if (!planning.scratch.tiles[tile].used) {
      continue;
    }
    taken.stages |= segment.stages;
    taken.writes |= segment.writes;
    taken.last = std::max(taken.last, segment.last);
    taken.outside = taken.outside || segment.chain == kNone;
    if (segment.chain != kNone) {
      taken.inside = true;
      planning.plan.alias_sources.push_back(segment.chain);
    }
  }
  return taken;
}

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

// About sixteen chains share a bucket, of which one or two hold their bytes at a time.
void OpenLedgers(Planning& planning) {
  PlanningScratch& scratch = planning.scratch;
  std::vector<MemoryClass>& classes = planning.plan.next.classes;
  scratch.ledgers.assign(classes.size(), {});
  scratch.tiles.clear();
  for (size_t i = 0; i < classes.size(); ++i) {
    AgeLedger(classes[i].ledger);
    scratch.ledgers[i].top = classes[i].ledger.empty() ? 1 : classes[i].ledger.back().end;
  }
  for (const uint32_t index : scratch.by_first) {
    const PlanChain& chain = planning.plan.chains[index];
    LedgerIndex& ledger = scratch.ledgers[chain.memory_class];
    ledger.top = std::max(ledger.top, chain.address + chain.size);
    ++ledger.chains;
  }
  uint32_t buckets = 0;
  for (LedgerIndex& ledger : scratch.ledgers) {
    const auto want = static_cast<uint32_t>(std::bit_width(ledger.chains / 16)) + 1;
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

void SortByFirst(Planning& planning) {
  const Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  scratch.marks.assign(plan.device_passes() + 1, 0);
  for (const PlanChain& chain : plan.chains) {
    if (chain.place == Place::kPacked) {
      ++scratch.marks[static_cast<size_t>(chain.first) + 1];
    }
  }
  for (size_t i = 1; i < scratch.marks.size(); ++i) {
    scratch.marks[i] += scratch.marks[i - 1];
  }
  scratch.by_first.resize(scratch.marks.back());
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    if (plan.chains[i].place == Place::kPacked) {
      scratch.by_first[scratch.marks[static_cast<size_t>(plan.chains[i].first)]++] = i;
    }
  }
}

}  // namespace

void RunLedger(Planning& planning) {
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  SortByFirst(planning);
  OpenLedgers(planning);
  plan.alias_sources.clear();
  scratch.create_entry.assign(plan.chains.size(), kNone);
  for (uint32_t i = static_cast<uint32_t>(scratch.entries.size()); i-- > 0;) {
    if (scratch.entries[i].create) {
      scratch.create_entry[scratch.entries[i].chain] = i;
    }
  }
  for (const uint32_t index : scratch.by_first) {
    const PlanChain& chain = plan.chains[index];
    Ledger ledger(scratch, chain.memory_class);
    const uint32_t tile = ledger.Find(chain.address);
    const auto alias_begin = static_cast<uint32_t>(plan.alias_sources.size());
    const Taken taken = TakeOver(planning, tile, chain.address + chain.size);
    for (uint32_t i = scratch.create_entry[index];
         i < scratch.entries.size() && scratch.entries[i].chain == index; ++i) {
      Entry& entry = scratch.entries[i];
      if (!entry.create) {
        continue;
      }
      entry.src_stages = taken.stages;
      entry.src_accesses = taken.writes;
      entry.lo = taken.last;
      int32_t& lo = scratch.max_lo[static_cast<size_t>(entry.hi)];
      lo = std::max(lo, entry.lo);
      entry.outside = taken.outside;
      entry.reason = taken.inside ? Reason::kAlias : entry.reason;
      entry.alias_begin = alias_begin;
      entry.alias_end = static_cast<uint32_t>(plan.alias_sources.size());
    }
    ledger.Overwrite(tile, {.begin = chain.address,
                            .end = chain.address + chain.size,
                            .stages = chain.final_stages,
                            .writes = chain.final_writes,
                            .last = chain.last,
                            .chain = index,
                            .age = 0});
  }
  for (uint32_t i = 0; i < plan.next.classes.size(); ++i) {
    Ledger(scratch, i).Leave(plan.next.classes[i].ledger);
  }
}

}  // namespace kiln::graph
