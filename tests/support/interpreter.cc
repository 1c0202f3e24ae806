// SPDX-License-Identifier: MIT
// Places, control flow and calls. Values are in interpreter_values.cc and interpreter_builtins.cc.
#include "tests/support/interpreter.h"

#include <algorithm>
#include <bit>
#include <deque>

#include "compiler/base/check.h"
#include "compiler/ir/typing.h"

namespace kiln::oracle {
namespace {

using ir::InstKind;

constexpr uint32_t kStepLimit = 1'000'000;

// Where control goes behind a statement.
enum class Flow : uint8_t { kNext, kBreak, kContinue, kReturn, kDiscard, kUndecided };

// A range of cells of a variable; of a handle its declaration and the item of an image array.
struct Place {
  Value* variable = nullptr;
  uint32_t first = 0;
  std::string handle;
  uint32_t item = 0;
};

// What one instruction gave: a value or a place.
struct Slot {
  Value value;
  Place place;
};

// One call: its variables by name, and the results of the instructions of each live segment.
struct Call {
  const ir::FunctionRef* function = nullptr;
  std::map<uint32_t, Place> places;  // LocalId: variables, `out` and handle parameters
  std::map<uint32_t, Value> values;  // LocalId: `in` parameters
  std::vector<std::vector<Slot>> slots;
  std::deque<Value> variables;  // owner of what the places denote
  Value result;
  ir::LocalId jump{};  // loop that break or continue means
};

class Invocation {
 public:
  Invocation(const ir::ClosedVariant& variant, const ir::EntryRef& entry, Surroundings& around)
      : variant_(variant), pool_(*variant.pool), entry_(entry), around_(around) {}

  Outcome Run() {
    Call call = BeginCall(*entry_.functions[0]);
    const Flow flow = RunSegment(call, 0);
    outcome_.discarded = flow == Flow::kDiscard;
    return std::move(outcome_);
  }

 private:
  Call BeginCall(const ir::FunctionRef& function) {
    Call call{.function = &function};
    call.slots.resize(function.segments.size());
    for (size_t i = 0; i < function.segments.size(); ++i) {
      call.slots[i].resize(function.segments[i].closed->insts.size());
      for (const ir::ClosedLocal& local : function.segments[i].closed->locals) {
        if (local.kind == ir::LocalKind::kVariable) {
          call.places[local.local.value] = NewVariable(call, local.type);
        }
      }
    }
    return call;
  }

  Place NewVariable(Call& call, ir::TypeId type) {
    return {.variable = &call.variables.emplace_back(CellCount(pool_, type))};
  }

  Flow Undecided(std::string_view why) {
    if (outcome_.undecided.empty()) {
      outcome_.undecided = why;
    }
    return Flow::kUndecided;
  }

  Flow RunSegment(Call& call, uint32_t segment) {
    return RunBlock(call, segment, call.function->segments[segment].closed->body);
  }

  Flow RunBlock(Call& call, uint32_t segment, ir::BlockId block) {
    const ir::ClosedSegment& closed = *call.function->segments[segment].closed;
    for (const uint32_t inst : closed.InstsOf(block)) {
      if (++steps_ > kStepLimit) {
        return Undecided("too many steps");
      }
      const Flow flow = RunInst(call, segment, inst);
      if (flow != Flow::kNext) {
        return flow;
      }
    }
    return Flow::kNext;
  }

  // Runs a value block; `value` is what it yields.
  Flow RunValueBlock(Call& call, uint32_t segment, ir::BlockId block, Value& value) {
    const ir::ClosedSegment& closed = *call.function->segments[segment].closed;
    const Flow flow = RunBlock(call, segment, block);
    const ir::Inst& last = closed.insts[closed.InstsOf(block).back()];
    value = call.slots[segment][last.As<ir::YieldInst>().value.value].value;
    return flow;
  }

  Flow RunInst(Call& call, uint32_t segment, uint32_t number) {
    const ir::Inst& inst = call.function->segments[segment].closed->insts[number];
    switch (ir::FactsOf(inst.kind).result) {
      case ir::ResultSchema::kPlace:
        return RunPlace(call, segment, number);
      case ir::ResultSchema::kValue:
        return RunValue(call, segment, number);
      case ir::ResultSchema::kVoid:
        return RunStatement(call, segment, inst);
      case ir::ResultSchema::kDeferred:
        break;
    }
    KILN_UNREACHABLE();
  }

