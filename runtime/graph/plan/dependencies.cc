// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/dependencies.h"

#include <algorithm>
#include <climits>

#include "runtime/graph/plan/cells.h"

namespace kiln::graph {
namespace {

struct Source {
  Stages stages = 0;
  Accesses accesses = 0;
};

// What the next access of a cell has to wait for. A pending write must be made available, so its
// stages and its writes are the source; readers since then only have to be done, so they add stages
// without accesses. A cell that nobody has touched since its contents became visible waits for the
// stages to which they are visible: that chains the dependency behind the barrier that made them
// so.
Source SourceOf(const CellState& state) {
  Source source;
  source.stages = (state.pending ? state.writer_stages : Stages{0}) | state.readers;
  if (source.stages == 0) {
    source.stages = state.seen_stages;
  }
  source.accesses = state.pending ? state.writer_accesses & kWriteAccesses : Accesses{0};
  return source;
}

// One cell on its way through the frame. `state` is what its accesses so far have left behind, and
// `source_begin`/`source_end` say which uses those were, for the reasons that a plan prints.
struct Walk {
  uint32_t chain;
  uint32_t cell;
  BarrierReason from_before;  // why the frame's first access waits
  bool texture;
  bool whole;     // the chain has no other cell
  bool packed;    // its bytes had other users
  bool acquired;  // never touched before the waits for the outside (spec/graph 4.5)
  CellState state;
  int32_t last = -1;          // position of the last access in the source
  uint32_t source_begin = 0;  // into uses
  uint32_t source_end = 0;    // empty: what came before the frame

  bool from_outside() const { return source_begin == source_end; }
  // The first use of a cell takes over bytes, whatever it does with them.
  bool takes_bytes() const { return packed && from_outside(); }
};

// A maximal run of reads in one layout.
struct Run {
  uint32_t begin;  // uses; the first is part of it
  uint32_t end;
  Stages stages = 0;
  Accesses accesses = 0;
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  uint32_t reads = 0;
  int32_t last = -1;
};

bool IsSeen(const CellState& state, Stages stages, Accesses accesses) {
  return state.seen_all ||
         ((stages & ~state.seen_stages) == 0 && (accesses & ~state.seen_accesses) == 0);
}

// The last wait for the outside at or before the position, with the stages of all of them.
ExternalWait LastWaitBefore(const std::vector<ExternalWait>& waits, int32_t position) {
  const auto after = std::ranges::upper_bound(waits, position, {}, &ExternalWait::position);
  return after == waits.begin() ? ExternalWait{} : *(after - 1);
}

BarrierReason ReasonFromBefore(Object object) {
  return object == Object::kImported  ? BarrierReason::kImport
         : object == Object::kHistory ? BarrierReason::kHistory
                                      : BarrierReason::kFirstUse;
}

// What a reader of the plan is told. Passes that the graph adds have their own reasons; what came
// before the frame goes by the kind of the resource; everything else by what was done last.
BarrierReason ReasonOf(const Walk& walk, const Use& next) {
  switch (next.origin) {
    case Origin::kExport:
      return BarrierReason::kExport;
    case Origin::kPresent:
      return BarrierReason::kPresent;
    case Origin::kUser:
    case Origin::kClear:
    case Origin::kPresentCopy:
      break;
  }
  if (walk.from_outside()) {
    return walk.from_before;
  }
  if (next.kind == UseKind::kWrite) {
    return walk.state.readers != 0 ? BarrierReason::kWar : BarrierReason::kWaw;
  }
  return walk.state.pending ? BarrierReason::kRaw : BarrierReason::kLayout;
}

// The state of a cell whose contents every read of the run may see.
CellState StateAfter(const Run& run) {
  return {.layout = run.layout,
          .pending = false,
          .seen_all = false,
          .writer_stages = 0,
          .writer_accesses = 0,
          .readers = run.stages,
          .seen_stages = run.stages,
          .seen_accesses = run.accesses};
}

// Takes cells through their uses and writes down what every use waits for.
//
// A cell is in one of three states: a write is pending (not yet visible to anybody), contents are
// visible to some stages (`seen_*`) and perhaps read by `readers`, or the host has waited
// (`seen_all`). A write waits for whatever the state holds and leaves a pending write. Reads are
// taken in runs: all reads up to the next write that want the same layout share one dependency
// whose destination is the union of their stages, so that a texture with twenty readers has one
// barrier and not twenty. The price is that the first reader waits on behalf of the last;
// spec/graph 6.7.1 says why that is right.
//
// Each use of a chain is looked at once per cell of the chain. Chains that are used whole have one
// cell, so a frame without partial uses costs O(uses).
class Walker {
 public:
  Walker(const WalkInputs& in, const PlanChains& chains, Dependencies& out)
      : in_(in),
        chains_(chains),
        uses_(in.uses.uses.data()),
        max_lo_(out.max_lo.data()),
        entries_(out.entries) {}

