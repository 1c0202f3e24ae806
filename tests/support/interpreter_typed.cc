// SPDX-License-Identifier: MIT
// What typed modules have beyond RPL: switches, atomics with scope and order, barriers, image
// operations, private variables and rows of interfaces. See docs/IR.md.
#include <algorithm>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/typing/image_typing.h"
#include "compiler/ir/typing/typing.h"
#include "tests/support/interpreter_cells.h"
#include "tests/support/interpreter_run.h"

namespace kiln::oracle::running {
namespace {

using ir::AtomicOp;

// The input that a built-in of SPIR-V is, where a dispatch gives it.
std::optional<ir::StageVariable> StageVariableOf(std::string_view builtin) {
  constexpr std::pair<std::string_view, ir::StageVariable> kInputs[] = {
      {"GlobalInvocationId", ir::StageVariable::kGlobalId},
      {"LocalInvocationId", ir::StageVariable::kLocalId},
      {"LocalInvocationIndex", ir::StageVariable::kLocalIndex},
      {"WorkgroupId", ir::StageVariable::kWorkgroupId},
      {"NumWorkgroups", ir::StageVariable::kWorkgroupCount},
  };
  const auto* row = std::ranges::find(kInputs, builtin, [](const auto& r) { return r.first; });
  return row == std::end(kInputs) ? std::nullopt : std::optional(row->second);
}

uint32_t AtomicResult(AtomicOp op, bool is_signed, uint32_t old, uint32_t operand) {
  const auto a = static_cast<int32_t>(old);
  const auto b = static_cast<int32_t>(operand);
  switch (op) {
    case AtomicOp::kAdd:
      return old + operand;
    case AtomicOp::kSub:
      return old - operand;
    case AtomicOp::kMin:
      return is_signed ? static_cast<uint32_t>(std::min(a, b)) : std::min(old, operand);
    case AtomicOp::kMax:
      return is_signed ? static_cast<uint32_t>(std::max(a, b)) : std::max(old, operand);
    case AtomicOp::kAnd:
      return old & operand;
    case AtomicOp::kOr:
      return old | operand;
    case AtomicOp::kXor:
      return old ^ operand;
    default:
      return operand;  // store, exchange
  }
}

}  // namespace

// The first block that the selector belongs to, and those it goes through to.
Flow Invocation::RunSwitch(Call& call, uint32_t region, const ir::SwitchInst& inst) {
  const ir::SpecialisedRegion& specialised = *call.function->regions[region].specialised;
  const std::span<const uint32_t> words = specialised.List(inst.cases);
  const Cell selector = call.slots[region][words[0]].value[0];
  if (!selector.exact()) {
    return Undecided("a selector is not exact");
  }
  std::vector<ir::SwitchCase> cases;
  size_t chosen = SIZE_MAX;
  size_t otherwise = SIZE_MAX;
  ir::ForEachCase(words, [&](const ir::SwitchCase& one) {
    for (const uint32_t label : one.labels) {
      if (pool_[ir::ConstId{label}].bits() == selector.bits) {
        chosen = cases.size();
      }
    }
    otherwise = one.is_default ? cases.size() : otherwise;
    cases.push_back(one);
  });
  for (size_t i = chosen != SIZE_MAX ? chosen : otherwise; i < cases.size(); ++i) {
    const Flow flow = RunBlock(call, region, ir::BlockId{cases[i].block});
    if (flow == Flow::kBreak && call.jump == inst.exit) {
      return Flow::kNext;
    }
    if (flow != Flow::kNext || !cases[i].through) {
      return flow;
    }
  }
  return Flow::kNext;
}

Flow Invocation::RunBarrier(const ir::Inst& inst) {
  const ir::BarrierMode mode = ir::UnpackBarrier(inst.As<ir::BarrierInst>().mode);
  if (mode.execution == ir::MemoryScope::kNone || membership_.team == nullptr) {
    return Flow::kNext;
  }
  if (mode.execution != ir::MemoryScope::kWorkgroup) {
    return Undecided("which invocations are a subgroup is open");
  }
  return membership_.team->Meet(membership_.member, &inst).empty()
             ? Undecided("a barrier that not every invocation reaches")
             : Flow::kNext;
}

Flow Invocation::RunAtomic(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                           const std::vector<Slot>& slots, Value& result) {
  const auto atomic = inst.As<ir::AtomicInst>();
  const std::span<const uint32_t> operands = specialised.List(atomic.operands);
  const Place& place = slots[operands[0]].place;
  const ir::Type& type = pool_[specialised.insts[operands[0]].type];
  if (place.variable == nullptr || ir::BitWidthOf(type.scalar) == 64) {
    return Undecided("atomics of texels and of 64 bits are not modelled");
  }
  Cell& cell = (*place.variable)[place.first];
  const Cell old = cell;
  const Cell operand = operands.size() > 1 ? slots[operands[1]].value[0] : old;
  if (atomic.op == AtomicOp::kCompareExchange) {
    const Cell replacement = slots[operands[2]].value[0];
    cell = !old.exact() || !operand.exact() ? Cell{} : old.bits == operand.bits ? replacement : old;
  } else if (atomic.op != AtomicOp::kLoad) {
    const bool moves = atomic.op == AtomicOp::kStore || atomic.op == AtomicOp::kExchange;
    const bool known = operand.exact() && (old.exact() || moves);
    const bool is_signed = ir::IsSignedScalar(type.scalar);
    cell = {.bits = AtomicResult(atomic.op, is_signed, old.bits, operand.bits),
            .error = known ? 0 : kUndefined};
  }
  result = {old};
  return Flow::kNext;
}

// An input that a dispatch gives is what it says, unless a test names another value; the rest goes
// by the names of rows.
Place Invocation::IoPlace(uint32_t row) {
  const ir::InterfaceRow& io = entry_.io[row];
  const std::string name(pool_.Text(io.name));
  const ir::Attribute* builtin = io.Find(ir::AttributeKey::kBuiltin);
  if (io.direction == ir::Direction::kIn && builtin != nullptr && !inputs_.fields.contains(name) &&
      !around_.globals.contains(name)) {
    if (const auto variable = StageVariableOf(pool_.Text(ir::StringId{builtin->a}))) {
      return StagePlace(*variable, io.type);
    }
  }
  const bool around = io.direction == ir::Direction::kIn && !inputs_.fields.contains(name) &&
                      around_.globals.contains(name);
  Value& value = around                                ? around_.globals[name]
                 : io.direction == ir::Direction::kOut ? outcome_.written[name]
                                                       : inputs_.fields[name];
  value.resize(CellCount(pool_, io.type));
  return {.variable = &value};
}

Place Invocation::PrivatePlace(const ir::SpecialisedDecl& decl) {
  const auto [found, is_new] = privates_.try_emplace(decl.decl.value);
  if (is_new) {
    found->second = decl.initial.valid() ? Constant(decl.initial)
                                         : Value(CellCount(pool_, decl.type), Cell{0, 0});
  }
  return {.variable = &found->second};
}

// Reading, writing and asking the size of storage images; the others are not modelled.
Flow Invocation::RunImage(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                          const std::vector<Slot>& slots, Value& result) {
  const auto image = inst.As<ir::ImageInst>();
  const std::span<const uint32_t> operands = specialised.List(image.operands);
  const bool storage = ir::UnpackImage(pool_[specialised.insts[operands[0]].type].extent).storage;
  const std::optional<ir::Builtin> known =
      image.op == ir::ImageOp::kRead    ? std::optional(ir::Builtin::kImageLoad)
      : image.op == ir::ImageOp::kWrite ? std::optional(ir::Builtin::kImageStore)
      : image.op == ir::ImageOp::kSize  ? std::optional(ir::Builtin::kImageSize)
                                        : std::nullopt;
  if (!storage || !known.has_value() || image.keywords != 0) {
    return Undecided("this image operation is not modelled");
  }
  // Both rows have the image first and its operands behind it, in one list.
  const ir::Inst same =
      ir::BuiltinCallInst{.type = inst.type, .builtin = *known, .arguments = image.operands}.To();
  return UseStorageImage(specialised, same, slots, result);
}

}  // namespace kiln::oracle::running
