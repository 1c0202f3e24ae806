// SPDX-License-Identifier: MIT
// The state at a point is the set of variables that some path to it has assigned. Branches unite;
// a jump leaves nothing behind. A loop begins with what its previous rounds may have assigned,
// which a first pass without messages finds out, so that both passes are linear.
#include "compiler/resolve/checks/assigned.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"

namespace kiln::resolve {
namespace {

using ir::AssignmentEventKind;

// --- summaries -----------------------------------------------------------------------------------

// Writes down once for each region what matters for this check. Regions are shared by variants, and
// so each function then only walks over short lists of events.
class FlowWriter {
 public:
  FlowWriter(const Program& program, const ir::SpecialisedRegion& region,
             std::span<const BareDeclaration> declarations)
      : program_(program), region_(region), declarations_(declarations) {}

  std::vector<ir::AssignmentEvent> Run() {
    WriteBlock(region_.body);
    return std::move(events_);
  }

 private:
  // Events are an ordered list with marks for branches and loops, so the check needs no tree.
  void Add(AssignmentEventKind kind, uint32_t id = 0, ir::SpanId span = {}) {
    events_.push_back({.kind = kind, .id = id, .span = span});
  }

  // Nested blocks are nested scopes of the source, which nest at most 256 deep.
  void WriteBlock(ir::BlockId block) {
    ++depth_;
    for (const uint32_t row : region_.InstsOf(block)) {
      WriteDeclarations(row);
      WriteInst(region_.insts[row]);
    }
    --depth_;
  }

  // Rows of nested blocks have smaller numbers than the row that owns the blocks: what is declared
  // deeper waits for its block, if this row has one.
  void WriteDeclarations(uint32_t row) {
    const bool owns = OwnsBlocks(region_.insts[row].kind);
    while (next_ < declarations_.size() && declarations_[next_].before <= row) {
      if (declarations_[next_].depth > depth_ && owns) {
        return;
      }
      Add(AssignmentEventKind::kDeclare, declarations_[next_++].local.value);
    }
  }

  static bool OwnsBlocks(ir::InstKind kind) {
    return kind == ir::InstKind::kScope || kind == ir::InstKind::kIf ||
           kind == ir::InstKind::kSelectBlocks || kind == ir::InstKind::kLogical ||
           kind == ir::InstKind::kLoop;
  }

  void WriteInst(const ir::Inst& inst) {
    if (inst.kind == ir::InstKind::kLoad) {
      WriteTouch(AssignmentEventKind::kRead, inst.As<ir::LoadInst>().place);
    } else if (inst.kind == ir::InstKind::kStore) {
      // The value was evaluated before, so its reads stand before this event.
      WriteTouch(AssignmentEventKind::kAssign, inst.As<ir::StoreInst>().place);
    } else if (inst.kind == ir::InstKind::kScope) {
      WriteBlock(inst.As<ir::ScopeInst>().block);
    } else if (inst.kind == ir::InstKind::kIf) {
      WriteParts(AssignmentEventKind::kBranch, region_.List(inst.As<ir::IfInst>().blocks));
    } else if (inst.kind == ir::InstKind::kSelectBlocks) {
      WriteParts(AssignmentEventKind::kBranch,
                 region_.List(inst.As<ir::SelectBlocksInst>().blocks));
    } else if (inst.kind == ir::InstKind::kLogical) {
      // The left operand of a logical operator always runs; only the right one is a branch.
      const uint32_t right = inst.As<ir::LogicalInst>().right.value;
      WriteParts(AssignmentEventKind::kBranch, std::span(&right, 1));
    } else if (inst.kind == ir::InstKind::kLoop) {
      WriteParts(AssignmentEventKind::kLoop, region_.List(inst.As<ir::LoopInst>().blocks));
    } else if (inst.kind == ir::InstKind::kInsertionPoint) {
      Add(AssignmentEventKind::kInsertionPoint, inst.As<ir::InsertionPointInst>().region.value);
    } else if (inst.kind == ir::InstKind::kBreak) {
      Add(AssignmentEventKind::kBreak);
    } else if (inst.kind == ir::InstKind::kContinue) {
      Add(AssignmentEventKind::kContinue);
    } else if (inst.kind == ir::InstKind::kReturn || inst.kind == ir::InstKind::kDiscard) {
      Add(AssignmentEventKind::kLeave);
    }
  }

