// SPDX-License-Identifier: MIT
// The bytes of a class are a list of tiles in the order of addresses, and an index of buckets of
// equal size that says in which tile the first byte of each lies. A chain that takes its bytes cuts
// the tiles at its ends and replaces what is between. Tiles are rows of one array; those that are
// replaced are used again.
#include "runtime/graph/memory/ledger.h"

#include <algorithm>
#include <bit>
#include <span>

namespace kiln::graph {
namespace {

// The uses that a chain takes over with its bytes.
struct FormerUses {
  Stages stages = 0;
  Accesses writes = 0;
  int32_t last = -1;
  bool outside = false;
  bool inside = false;
};

// The tiles of all classes.
class Ledger {
 public:
  // Requires: the tiles that the classes start with, and room for two more by chain.
  explicit Ledger(LedgerScratch& scratch)
      : tiles_(scratch.tiles.data()),
        users_(scratch.users.data()),
        buckets_(scratch.buckets.data()),
        classes_(scratch.classes.data()) {}

  // Tiles for the segments, which are sorted, and for what lies between and after them. Users of
  // earlier frames are numbered from `user`.
  void Fill(uint32_t memory_class, std::span<const LedgerSegment> segments, uint32_t user) {
    LedgerIndex& index = classes_[memory_class];
    uint64_t end = 0;
    index.first = made_;
    for (const LedgerSegment& segment : segments) {
      if (end < segment.begin) {
        Append(index, end, segment.begin, kNone);
      }
      Append(index, segment.begin, segment.end, user);
      users_[user++] = {.stages = segment.stages,
                        .writes = segment.writes,
                        .last = segment.last,
                        .chain = segment.chain,
                        .age = segment.age};
      end = segment.end;
    }
    // Behind the last segment everything is nobody's, without end.
    Append(index, end, ~uint64_t{0}, kNone);
    tiles_[made_ - 1].after = kNone;
  }

  // Assigns bytes to a user and collects their previous users. Tiles that lie inside are replaced,
  // those at the ends are cut. Every call makes at most two tiles more than it removes, so the room
  // that the ledger was given is always enough; a call costs the number of users it takes over
  // from.
  FormerUses Take(uint32_t memory_class, uint64_t begin, uint64_t end, uint32_t user,
                  std::vector<uint32_t>& sources) {
    const LedgerIndex& index = classes_[memory_class];
    FormerUses taken;
    const uint32_t first = Find(index, begin);
    Add(taken, tiles_[first].user, sources);
    uint32_t last = first;
    while (tiles_[last].end < end) {
      const uint32_t next = tiles_[last].after;
      if (last != first) {
        Spare(last);
      }
      last = next;
      Add(taken, tiles_[last].user, sources);
    }
    const LedgerTile rest = tiles_[last];
    uint32_t after = rest.after;
    if (end < rest.end && last != first) {  // the end of the last stays where it is
      tiles_[last].begin = end;
      after = last;
    } else if (end < rest.end) {
      after = Make();
      tiles_[after] = {.begin = end, .end = rest.end, .user = rest.user, .after = rest.after};
      PointAt(index, end, rest.end, after);
    } else if (last != first) {
      Spare(last);
    }
    uint32_t own = first;
    if (tiles_[first].begin < begin) {  // and so does the begin of the first
      own = Make();
      tiles_[first].end = begin;
      tiles_[first].after = own;
    }
    tiles_[own] = {.begin = begin, .end = end, .user = user, .after = after};
    PointAt(index, begin, end, own);
    return taken;
  }