  void Through(uint32_t begin, uint32_t end, Walk& walk) {
    for (uint32_t i = begin; i < end;) {
      if (!Touches(walk, uses_[i])) {
        ++i;
        continue;
      }
      switch (uses_[i].kind) {
        // Host passes run before anything is submitted, and a submission makes what the host wrote
        // visible to everything in it.
        case UseKind::kHost:
          walk.state = {.layout = walk.state.layout, .pending = false, .seen_all = true};
          ++i;
          break;
        case UseKind::kWrite:
          Write(walk, i);
          ++i;
          break;
        case UseKind::kRead: {
          const Run run = CollectRun(walk, i, end);
          Read(walk, run);
          i = run.end;
          break;
        }
      }
    }
  }

  uint32_t merged_reads() const { return merged_reads_; }

 private:
  bool Touches(const Walk& walk, const Use& use) const {
    return walk.whole || Covers(in_.rows.accesses[use.access], chains_.cells[walk.cell]);
  }

  // From `source` and the layout `from` to the use, and to what the caller adds to it.
  // Inlined, since half of it depends on what differs between its callers.
  [[gnu::always_inline]] BarrierEntry& AddEntry(const Walk& walk, const Use& use, Source source,
                                                VkImageLayout from) {
    const bool outside = walk.from_outside();
    const bool create = walk.takes_bytes();
    int32_t lo = walk.last;
    if (walk.acquired && outside) {
      const ExternalWait wait = LastWaitBefore(in_.waits, use.position);
      lo = std::max(lo, wait.position - 1);
      // A change of layout is a write, which only a dependency from the stages of a wait orders
      // behind that wait.
      source.stages = source.stages == 0 ? wait.stages : source.stages;
    }
    // Whether a buffer waits for earlier bytes, and from where a create waits, is known later.
    if (!create || walk.texture) {
      max_lo_[use.position] = std::max(max_lo_[use.position], create ? -1 : lo);
    }
    // Rows are filled in place: a copy would wait for each field that was just written.
    BarrierEntry& entry = entries_.emplace_back();
    entry.src_stages = source.stages;
    entry.src_accesses = source.accesses;
    entry.dst_stages = use.stages;
    entry.dst_accesses = use.accesses;
    entry.old_layout = from;
    entry.new_layout = use.layout;
    entry.chain = walk.chain;
    entry.cell = walk.cell;
    entry.lo = lo;
    entry.hi = use.position;
    entry.access = use.access;
    entry.source_begin = walk.source_begin;
    entry.source_end = walk.source_end;
    entry.reason = ReasonOf(walk, use);
    entry.create = create;
    entry.outside = outside;
    return entry;
  }

  void Write(Walk& walk, uint32_t at) {
    const Use& use = uses_[at];
    const Source source = SourceOf(walk.state);
    const VkImageLayout from = use.forgets ? VK_IMAGE_LAYOUT_UNDEFINED : walk.state.layout;
    // What a create takes over is known after the placement.
    // A dependency is left out only if nothing has to be waited for and the layout stays.
    if (source.stages != 0 || (walk.texture && from != use.layout) || walk.takes_bytes()) {
      AddEntry(walk, use, source, from);
    }
    walk.state = {.layout = use.layout,
                  .pending = true,
                  .seen_all = false,
                  .writer_stages = use.stages,
                  .writer_accesses = use.accesses};
    walk.last = use.position;
    walk.source_begin = at;
    walk.source_end = at + 1;
    walk.acquired = false;
  }

  // Requires: the use at `at` is a read of the cell.
  Run CollectRun(const Walk& walk, uint32_t at, uint32_t end) const {
    Run run{.begin = at, .end = at, .layout = uses_[at].layout};
    // Reads of other cells do not end the run; a write of this cell or another layout does.
    for (uint32_t i = at; i < end; ++i) {
      const Use& use = uses_[i];
      if (!Touches(walk, use)) {
        continue;
      }
      if (use.kind != UseKind::kRead || (walk.texture && use.layout != run.layout)) {
        break;
      }
      run.end = i + 1;
      run.stages |= use.stages;
      run.accesses |= use.accesses;
      run.last = use.position;
      ++run.reads;
    }
    return run;
  }

