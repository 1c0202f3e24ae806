// SPDX-License-Identifier: MIT
// Control flow and calls.
#include "tests/support/interpreter.h"

#include <algorithm>
#include <bit>

#include "compiler/base/check.h"
#include "compiler/ir/typing/typing.h"
#include "tests/support/interpreter_run.h"

namespace kiln::oracle {
namespace running {
namespace {

using ir::InstKind;

constexpr uint32_t kStepLimit = 1'000'000;

}  // namespace

Outcome Invocation::Run() {
  Call call = BeginCall(*entry_.functions[0]);
  outcome_.discarded = RunRegion(call, 0) == Flow::kDiscard || demoted_;
  return std::move(outcome_);
}

Call Invocation::BeginCall(const ir::FunctionRef& function) {
  Call call{.function = &function};
  call.slots.resize(function.regions.size());
  for (size_t i = 0; i < function.regions.size(); ++i) {
    call.slots[i].resize(function.regions[i].specialised->insts.size());
    for (const ir::SpecialisedLocal& local : function.regions[i].specialised->locals) {
      if (local.kind == ir::LocalKind::kVariable) {
        call.places[local.local.value] = NewVariable(call, local.type);
      }
    }
  }
  return call;
}

Place Invocation::NewVariable(Call& call, ir::TypeId type) {
  return {.variable = &call.variables.emplace_back(CellCount(pool_, type))};
}

Flow Invocation::Undecided(std::string_view why) {
  if (outcome_.undecided.empty()) {
    outcome_.undecided = why;
  }
  return Flow::kUndecided;
}

Flow Invocation::RunRegion(Call& call, uint32_t region) {
  return RunBlock(call, region, call.function->regions[region].specialised->body);
}

Flow Invocation::RunBlock(Call& call, uint32_t region, ir::BlockId block) {
  const ir::SpecialisedRegion& specialised = *call.function->regions[region].specialised;
  for (const uint32_t inst : specialised.InstsOf(block)) {
    if (++steps_ > kStepLimit) {
      return Undecided("too many steps");
    }
    const Flow flow = RunInst(call, region, inst);
    if (flow != Flow::kNext) {
      return flow;
    }
  }
  return Flow::kNext;
}

Flow Invocation::RunValueBlock(Call& call, uint32_t region, ir::BlockId block, Value& value) {
  const ir::SpecialisedRegion& specialised = *call.function->regions[region].specialised;
  const Flow flow = RunBlock(call, region, block);
  const ir::Inst& last = specialised.insts[specialised.InstsOf(block).back()];
  value = call.slots[region][last.As<ir::YieldInst>().value.value].value;
  return flow;
}

Flow Invocation::RunInst(Call& call, uint32_t region, uint32_t number) {
  const ir::Inst& inst = call.function->regions[region].specialised->insts[number];
  switch (ir::FactsOf(inst.kind).result) {
    case ir::ResultSchema::kPlace:
      return RunPlace(call, region, number);
    case ir::ResultSchema::kValue:
      return RunValue(call, region, number);
    case ir::ResultSchema::kVoid:
      return RunStatement(call, region, inst);
    case ir::ResultSchema::kDeferred:
      break;
  }
  KILN_UNREACHABLE();
}

Flow Invocation::RunLogical(Call& call, uint32_t region, uint32_t number) {
  const auto logical =
      call.function->regions[region].specialised->insts[number].As<ir::LogicalInst>();
  std::vector<Slot>& slots = call.slots[region];
  const Cell left = slots[logical.left.value].value[0];
  if (!left.exact()) {
    return Undecided("a condition is not exact");
  }
  if ((left.bits != 0) == (logical.op == ir::LogicalOp::kOr)) {
    slots[number].value = {left};
    return Flow::kNext;
  }
  return RunValueBlock(call, region, logical.right, slots[number].value);
}

Flow Invocation::RunSelectBlocks(Call& call, uint32_t region, uint32_t number) {
  const ir::SpecialisedRegion& specialised = *call.function->regions[region].specialised;
  const auto select = specialised.insts[number].As<ir::SelectBlocksInst>();
  std::vector<Slot>& slots = call.slots[region];
  const Cell condition = slots[select.condition.value].value[0];
  if (!condition.exact()) {
    return Undecided("a condition is not exact");
  }
  const ir::BlockId block{specialised.List(select.blocks)[condition.bits != 0 ? 0 : 1]};
  return RunValueBlock(call, region, block, slots[number].value);
}

// `out` and `in out` arguments are whole variables: the callee works on them (docs/IR.md).
Flow Invocation::RunCall(Call& caller, uint32_t region, uint32_t number) {
  const ir::SpecialisedRegion& specialised = *caller.function->regions[region].specialised;
  const auto inst = specialised.insts[number].As<ir::CallInst>();
  const auto found = std::ranges::find(entry_.functions, inst.function, &ir::FunctionRef::function);
  KILN_CHECK(found != entry_.functions.end());
  const ir::FunctionRef* function = *found;
  Call call = BeginCall(*function);
  const std::span<const uint32_t> arguments = specialised.List(inst.arguments);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::SpecialisedMember& parameter = function->signature->members[i];
    const Slot& given = caller.slots[region][arguments[i]];
    if (parameter.access == ir::Access::kIn && !ir::IsHandle(pool_, parameter.type)) {
      call.values[parameter.local.value] = given.value;
      continue;
    }
    call.places[parameter.local.value] = given.place;
    if (parameter.access == ir::Access::kOut) {
      Store(given.place, Value(CellCount(pool_, parameter.type)));
    }
  }
  const Flow flow = RunRegion(call, 0);
  caller.slots[region][number].value = std::move(call.result);
  return flow == Flow::kReturn ? Flow::kNext : flow;
}

Flow Invocation::RunStatement(Call& call, uint32_t region, const ir::Inst& inst) {
  std::vector<Slot>& slots = call.slots[region];
  if (inst.kind == InstKind::kStore) {
    const auto store = inst.As<ir::StoreInst>();
    Store(slots[store.place.value].place, slots[store.value.value].value);
  } else if (inst.kind == InstKind::kScope) {
    return RunBlock(call, region, inst.As<ir::ScopeInst>().block);
  } else if (inst.kind == InstKind::kIf) {
    return RunIf(call, region, inst.As<ir::IfInst>());
  } else if (inst.kind == InstKind::kLoop) {
    return RunLoop(call, region, inst.As<ir::LoopInst>());
  } else if (inst.kind == InstKind::kBreak) {
    call.jump = inst.As<ir::BreakInst>().exit;
    return Flow::kBreak;
  } else if (inst.kind == InstKind::kContinue) {
    call.jump = inst.As<ir::ContinueInst>().exit;
    return Flow::kContinue;
  } else if (inst.kind == InstKind::kReturn) {
    const ir::InstId value = inst.As<ir::ReturnInst>().value;
    if (value.valid()) {
      call.result = slots[value.value].value;
    }
    return Flow::kReturn;
  } else if (inst.kind == InstKind::kDiscard) {
    return Flow::kDiscard;
  } else if (inst.kind == InstKind::kSwitch) {
    return RunSwitch(call, region, inst.As<ir::SwitchInst>());
  } else if (inst.kind == InstKind::kDemote) {
    demoted_ = true;
  } else if (inst.kind == InstKind::kUnreachable) {
    return Undecided("what nobody comes to was reached");
  } else if (inst.kind == InstKind::kBarrier) {
    return RunBarrier(inst);
  } else if (inst.kind == InstKind::kInsertionPoint) {
    return RunInsertionPoint(call, region, inst.As<ir::InsertionPointInst>().region);
  } else {
    KILN_CHECK(inst.kind == InstKind::kYield);
  }
  return Flow::kNext;
}

Flow Invocation::RunIf(Call& call, uint32_t region, const ir::IfInst& inst) {
  const Cell condition = call.slots[region][inst.condition.value].value[0];
  if (!condition.exact()) {
    return Undecided("a condition is not exact");
  }
  const std::span<const uint32_t> blocks =
      call.function->regions[region].specialised->List(inst.blocks);
  const size_t chosen = condition.bits != 0 ? 0 : 1;
  return chosen < blocks.size() ? RunBlock(call, region, ir::BlockId{blocks[chosen]}) : Flow::kNext;
}

Flow Invocation::RunLoop(Call& call, uint32_t region, const ir::LoopInst& inst) {
  const std::span<const uint32_t> blocks =
      call.function->regions[region].specialised->List(inst.blocks);
  const ir::SpecialisedRegion& specialised = *call.function->regions[region].specialised;
  const auto yields = [&](size_t i) {
    const std::span<const uint32_t> insts = specialised.InstsOf(ir::BlockId{blocks[i]});
    return !insts.empty() && specialised.insts[insts.back()].kind == InstKind::kYield;
  };
  bool again = true;
  // Runs a part; `again` is what it yields, if it yields.
  const auto run = [&](size_t i) {
    if (!yields(i)) {
      return RunBlock(call, region, ir::BlockId{blocks[i]});
    }
    Value go_on;
    const Flow flow = RunValueBlock(call, region, ir::BlockId{blocks[i]}, go_on);
    if (flow == Flow::kNext && !go_on[0].exact()) {
      return Undecided("a condition is not exact");
    }
    again = flow == Flow::kNext && go_on[0].bits != 0;
    return flow;
  };
  while (true) {
    if (++steps_ > kStepLimit) {
      return Undecided("too many steps");
    }
    Flow flow = run(0);
    if (flow != Flow::kNext || !again) {
      return flow;
    }
    flow = RunBlock(call, region, ir::BlockId{blocks[1]});
    const bool mine = call.jump == inst.exit;
    if (flow == Flow::kBreak && mine) {
      return Flow::kNext;
    }
    if (flow != Flow::kNext && !(flow == Flow::kContinue && mine)) {
      return flow;
    }
    flow = run(2);
    if (flow != Flow::kNext || !again) {
      return flow;
    }
  }
}

// An insertion point whose region is not among the live ones is empty.
Flow Invocation::RunInsertionPoint(Call& call, uint32_t parent, ir::RegionId region) {
  const std::vector<ir::RegionRef>& regions = call.function->regions;
  for (uint32_t i = 1; i < regions.size(); ++i) {
    if (regions[i].region == region && regions[i].parent == parent) {
      return RunRegion(call, i);
    }
  }
  return Flow::kNext;
}

const ir::EntryRef& EntryOf(const ir::SpecialisedProgram& variant, ir::Stage stage) {
  const auto entry = std::ranges::find(variant.entries, stage, &ir::EntryRef::stage);
  KILN_CHECK(entry != variant.entries.end());
  return *entry;
}

}  // namespace running