  // --- places
  // ------------------------------------------------------------------------------------
  Flow RunPlace(Call& call, uint32_t segment, uint32_t number) {
    const ir::Inst& inst = call.function->segments[segment].closed->insts[number];
    Place& place = call.slots[segment][number].place;
    if (inst.kind == InstKind::kGlobalRef) {
      place = GlobalPlace(inst.As<ir::GlobalRefInst>());
    } else if (inst.kind == InstKind::kStageRef) {
      place = {.variable = &outcome_.written["position"]};
      place.variable->resize(CellCount(pool_, inst.type));
    } else if (inst.kind == InstKind::kLocalRef) {
      place = call.places.at(inst.As<ir::LocalRefInst>().local.value);
    } else if (inst.kind == InstKind::kTemp) {
      place = NewVariable(call, inst.type);
    } else {
      return RunAccess(call, segment, number);
    }
    return Flow::kNext;
  }

  Place GlobalPlace(const ir::GlobalRefInst& global) {
    const auto decl = std::ranges::find(variant_.interface, global.decl,
                                        [](const ir::ClosedDecl* row) { return row->decl; });
    KILN_CHECK(decl != variant_.interface.end());
    std::string name(pool_.Text((*decl)->name));
    if (ir::IsHandle(pool_, global.type)) {
      return {.handle = std::move(name)};
    }
    if (global.member.valid()) {
      const auto member =
          std::ranges::find((*decl)->members, global.member, &ir::ClosedMember::member);
      name += "." + std::string(pool_.Text(member->name));
    }
    if (global.direction == ir::Direction::kOut) {
      Value& written = outcome_.written[name];
      written.resize(CellCount(pool_, global.type));
      return {.variable = &written};
    }
    Value& read = around_.globals[name];
    if (read.empty()) {
      read.resize(CellCount(pool_, global.type));
    }
    return {.variable = &read};
  }

  Flow RunAccess(Call& call, uint32_t segment, uint32_t number) {
    const ir::ClosedSegment& closed = *call.function->segments[segment].closed;
    const auto access = closed.insts[number].As<ir::AccessInst>();
    Place place = call.slots[segment][access.root.value].place;
    ir::TypeId type = closed.insts[access.root.value].type;
    for (const uint32_t step : closed.List(access.steps)) {
      const Cell& index = call.slots[segment][step].value[0];
      if (!index.exact()) {
        return Undecided("an index is not exact");
      }
      const ir::Type& whole = pool_[type];
      if (whole.kind == ir::TypeKind::kArray && index.bits >= whole.extent) {
        return Undecided("an index is out of range");
      }
      const ir::TypeId part = *ir::PartType(pool_, type, index.bits);
      if (whole.kind == ir::TypeKind::kStruct) {
        for (uint32_t i = 0; i < index.bits; ++i) {
          place.first += CellCount(pool_, *ir::PartType(pool_, type, i));
        }
      } else if (place.variable == nullptr) {
        place.item = index.bits;
      } else {
        place.first += index.bits * CellCount(pool_, part);
      }
      type = part;
    }
    if (place.variable != nullptr &&
        place.first + CellCount(pool_, type) > place.variable->size()) {
      return Undecided("an index is out of range");
    }
    call.slots[segment][number].place = place;
    return Flow::kNext;
  }

  Value Load(const Place& place, ir::TypeId type) {
    const auto first = place.variable->begin() + place.first;
    return {first, first + CellCount(pool_, type)};
  }

  void Store(const Place& place, const Value& value) {
    std::ranges::copy(value, place.variable->begin() + place.first);
  }