  // Writing one member counts as writing the variable, and reading one as reading it.
  void WriteTouch(AssignmentEventKind kind, ir::InstId place) {
    if (region_.insts[place.value].kind == ir::InstKind::kAccess) {
      place = region_.insts[place.value].As<ir::AccessInst>().root;
    }
    // Places of globals and of parameters have a value from the start.
    const ir::Inst& root = region_.insts[place.value];
    if (root.kind != ir::InstKind::kLocalRef) {
      return;
    }
    const ir::LocalId local = root.As<ir::LocalRefInst>().local;
    if (program_.DeclaredBare(local)) {
      Add(kind, local.value, region_.spans[place.value]);
    }
  }

  void WriteParts(AssignmentEventKind kind, std::span<const uint32_t> blocks) {
    Add(kind);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (i > 0) {
        Add(AssignmentEventKind::kNext);
      }
      WriteBlock(ir::BlockId{blocks[i]});
    }
    Add(AssignmentEventKind::kEnd);
  }

  const Program& program_;
  const ir::SpecialisedRegion& region_;
  std::span<const BareDeclaration> declarations_;
  size_t next_ = 0;
  uint32_t depth_ = 0;
  std::vector<ir::AssignmentEvent> events_;
};

// --- the check -----------------------------------------------------------------------------------

// Which variables may be assigned, if control can be here at all.
// A bit for each variable. Paths are united, so the question is whether any path has assigned it:
// only what is certainly without a value is an error.
struct State {
  bool reached = false;
  std::vector<uint64_t> assigned;

  // A state that is not reached adds nothing, as no path comes from there.
  void Join(const State& other) {
    if (!other.reached) {
      return;
    }
    reached = true;
    assigned.resize(other.assigned.size());
    for (size_t i = 0; i < assigned.size(); ++i) {
      assigned[i] |= other.assigned[i];
    }
  }
  bool Test(uint32_t bit) const { return (assigned[bit / 64] >> (bit % 64) & 1) != 0; }
  void Set(uint32_t bit) { assigned[bit / 64] |= uint64_t{1} << (bit % 64); }
  void Clear(uint32_t bit) { assigned[bit / 64] &= ~(uint64_t{1} << (bit % 64)); }
};

class AssignedCheck {
 public:
  AssignedCheck(const Program& program, const ir::FunctionRef& function,
                std::vector<Diagnostic>& diagnostics)
      : program_(program), function_(function), diagnostics_(diagnostics) {}

  void Run() {
    for (const ir::RegionRef& region : function_.regions) {
      live_.Insert(region.region.value, region.specialised);
      for (const ir::AssignmentEvent& event : region.specialised->flow) {
        if (event.kind == AssignmentEventKind::kDeclare) {
          numbers_.Insert(event.id, static_cast<uint32_t>(numbers_.size()));
        }
      }
    }
    // Nothing is declared without a value in this variant, although the source has such variables.
    if (numbers_.empty()) {
      return;
    }
    // The first pass finds out what the loops assign and says nothing, since it does not yet know
    // with what a loop begins. The second one reports.
    for (const bool reports : {false, true}) {
      reports_ = reports;
      loop_ = 0;
      state_ = {.reached = true, .assigned = std::vector<uint64_t>((numbers_.size() + 63) / 64)};
      RunRegion(*function_.regions.front().specialised);
    }
  }

 private:
  // A place in the events of one region; branches go on in the same events.
  struct Cursor {
    const ir::SpecialisedRegion& region;
    size_t at = 0;
  };
  struct Jumps {
    State breaks;
    State continues;
  };

  void RunRegion(const ir::SpecialisedRegion& region) {
    Cursor cursor{.region = region};
    RunUntilMark(cursor);
  }

  // Up to kNext, kEnd or the end of the region, which stay unread.
  void RunUntilMark(Cursor& cursor) {
    for (; cursor.at < cursor.region.flow.size(); ++cursor.at) {
      CheckStop();
      const ir::AssignmentEvent& event = cursor.region.flow[cursor.at];
      switch (event.kind) {
        case AssignmentEventKind::kDeclare:
        case AssignmentEventKind::kRead:
        case AssignmentEventKind::kAssign:
          Touch(event, cursor.region.module);
          break;
        case AssignmentEventKind::kBranch:
          RunBranches(cursor);
          break;
        case AssignmentEventKind::kLoop:
          RunLoop(cursor);
          break;
        // An insertion point that is not live has no code in this variant.
        case AssignmentEventKind::kInsertionPoint:
          if (const ir::SpecialisedRegion* const* nested = live_.Find(event.id)) {
            RunRegion(**nested);
          }
          break;
        case AssignmentEventKind::kBreak:
        case AssignmentEventKind::kContinue:
          KILN_CHECK(!jumps_.empty(), "a jump outside of loops");
          (event.kind == AssignmentEventKind::kBreak ? jumps_.back().breaks
                                                     : jumps_.back().continues)
              .Join(state_);
          state_.reached = false;
          break;
        case AssignmentEventKind::kLeave:
          state_.reached = false;
          break;
        case AssignmentEventKind::kNext:
        case AssignmentEventKind::kEnd:
          return;
      }
    }
  }