  void Read(Walk& walk, const Run& run) {
    CellState& state = walk.state;
    const bool same_layout = !walk.texture || state.layout == run.layout;
    if (same_layout && run.stages == 0) {
      return;  // a transition into the state that it is in
    }
    merged_reads_ += run.reads;
    // Contents that are available in the right layout need a barrier only for stages that have not
    // seen them.
    if (same_layout && !state.pending) {
      ReadAgain(walk, run);
    } else {
      BarrierEntry& entry = AddEntry(walk, uses_[run.begin], SourceOf(state), state.layout);
      entry.dst_stages = run.stages;
      // The barrier stands before the first read of the run and makes the contents visible to all.
      entry.dst_accesses = run.accesses;
      --merged_reads_;
      state = StateAfter(run);
      walk.source_begin = run.begin;
    }
    walk.source_end = run.end;
    walk.last = run.last;
    walk.acquired = false;
  }

  // Reads of contents that are available, but visible to some stages only.
  void ReadAgain(Walk& walk, const Run& run) {
    CellState& state = walk.state;
    if (const Use* const unseen = FirstUnseen(walk, run); unseen != nullptr) {
      const Source source{.stages = state.readers | state.seen_stages, .accesses = 0};
      BarrierEntry& entry = AddEntry(walk, *unseen, source, state.layout);
      entry.dst_stages = run.stages;
      entry.dst_accesses = run.accesses;
      entry.new_layout = state.layout;
      entry.reason = BarrierReason::kVisibility;
      --merged_reads_;
      state.seen_stages = run.stages;
      state.seen_accesses = run.accesses;
    }
    state.readers |= run.stages;
    walk.source_begin = walk.from_outside() ? run.begin : walk.source_begin;
  }

  // The first use of the run that the state is not visible to.
  // The barrier is needed before the first read that has not seen the contents, not before the run.
  const Use* FirstUnseen(const Walk& walk, const Run& run) const {
    for (const Use* use = uses_ + run.begin; use != uses_ + run.end; ++use) {
      if (Touches(walk, *use) && !IsSeen(walk.state, use->stages, use->accesses)) {
        return use;
      }
    }
    return nullptr;
  }