  // --- values
  // ------------------------------------------------------------------------------------
  Flow RunValue(Call& call, uint32_t segment, uint32_t number) {
    const ir::ClosedSegment& closed = *call.function->segments[segment].closed;
    const ir::Inst& inst = closed.insts[number];
    std::vector<Slot>& slots = call.slots[segment];
    Value& result = slots[number].value;
    const auto value = [&](ir::InstId id) -> const Value& { return slots[id.value].value; };
    const auto type = [&](ir::InstId id) { return closed.insts[id.value].type; };
    if (inst.kind == InstKind::kConst) {
      result = Constant(inst.As<ir::ConstInst>().value);
    } else if (inst.kind == InstKind::kFlag) {
      result = {{.bits = inst.As<ir::FlagInst>().value, .error = 0}};
    } else if (inst.kind == InstKind::kParam) {
      result = call.values.at(inst.As<ir::ParamInst>().local.value);
    } else if (inst.kind == InstKind::kLoad) {
      result = Load(slots[inst.As<ir::LoadInst>().place.value].place, inst.type);
    } else if (inst.kind == InstKind::kUnary) {
      const auto unary = inst.As<ir::UnaryInst>();
      result = ApplyUnary(pool_, unary.op, inst.type, value(unary.operand));
    } else if (inst.kind == InstKind::kBinary) {
      const auto binary = inst.As<ir::BinaryInst>();
      result = ApplyBinary(pool_, binary.op, type(binary.left), value(binary.left),
                           type(binary.right), value(binary.right));
    } else if (inst.kind == InstKind::kConstruct) {
      Value made;
      for (const uint32_t operand : closed.List(inst.As<ir::ConstructInst>().operands)) {
        made.insert(made.end(), slots[operand].value.begin(), slots[operand].value.end());
      }
      result = std::move(made);
    } else if (inst.kind == InstKind::kSplat) {
      result = Value(pool_[inst.type].rows, value(inst.As<ir::SplatInst>().value)[0]);
    } else if (inst.kind == InstKind::kConvert) {
      const auto convert = inst.As<ir::ConvertInst>();
      result = ApplyConvert(pool_, type(convert.value), inst.type, value(convert.value));
    } else if (inst.kind == InstKind::kExtract) {
      const auto extract = inst.As<ir::ExtractInst>();
      uint32_t first = 0;
      for (uint32_t i = 0; i < extract.index; ++i) {
        first += CellCount(pool_, *ir::PartType(pool_, type(extract.value), i));
      }
      const auto begin = value(extract.value).begin() + first;
      result = Value(begin, begin + CellCount(pool_, inst.type));
    } else if (inst.kind == InstKind::kSwizzle) {
      const auto swizzle = inst.As<ir::SwizzleInst>();
      Value made;
      for (uint32_t i = 0; i < ir::SwizzleCount(swizzle.letters); ++i) {
        made.push_back(value(swizzle.value)[ir::SwizzleLetter(swizzle.letters, i)]);
      }
      result = std::move(made);
    } else if (inst.kind == InstKind::kBuiltinCall) {
      result = RunBuiltin(closed, inst.As<ir::BuiltinCallInst>(), slots);
    } else if (inst.kind == InstKind::kCall) {
      return RunCall(call, segment, number);
    } else {
      return RunChoice(call, segment, number);
    }
    return Flow::kNext;
  }

  Value Constant(ir::ConstId id) {
    const ir::Const& row = pool_[id];
    if (row.composite == 0) {
      return {{.bits = row.a, .error = 0}};
    }
    Value made;
    for (const ir::ConstId part : pool_.Parts(id)) {
      const Value cells = Constant(part);
      made.insert(made.end(), cells.begin(), cells.end());
    }
    return made;
  }

  Value RunBuiltin(const ir::ClosedSegment& closed, const ir::BuiltinCallInst& call,
                   const std::vector<Slot>& slots) {
    const std::span<const uint32_t> arguments = closed.List(call.arguments);
    if (!ir::IsSampling(call.builtin)) {
      std::vector<Value> values;
      for (const uint32_t argument : arguments) {
        values.push_back(slots[argument].value);
      }
      return ApplyBuiltin(pool_, call.builtin, closed.insts[arguments[0]].type, values);
    }
    SampleRequest request{.builtin = call.builtin,
                          .sampler = slots[arguments[0]].place.handle,
                          .image = slots[arguments[1]].place.handle,
                          .item = slots[arguments[1]].place.item,
                          .stage = entry_.stage};
    for (const Cell& cell : slots[arguments[2]].value) {
      request.coordinate.push_back(FloatOf(cell));
    }
    if (ir::SamplesDepth(call.builtin)) {
      request.reference = FloatOf(slots[arguments[3]].value[0]);
    }
    return around_.sample(request);
  }

  // logical, select, select_blocks
  Flow RunChoice(Call& call, uint32_t segment, uint32_t number) {
    const ir::ClosedSegment& closed = *call.function->segments[segment].closed;
    const ir::Inst& inst = closed.insts[number];
    std::vector<Slot>& slots = call.slots[segment];
    const ir::InstId first{inst.kind == InstKind::kLogical ? inst.As<ir::LogicalInst>().left
                           : inst.kind == InstKind::kSelect
                               ? inst.As<ir::SelectInst>().condition
                               : inst.As<ir::SelectBlocksInst>().condition};
    const Cell condition = slots[first.value].value[0];
    if (!condition.exact()) {
      return Undecided("a condition is not exact");
    }
    if (inst.kind == InstKind::kLogical) {
      const auto logical = inst.As<ir::LogicalInst>();
      if ((condition.bits != 0) == (logical.op == ir::LogicalOp::kOr)) {
        slots[number].value = {condition};
        return Flow::kNext;
      }
      return RunValueBlock(call, segment, logical.right, slots[number].value);
    }
    const uint32_t chosen = condition.bits != 0 ? 0 : 1;
    if (inst.kind == InstKind::kSelect) {
      const uint32_t operand = closed.List(inst.As<ir::SelectInst>().operands)[chosen];
      slots[number].value = slots[operand].value;
      return Flow::kNext;
    }
    const ir::BlockId block{closed.List(inst.As<ir::SelectBlocksInst>().blocks)[chosen]};
    return RunValueBlock(call, segment, block, slots[number].value);
  }

