// SPDX-License-Identifier: MIT
// One invocation while it runs. Used by interpreter*.cc alone: control flow is in interpreter.cc,
// values in interpreter_run_values.cc, places and memory in interpreter_places.cc, images in
// interpreter_images.cc.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/interpreter.h"
#include "tests/support/interpreter_team.h"

namespace kiln::oracle::running {

// Where control goes behind a statement.
enum class Flow : uint8_t { kNext, kBreak, kContinue, kReturn, kDiscard, kUndecided };

// A range of cells of a variable; of a handle its declaration and the item of an image array.
struct Place {
  Value* variable = nullptr;
  uint32_t first = 0;
  std::string handle{};
  uint32_t item = 0;
};

// What one instruction gave: a value or a place.
struct Slot {
  Value value;
  Place place;
};

// One call: its variables by name, and the results of the instructions of each live region.
struct Call {
  const ir::FunctionRef* function = nullptr;
  std::map<uint32_t, Place> places{};  // LocalId: variables, `out` and handle parameters
  std::map<uint32_t, Value> values{};  // LocalId: `in` parameters
  std::vector<std::vector<Slot>> slots{};
  std::deque<Value> variables{};  // owner of what the places denote
  Value result{};
  ir::LocalId jump{};  // loop that break or continue means
};

// An invocation that may meet others. Without a team it is alone.
struct Membership {
  Team* team = nullptr;
  size_t member = 0;
};

class Invocation {
 public:
  Invocation(const ir::SpecialisedProgram& variant, const ir::EntryRef& entry, Surroundings& around,
             Inputs inputs, Membership membership)
      : variant_(variant),
        pool_(*variant.pool),
        entry_(entry),
        around_(around),
        inputs_(std::move(inputs)),
        membership_(membership) {}

  Outcome Run();

 private:
  // --- interpreter.cc
  Call BeginCall(const ir::FunctionRef& function);
  Place NewVariable(Call& call, ir::TypeId type);
  Flow Undecided(std::string_view why);
  Flow RunRegion(Call& call, uint32_t region);
  Flow RunBlock(Call& call, uint32_t region, ir::BlockId block);
  // Runs a value block; `value` is what it yields.
  Flow RunValueBlock(Call& call, uint32_t region, ir::BlockId block, Value& value);
  Flow RunInst(Call& call, uint32_t region, uint32_t number);
  Flow RunStatement(Call& call, uint32_t region, const ir::Inst& inst);
  Flow RunIf(Call& call, uint32_t region, const ir::IfInst& inst);
  Flow RunLoop(Call& call, uint32_t region, const ir::LoopInst& inst);
  Flow RunInsertionPoint(Call& call, uint32_t parent, ir::RegionId region);
  Flow RunCall(Call& caller, uint32_t region, uint32_t number);
  Flow RunLogical(Call& call, uint32_t region, uint32_t number);
  Flow RunSelectBlocks(Call& call, uint32_t region, uint32_t number);

  // --- interpreter_run_values.cc
  Flow RunValue(Call& call, uint32_t region, uint32_t number);
  Value ComposedValue(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                      const std::vector<Slot>& slots);
  Value Constant(ir::ConstId id);
  Value Specialised(const ir::SpecConstInst& inst);
  Flow RunBuiltin(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                  std::vector<Slot>& slots, Value& result);
  // The values of the quad by member, this one's shown at `point`; empty if that is not known.
  std::vector<Value> QuadOf(const void* point, const Value& value);
  // Requires: `quad` of QuadOf. Nothing if it is empty.
  Value Derivative(ir::Builtin builtin, const std::vector<Value>& quad);

  // --- interpreter_places.cc
  Flow RunPlace(Call& call, uint32_t region, uint32_t number);
  Place GlobalPlace(const ir::GlobalRefInst& global);
  Place StagePlace(ir::StageVariable variable, ir::TypeId type);
  Flow RunAccess(Call& call, uint32_t region, uint32_t number);
  Value Load(const Place& place, ir::TypeId type);
  void Store(const Place& place, const Value& value);
  Flow RunMemory(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                 const std::vector<Slot>& slots, Value& result);

  // --- interpreter_typed.cc
  Flow RunSwitch(Call& call, uint32_t region, const ir::SwitchInst& inst);
  Flow RunAtomic(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                 const std::vector<Slot>& slots, Value& result);
  Flow RunImage(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                const std::vector<Slot>& slots, Value& result);
  Flow RunBarrier(const ir::Inst& inst);
  Place IoPlace(uint32_t row);
  Place PrivatePlace(const ir::SpecialisedDecl& decl);

  // --- interpreter_images.cc
  Value AskImage(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                 const std::vector<Slot>& slots);
  Flow UseStorageImage(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                       const std::vector<Slot>& slots, Value& result);

  const ir::SpecialisedProgram& variant_;
  const ir::Pool& pool_;
  const ir::EntryRef& entry_;
  Surroundings& around_;
  Inputs inputs_;
  Membership membership_;
  std::map<uint32_t, Value> privates_;  // DeclId: variables of this invocation
  bool demoted_ = false;
  std::map<uint32_t, Value> constants_;  // ConstId: constant arrays that a variable indexes
  uint32_t steps_ = 0;
  Outcome outcome_;
};

const ir::EntryRef& EntryOf(const ir::SpecialisedProgram& variant, ir::Stage stage);

}  // namespace kiln::oracle::running