  void Touch(const ir::AssignmentEvent& event, uint32_t module) {
    const uint32_t* number = numbers_.Find(event.id);
    if (number == nullptr) {
      return;
    }
    // A declaration in a loop begins anew in each round.
    if (event.kind == AssignmentEventKind::kDeclare) {
      state_.Clear(*number);
    } else if (event.kind == AssignmentEventKind::kAssign) {
      state_.Set(*number);
    } else if (reports_ && state_.reached && !state_.Test(*number)) {
      const ir::Local& local = program_.Get(ir::LocalId{event.id});
      const ir::ModuleView& view = program_.module(module);
      diagnostics_.push_back(Make(Code::kRpl6043, program_.At(module, event.span))
                                 .With("name", view.Text(local.name)));
    }
  }

  // One branch may be skipped if it is alone.
  void RunBranches(Cursor& cursor) {
    const State before = state_;
    State after;
    uint32_t count = 0;
    // Every branch begins with the state before the first one.
    do {
      ++cursor.at;
      state_ = before;
      RunUntilMark(cursor);
      after.Join(state_);
      ++count;
    } while (cursor.region.flow[cursor.at].kind == AssignmentEventKind::kNext);
    if (count == 1) {
      after.Join(before);
    }
    state_ = std::move(after);
    Settle();
  }

  // Condition, body, continuing: as docs/IR.md says.
  void RunLoop(Cursor& cursor) {
    // Loops are numbered in the order in which they are met, which is the same in both passes.
    const size_t number = loop_++;
    if (!reports_) {
      rounds_.emplace_back();
    }
    jumps_.emplace_back();
    // What the rounds of the first pass may have assigned is there from the first round on.
    if (reports_) {
      state_.Join(rounds_[number]);
    }
    ++cursor.at;
    RunUntilMark(cursor);
    // The condition may fail at the first time, so what is known there flows behind the loop.
    State after = state_;
    ++cursor.at;
    RunUntilMark(cursor);
    state_.Join(jumps_.back().continues);
    ++cursor.at;
    RunUntilMark(cursor);
    if (!reports_) {
      rounds_[number] = state_;
      after.Join(state_);
    }
    after.Join(jumps_.back().breaks);
    jumps_.pop_back();
    state_ = std::move(after);
    Settle();
  }

  // Nothing was united: the place cannot be reached, but the rows behind it still have a state.
  void Settle() { state_.assigned.resize((numbers_.size() + 63) / 64); }

  const Program& program_;
  const ir::FunctionRef& function_;
  std::vector<Diagnostic>& diagnostics_;
  FlatMap<uint32_t, const ir::SpecialisedRegion*> live_;  // by RegionId
  FlatMap<uint32_t, uint32_t> numbers_;  // by LocalId of a variable without a value
  bool reports_ = false;
  size_t loop_ = 0;            // loops met in this pass
  std::vector<State> rounds_;  // by that number: what a round may have assigned
  std::vector<Jumps> jumps_;   // of the enclosing loops
  State state_;
};

}  // namespace

// Most functions declare every variable with a value, and they cost nothing here.
std::vector<ir::AssignmentEvent> FlowOf(const Program& program, const ir::SpecialisedRegion& region,
                                        std::span<const BareDeclaration> declarations) {
  return program.HasBareLocals(region.function) ? FlowWriter(program, region, declarations).Run()
                                                : std::vector<ir::AssignmentEvent>{};
}

void CheckAssigned(const Program& program, const ir::FunctionRef& function,
                   std::vector<Diagnostic>& diagnostics) {
  if (!function.regions.empty() && program.HasBareLocals(function.function)) {
    AssignedCheck(program, function, diagnostics).Run();
  }
}

}  // namespace kiln::resolve
