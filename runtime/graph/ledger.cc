// SPDX-License-Identifier: MIT
// Who used which bytes last: gives the first use of a chain its sources, in this frame and across
// frames. Spec: graph §6.8.3
#include <algorithm>

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

size_t FirstAfter(const std::vector<LedgerSegment>& ledger, uint64_t address) {
  return static_cast<size_t>(
      std::upper_bound(ledger.begin(), ledger.end(), address,
                       [](uint64_t at, const LedgerSegment& segment) { return at < segment.end; }) -
      ledger.begin());
}

Taken TakeOver(Planning& planning, const std::vector<LedgerSegment>& ledger, uint64_t begin,
               uint64_t end) {
  Taken taken;
  for (size_t i = FirstAfter(ledger, begin); i < ledger.size() && ledger[i].begin < end; ++i) {
    const LedgerSegment& segment = ledger[i];
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

// Replaces [segment.begin, segment.end); what it cuts keeps its other parts.
void Overwrite(std::vector<LedgerSegment>& ledger, const LedgerSegment& segment) {
  const size_t first = FirstAfter(ledger, segment.begin);
  size_t after = first;
  while (after < ledger.size() && ledger[after].begin < segment.end) {
    ++after;
  }
  LedgerSegment parts[3];
  size_t count = 0;
  if (first < after && ledger[first].begin < segment.begin) {
    parts[count] = ledger[first];
    parts[count++].end = segment.begin;
  }
  parts[count++] = segment;
  if (first < after && ledger[after - 1].end > segment.end) {
    parts[count] = ledger[after - 1];
    parts[count++].begin = segment.end;
  }
  const size_t reused = std::min(count, after - first);
  std::copy(parts, parts + reused, ledger.begin() + static_cast<ptrdiff_t>(first));
  const auto at = ledger.begin() + static_cast<ptrdiff_t>(first + reused);
  if (reused < count) {
    ledger.insert(at, parts + reused, parts + count);
  } else {
    ledger.erase(at, ledger.begin() + static_cast<ptrdiff_t>(after));
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
  for (MemoryClass& memory_class : plan.next.classes) {
    for (LedgerSegment& segment : memory_class.ledger) {
      segment.last = -1;
      segment.chain = kNone;
      ++segment.age;
    }
    // Frames that are no longer in flight: the host has waited for them.
    std::erase_if(memory_class.ledger,
                  [](const LedgerSegment& segment) { return segment.age > kLedgerFrames; });
  }
  plan.alias_sources.clear();
  scratch.create_entry.assign(plan.chains.size(), kNone);
  for (uint32_t i = 0; i < scratch.entries.size(); ++i) {
    if (scratch.entries[i].create) {
      scratch.create_entry[scratch.entries[i].chain] =
          std::min(scratch.create_entry[scratch.entries[i].chain], i);
    }
  }
  SortByFirst(planning);
  for (const uint32_t index : scratch.by_first) {
    const PlanChain& chain = plan.chains[index];
    std::vector<LedgerSegment>& ledger = plan.next.classes[chain.memory_class].ledger;
    const auto alias_begin = static_cast<uint32_t>(plan.alias_sources.size());
    const Taken taken = TakeOver(planning, ledger, chain.address, chain.address + chain.size);
    for (uint32_t i = scratch.create_entry[index];
         i < scratch.entries.size() && scratch.entries[i].chain == index; ++i) {
      Entry& entry = scratch.entries[i];
      if (!entry.create) {
        continue;
      }
      entry.src_stages = taken.stages;
      entry.src_accesses = taken.writes;
      entry.lo = taken.last;
      entry.outside = taken.outside;
      entry.reason = taken.inside ? Reason::kAlias : entry.reason;
      entry.alias_begin = alias_begin;
      entry.alias_end = static_cast<uint32_t>(plan.alias_sources.size());
    }
    Overwrite(ledger, {.begin = chain.address,
                       .end = chain.address + chain.size,
                       .stages = chain.final_stages,
                       .writes = chain.final_writes,
                       .last = chain.last,
                       .chain = index,
                       .age = 0});
  }
}

}  // namespace kiln::graph