  void Leave(uint32_t memory_class, std::vector<LedgerSegment>& segments) const {
    segments.clear();
    for (uint32_t at = classes_[memory_class].first; at != kNone; at = tiles_[at].after) {
      const LedgerTile& tile = tiles_[at];
      if (tile.user != kNone) {
        const LedgerUser& user = users_[tile.user];
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
  void Append(const LedgerIndex& index, uint64_t begin, uint64_t end, uint32_t user) {
    const uint32_t tile = made_++;
    tiles_[tile] = {.begin = begin, .end = end, .user = user, .after = made_};
    PointAt(index, begin, end, tile);
  }

  uint32_t Make() {
    const uint32_t tile = spare_;
    if (tile == kNone) {
      return made_++;
    }
    spare_ = tiles_[tile].after;
    return tile;
  }
  void Spare(uint32_t tile) {
    tiles_[tile].after = spare_;
    spare_ = tile;
  }

  uint32_t Find(const LedgerIndex& index, uint64_t address) const {
    // The bucket leads to the tile of its first byte; the one that is looked for is a few steps on.
    uint32_t tile = buckets_[index.bucket + (address >> index.shift)];
    while (tiles_[tile].end <= address) {
      tile = tiles_[tile].after;
    }
    return tile;
  }

  void Add(FormerUses& taken, uint32_t index, std::vector<uint32_t>& sources) const {
    if (index == kNone) {
      return;
    }
    const LedgerUser& user = users_[index];
    taken.stages |= user.stages;
    taken.writes |= user.writes;
    taken.last = std::max(taken.last, user.last);
    if (user.chain == kNone) {
      // Users of earlier frames have no chain of this one to name.
      taken.outside = true;
    } else {
      taken.inside = true;
      sources.push_back(user.chain);
    }
  }

  // Buckets whose first byte lies in the tile start at it.
  void PointAt(const LedgerIndex& index, uint64_t begin, uint64_t end, uint32_t tile) {
    const uint32_t shift = index.shift;
    const uint64_t up = (uint64_t{1} << shift) - 1;
    uint32_t* const buckets = buckets_ + index.bucket;
    const uint64_t last = (std::min(end, index.top) + up) >> shift;
    for (uint64_t bucket = (begin + up) >> shift; bucket < last; ++bucket) {
      buckets[bucket] = tile;
    }
  }

  LedgerTile* tiles_;
  LedgerUser* users_;
  uint32_t* buckets_;
  LedgerIndex* classes_;
  uint32_t made_ = 0;       // tiles that have been used
  uint32_t spare_ = kNone;  // those of them that are not, linked by `after`
};

// The segments that earlier frames left, one frame older. Frames that are no longer in flight are
// forgotten, since the host has waited for them.
void AgeLedger(std::vector<LedgerSegment>& ledger) {
  for (LedgerSegment& segment : ledger) {
    segment.last = -1;
    segment.chain = kNone;
    ++segment.age;
  }
  std::erase_if(ledger, [](const LedgerSegment& segment) { return segment.age > kLedgerFrames; });
}

// Places the buckets of every class. Of the chains that share a bucket, few hold their bytes at any
// one time.
void IndexClasses(const std::vector<PackedClass>& tops, const std::vector<MemoryClass>& classes,
                  LedgerScratch& scratch) {
  constexpr uint32_t kChainsByBucket = 8;
  uint32_t buckets = 0;
  scratch.classes.assign(classes.size(), {});
  for (size_t i = 0; i < classes.size(); ++i) {
    LedgerIndex& ledger = scratch.classes[i];
    const uint64_t before = classes[i].ledger.empty() ? 1 : classes[i].ledger.back().end;
    ledger.top = std::max(tops[i].top, before);
    const auto want = static_cast<uint32_t>(std::bit_width(tops[i].chains / kChainsByBucket)) + 1;
    const auto bits = static_cast<uint32_t>(std::bit_width(ledger.top));
    ledger.shift = bits > want ? bits - want : 0;
    ledger.bucket = buckets;
    buckets += static_cast<uint32_t>(ledger.top >> ledger.shift) + 1;
  }
  scratch.buckets.resize(buckets);
}

// What the frames before have left, by class.
Ledger OpenLedger(const LedgerInputs& in, std::vector<MemoryClass>& classes,
                  LedgerScratch& scratch) {
  size_t segments = 0;
  for (MemoryClass& memory_class : classes) {
    AgeLedger(memory_class.ledger);
    segments += memory_class.ledger.size();
  }
  IndexClasses(in.tops, classes, scratch);
  scratch.users.resize(in.packed.size() + segments);
  // A chain may cut the tile that it lies in into three; gaps and an end are tiles, too.
  scratch.tiles.resize(2 * (in.packed.size() + segments) + classes.size());
  Ledger ledger(scratch);
  auto user = static_cast<uint32_t>(in.packed.size());
  for (uint32_t i = 0; i < classes.size(); ++i) {
    ledger.Fill(i, classes[i].ledger, user);
    user += static_cast<uint32_t>(classes[i].ledger.size());
  }
  return ledger;
}

// A counting sort: count, sum up, place.
void SortByFirst(const LedgerInputs& in, LedgerScratch& scratch) {
  std::vector<uint32_t>& begins = scratch.begins;
  begins.assign(in.positions + 1, 0);
  const auto first = [&](size_t item) {
    return static_cast<size_t>(in.chains[in.packed[item].chain].first);
  };
  for (size_t i = 0; i < in.packed.size(); ++i) {
    ++begins[first(i) + 1];
  }
  for (size_t i = 1; i < begins.size(); ++i) {
    begins[i] += begins[i - 1];
  }
  scratch.by_first.resize(in.packed.size());
  for (uint32_t i = 0; i < in.packed.size(); ++i) {
    scratch.by_first[begins[first(i)]++] = i;
  }
}

// The first entries of a chain's cells begin where the last users of its bytes end.
void GiveSources(const PlanChain& chain, uint32_t index, const FormerUses& taken,
                 uint32_t alias_begin, const LedgerOutputs& out) {
  Dependencies& dependencies = out.dependencies;
  const uint32_t begin = dependencies.entry_begin[index];
  uint32_t end = dependencies.entry_begin[index + 1];
  if (chain.cells == 1) {  // of one cell, the first
    end = std::min(end, begin + 1);
  }
  for (uint32_t i = begin; i < end; ++i) {
    BarrierEntry& entry = dependencies.entries[i];
    if (!entry.create) {
      continue;
    }
    entry.src_stages = taken.stages;
    entry.src_accesses = taken.writes;
    entry.lo = taken.last;
    int32_t& lo = dependencies.max_lo[static_cast<size_t>(entry.hi)];
    lo = std::max(lo, entry.lo);
    entry.outside = taken.outside;
    entry.reason = taken.inside ? BarrierReason::kAlias : entry.reason;
    entry.alias_begin = alias_begin;
    entry.alias_end = static_cast<uint32_t>(out.alias_sources.size());
  }
}

}  // namespace

// Chains take their bytes in the order of their first positions. Because chains with common epochs
// never share bytes, whoever has a byte when a chain takes it is the last that used it, in this
// frame or in an earlier one, and waiting for that user is enough: it waited for those before.
void RunLedger(const LedgerInputs& in, LedgerScratch& scratch, const LedgerOutputs& out) {
  std::vector<uint32_t>& sources = out.alias_sources;
  SortByFirst(in, scratch);
  Ledger ledger = OpenLedger(in, out.classes, scratch);
  sources.clear();
  for (const uint32_t item : scratch.by_first) {
    const uint32_t index = in.packed[item].chain;
    const PlanChain& chain = in.chains[index];
    const auto alias_begin = static_cast<uint32_t>(sources.size());
    const FormerUses taken =
        ledger.Take(chain.memory_class, chain.address, chain.address + chain.size, item, sources);
    scratch.users[item] = {.stages = chain.final_stages,
                           .writes = chain.final_writes,
                           .last = chain.last,
                           .chain = index,
                           .age = 0};
    GiveSources(chain, index, taken, alias_begin, out);
  }
  for (uint32_t i = 0; i < out.classes.size(); ++i) {
    ledger.Leave(i, out.classes[i].ledger);
  }
}

}  // namespace kiln::graph