  // `out` and `in out` arguments are whole variables: the callee works on them (docs/IR.md).
  Flow RunCall(Call& caller, uint32_t segment, uint32_t number) {
    const ir::ClosedSegment& closed = *caller.function->segments[segment].closed;
    const auto inst = closed.insts[number].As<ir::CallInst>();
    const auto found =
        std::ranges::find(entry_.functions, inst.function, &ir::FunctionRef::function);
    KILN_CHECK(found != entry_.functions.end());
    const ir::FunctionRef* function = *found;
    Call call = BeginCall(*function);
    const std::span<const uint32_t> arguments = closed.List(inst.arguments);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ir::ClosedMember& parameter = function->signature->members[i];
      const Slot& given = caller.slots[segment][arguments[i]];
      if (parameter.access == ir::Access::kIn && !ir::IsHandle(pool_, parameter.type)) {
        call.values[parameter.local.value] = given.value;
        continue;
      }
      call.places[parameter.local.value] = given.place;
      if (parameter.access == ir::Access::kOut) {
        Store(given.place, Value(CellCount(pool_, parameter.type)));
      }
    }
    const Flow flow = RunSegment(call, 0);
    caller.slots[segment][number].value = std::move(call.result);
    return flow == Flow::kReturn ? Flow::kNext : flow;
  }

  // --- statements
  // --------------------------------------------------------------------------------
  Flow RunStatement(Call& call, uint32_t segment, const ir::Inst& inst) {
    std::vector<Slot>& slots = call.slots[segment];
    if (inst.kind == InstKind::kStore) {
      const auto store = inst.As<ir::StoreInst>();
      Store(slots[store.place.value].place, slots[store.value.value].value);
    } else if (inst.kind == InstKind::kScope) {
      return RunBlock(call, segment, inst.As<ir::ScopeInst>().block);
    } else if (inst.kind == InstKind::kIf) {
      return RunIf(call, segment, inst.As<ir::IfInst>());
    } else if (inst.kind == InstKind::kLoop) {
      return RunLoop(call, segment, inst.As<ir::LoopInst>());
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
    } else if (inst.kind == InstKind::kHole) {
      return RunHole(call, segment, inst.As<ir::HoleInst>().segment);
    } else {
      KILN_CHECK(inst.kind == InstKind::kYield);
    }
    return Flow::kNext;
  }

  Flow RunIf(Call& call, uint32_t segment, const ir::IfInst& inst) {
    const Cell condition = call.slots[segment][inst.condition.value].value[0];
    if (!condition.exact()) {
      return Undecided("a condition is not exact");
    }
    const std::span<const uint32_t> blocks =
        call.function->segments[segment].closed->List(inst.blocks);
    const size_t chosen = condition.bits != 0 ? 0 : 1;
    return chosen < blocks.size() ? RunBlock(call, segment, ir::BlockId{blocks[chosen]})
                                  : Flow::kNext;
  }

  Flow RunLoop(Call& call, uint32_t segment, const ir::LoopInst& inst) {
    const std::span<const uint32_t> blocks =
        call.function->segments[segment].closed->List(inst.blocks);
    while (true) {
      Value go_on;
      Flow flow = RunValueBlock(call, segment, ir::BlockId{blocks[0]}, go_on);
      if (flow != Flow::kNext) {
        return flow;
      }
      if (!go_on[0].exact()) {
        return Undecided("a condition is not exact");
      }
      if (go_on[0].bits == 0) {
        return Flow::kNext;
      }
      flow = RunBlock(call, segment, ir::BlockId{blocks[1]});
      const bool mine = call.jump == inst.exit;
      if (flow == Flow::kBreak && mine) {
        return Flow::kNext;
      }
      if (flow != Flow::kNext && !(flow == Flow::kContinue && mine)) {
        return flow;
      }
      flow = RunBlock(call, segment, ir::BlockId{blocks[2]});
      if (flow != Flow::kNext) {
        return flow;
      }
    }
  }

  // A hole whose segment is not among the live ones is empty.
  Flow RunHole(Call& call, uint32_t parent, ir::SegmentId segment) {
    const std::vector<ir::SegmentRef>& segments = call.function->segments;
    for (uint32_t i = 1; i < segments.size(); ++i) {
      if (segments[i].segment == segment && segments[i].parent == parent) {
        return RunSegment(call, i);
      }
    }
    return Flow::kNext;
  }

  const ir::ClosedVariant& variant_;
  const ir::Pool& pool_;
  const ir::EntryRef& entry_;
  Surroundings& around_;
  uint32_t steps_ = 0;
  Outcome outcome_;
};

}  // namespace

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

Outcome Interpret(const ir::ClosedVariant& variant, ir::Stage stage, Surroundings& around) {
  const auto entry = std::ranges::find(variant.entries, stage, &ir::EntryRef::stage);
  KILN_CHECK(entry != variant.entries.end());
  return Invocation(variant, *entry, around).Run();
}

}  // namespace kiln::oracle