uint32_t CellCount(const ir::Pool& pool, ir::TypeId id) {
  const ir::Type& type = pool[id];
  switch (type.kind) {
    case ir::TypeKind::kVector:
      return type.rows;
    case ir::TypeKind::kMatrix:
      return uint32_t{type.rows} * type.columns;
    case ir::TypeKind::kArray:
      return type.extent * CellCount(pool, ir::TypeId{type.element});
    case ir::TypeKind::kStruct: {
      uint32_t count = 0;
      for (const ir::ShapeMember& member : pool.Members(id)) {
        count += CellCount(pool, member.type);
      }
      return count;
    }
    case ir::TypeKind::kVoid:
    case ir::TypeKind::kRuntimeArray:
    case ir::TypeKind::kSampler:
    case ir::TypeKind::kImage:
    case ir::TypeKind::kNamed:
    case ir::TypeKind::kDeferred:
    case ir::TypeKind::kDeclared:
    case ir::TypeKind::kSampledImage:
    case ir::TypeKind::kAccel:
    case ir::TypeKind::kRayQuery:
      return 0;
  }
  KILN_UNREACHABLE();
}

Value ExactValue(std::span<const uint32_t> words) {
  Value value;
  for (const uint32_t word : words) {
    value.push_back({.bits = word, .error = 0});
  }
  return value;
}

Value ExactFloats(std::span<const float> numbers) {
  Value value;
  for (const float number : numbers) {
    value.push_back({.bits = std::bit_cast<uint32_t>(number), .error = 0});
  }
  return value;
}

float FloatOf(const Cell& cell) { return std::bit_cast<float>(cell.bits); }

Outcome Interpret(const ir::SpecialisedProgram& variant, ir::Stage stage, Surroundings& around,
                  const Inputs& inputs) {
  return running::Invocation(variant, running::EntryOf(variant, stage), around, inputs, {}).Run();
}

}  // namespace kiln::oracle