  const WalkInputs& in_;
  const PlanChains& chains_;
  const Use* uses_;
  int32_t* max_lo_;  // by position
  std::vector<BarrierEntry>& entries_;
  uint32_t merged_reads_ = 0;
};

// What the frame finds in an import, by what was said about it: spec/graph 4.5 has the four cases.
// `acquired` says that the first dependency must not move in front of a wait for the outside.
CellState ImportedState(const ChainRow& chain, bool& acquired) {
  CellState state;
  state.layout = chain.state_layout;
  acquired = chain.acquire != kNone;
  if (chain.state_stages == 0) {
    // The state was not given: the import may be what a wait of the frame is for.
    acquired = acquired || chain.texture();
    state.seen_all = true;
  } else if ((chain.state_accesses & kWriteAccesses) != 0) {
    // The state is a write: it must be made available like any other.
    state.pending = true;
    state.writer_stages = chain.state_stages;
    state.writer_accesses = chain.state_accesses;
  } else if (chain.state_accesses != 0) {
    state.readers = chain.state_stages;
    state.seen_stages = chain.state_stages;
    state.seen_accesses = chain.state_accesses;
  } else {
    acquired = true;  // never hoisted above the wait
    state.seen_stages = chain.state_stages;
    state.seen_accesses = ~Accesses{0};
  }
  return state;
}

// After the executor has filled a history with its initial contents.
CellState ResetState(const ChainRow& chain) {
  CellState state;
  state.layout = chain.texture() ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_UNDEFINED;
  state.pending = true;
  state.writer_stages = VK_PIPELINE_STAGE_2_CLEAR_BIT;
  state.writer_accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT;
  return state;
}

// The state of the slot's cell that contains `cell`.
// The frame before may have used the object in fewer parts; its cells were borders when this chain
// was cut, so each cell lies in one of them.
const CellState& StateIn(const TemporalSlot& slot, const Box& cell) {
  for (size_t i = 0; i < slot.cells.size(); ++i) {
    const Box& box = slot.cells[i];
    const bool inside = (box.aspects == cell.aspects || (box.aspects & cell.aspects) != 0) &&
                        cell.mip >= box.mip && cell.mip < box.mip + box.mips &&
                        cell.layer >= box.layer && cell.layer < box.layer + box.layers;
    if (inside) {
      return slot.states[i];
    }
  }
  return slot.states.front();
}

// The last users of a slot that is filled anew: all of its cells together.
CellState SlotUsers(const TemporalSlot& slot) {
  CellState all;
  for (const CellState& state : slot.states) {
    const Source source = SourceOf(state);
    all.readers |= source.stages;
    if (source.accesses != 0) {
      all.pending = true;
      all.writer_stages |= state.writer_stages;
      all.writer_accesses |= source.accesses;
    }
  }
  return all;
}

// What the cell of a chain that lies outside the frame's memory starts from.
void StartOutside(const WalkInputs& in, const PlanChain& chain, const Box& cell, Walk& walk) {
  const ChainRow& row = in.rows.chains[walk.chain];
  if (chain.place == Place::kImported) {
    walk.state = ImportedState(row, walk.acquired);
    return;
  }
  const uint32_t from = in.slots[chain.slot].from;
  if (chain.place != Place::kHistory) {
    walk.state = from == kNone ? CellState{} : SlotUsers(in.carried[from]);
  } else {
    walk.state = chain.reset ? ResetState(row) : StateIn(in.carried[from], cell);
  }
}

// Cell by cell: the states of two cells never meet. What is left at the end is united over the
// cells, since whoever gets the bytes next has to wait for all of them.
void WalkChain(const WalkInputs& in, uint32_t index, PlanChains& chains, Walker& walker,
               std::vector<CellState>& finals) {
  PlanChain& chain = chains.chains[index];
  const ChainRow& row = in.rows.chains[index];
  const bool keeps = IsKept(chain.place);
  for (uint32_t i = 0; i < chain.cells; ++i) {
    const uint32_t cell = chain.first_cell + i;
    Walk walk{.chain = index,
              .cell = cell,
              .from_before = ReasonFromBefore(row.object),
              .texture = row.texture(),
              .whole = chain.cells == 1,
              .packed = chain.place == Place::kPacked,
              .acquired = false,
              .state = {},
              .source_begin = chain.first_access,
              .source_end = chain.first_access};
    if (chain.place == Place::kImported || keeps) {
      StartOutside(in, chain, chains.cells[cell], walk);
    }
    if (chain.place == Place::kImported || chain.place == Place::kHistory) {
      chains.initial.push_back({.chain = index, .cell = cell, .state = walk.state});
    }
    walker.Through(chain.first_access, chain.first_access + chain.accesses, walk);
    const Source source = SourceOf(walk.state);
    chain.final_stages |= source.stages;
    chain.final_writes |= source.accesses;
    chain.final_begin = i == 0 ? walk.source_begin : std::min(chain.final_begin, walk.source_begin);
    chain.final_end = std::max(chain.final_end, walk.source_end);
    if (keeps) {
      finals.resize(chains.cells.size());
      finals[cell] = walk.state;
    }
  }
}

}  // namespace

// Entries come out by chain and cell, and not by position: what a chain waits for stands together,
// which the ledger and the prints rely on.
void WalkCells(const WalkInputs& in, PlanChains& chains, Dependencies& out) {
  const auto count = static_cast<uint32_t>(chains.chains.size());
  chains.cells.clear();
  chains.initial.clear();
  out.entries.clear();
  out.entry_begin.resize(count + 1);
  out.max_lo.assign(in.positions, INT_MIN);
  Walker walker(in, chains, out);
  for (uint32_t index = 0; index < count; ++index) {
    const PlanChain& chain = chains.chains[index];
    const bool continues = chain.place == Place::kHistory && !chain.reset;
    out.entry_begin[index] = static_cast<uint32_t>(out.entries.size());
    AddCells(in.rows, index, continues ? &in.carried[in.slots[chain.slot].from] : nullptr, chains);
    if (chain.accesses != 0) {
      WalkChain(in, index, chains, walker, out.finals);
    }
  }
  out.entry_begin[count] = static_cast<uint32_t>(out.entries.size());
  out.merged_reads = walker.merged_reads();
}

}  // namespace kiln::graph
