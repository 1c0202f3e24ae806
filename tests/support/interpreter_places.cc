// SPDX-License-Identifier: MIT
// Places: variables and their parts, memory that invocations share, atomics.
#include <algorithm>
#include <climits>

#include "compiler/base/check.h"
#include "compiler/ir/typing/typing.h"
#include "tests/support/interpreter_run.h"

namespace kiln::oracle::running {
namespace {

using ir::Builtin;
using ir::InstKind;

std::string_view NameOf(ir::StageVariable variable) {
  return variable == ir::StageVariable::kPosition ? "position" : "frag_depth";
}

uint32_t AtomicResult(Builtin builtin, bool is_signed, uint32_t old, uint32_t operand) {
  const auto a = static_cast<int32_t>(old);
  const auto b = static_cast<int32_t>(operand);
  if (builtin == Builtin::kAtomicAdd) {
    return old + operand;
  }
  if (builtin == Builtin::kAtomicMin) {
    return is_signed ? static_cast<uint32_t>(std::min(a, b)) : std::min(old, operand);
  }
  if (builtin == Builtin::kAtomicMax) {
    return is_signed ? static_cast<uint32_t>(std::max(a, b)) : std::max(old, operand);
  }
  if (builtin == Builtin::kAtomicAnd) {
    return old & operand;
  }
  if (builtin == Builtin::kAtomicOr) {
    return old | operand;
  }
  if (builtin == Builtin::kAtomicXor) {
    return old ^ operand;
  }
  KILN_CHECK(builtin == Builtin::kAtomicExchange);
  return operand;
}

}  // namespace

Flow Invocation::RunPlace(Call& call, uint32_t region, uint32_t number) {
  const ir::Inst& inst = call.function->regions[region].specialised->insts[number];
  Place& place = call.slots[region][number].place;
  if (inst.kind == InstKind::kGlobalRef) {
    place = GlobalPlace(inst.As<ir::GlobalRefInst>());
  } else if (inst.kind == InstKind::kStageRef) {
    place = StagePlace(inst.As<ir::StageRefInst>().variable, inst.type);
  } else if (inst.kind == InstKind::kLocalRef) {
    place = call.places.at(inst.As<ir::LocalRefInst>().local.value);
  } else if (inst.kind == InstKind::kTemp) {
    place = NewVariable(call, inst.type);
  } else if (inst.kind == InstKind::kIo) {
    place = IoPlace(inst.As<ir::IoInst>().row);
  } else if (inst.kind == InstKind::kTexel) {
    place = call.slots[region][inst.As<ir::TexelInst>().image.value].place;
  } else if (inst.kind == InstKind::kConstPlace) {
    const ir::ConstId id = inst.As<ir::ConstPlaceInst>().value;
    place = {.variable = &constants_.try_emplace(id.value, Constant(id)).first->second};
  } else {
    return RunAccess(call, region, number);
  }
  return Flow::kNext;
}

Place Invocation::StagePlace(ir::StageVariable variable, ir::TypeId type) {
  const bool written =
      variable == ir::StageVariable::kPosition || variable == ir::StageVariable::kFragDepth;
  Value& value =
      written ? outcome_.written[std::string(NameOf(variable))] : inputs_.stage[variable];
  value.resize(CellCount(pool_, type));
  return {.variable = &value};
}

Place Invocation::GlobalPlace(const ir::GlobalRefInst& global) {
  const auto decl = std::ranges::find(variant_.interface, global.decl,
                                      [](const ir::SpecialisedDecl* row) { return row->decl; });
  KILN_CHECK(decl != variant_.interface.end());
  std::string name(pool_.Text((*decl)->name));
  if (ir::IsHandle(pool_, global.type)) {
    return {.handle = std::move(name)};
  }
  if (global.member.valid()) {
    const auto member =
        std::ranges::find((*decl)->members, global.member, &ir::SpecialisedMember::member);
    name += "." + std::string(pool_.Text(member->name));
  }
  if (const auto own = inputs_.fields.find(name); own != inputs_.fields.end()) {
    return {.variable = &own->second};
  }
  if ((*decl)->kind == ir::DeclKind::kPrivate) {
    return PrivatePlace(**decl);
  }
  const bool shared = (*decl)->kind == ir::DeclKind::kWorkgroup && membership_.team != nullptr;
  auto& values = global.direction == ir::Direction::kOut ? outcome_.written
                 : shared                                ? membership_.team->memory
                                                         : around_.globals;
  Value& value = values[name];
  if (value.empty()) {
    value.resize(CellCount(pool_, global.type));
  }
  return {.variable = &value};
}

Flow Invocation::RunAccess(Call& call, uint32_t region, uint32_t number) {
  const ir::SpecialisedRegion& specialised = *call.function->regions[region].specialised;
  const auto access = specialised.insts[number].As<ir::AccessInst>();
  Place place = call.slots[region][access.root.value].place;
  ir::TypeId type = specialised.insts[access.root.value].type;
  const bool bounded = (specialised.insts[number].flags & ir::BitOf(ir::InstFlag::kBounded)) != 0;
  for (const uint32_t step : specialised.List(access.steps)) {
    Cell index = call.slots[region][step].value[0];
    if (!index.exact()) {
      return Undecided("an index is not exact");
    }
    const ir::Type& whole = pool_[type];
    const uint32_t count = ir::PartCount(pool_, type);
    if (bounded && whole.kind == ir::TypeKind::kRuntimeArray) {
      const uint32_t item = CellCount(pool_, ir::TypeId{whole.element});
      const auto cells = static_cast<uint32_t>(place.variable->size()) - place.first;
      index.bits = std::min(index.bits, cells / item - 1);
    } else if (bounded) {
      index.bits = std::min(index.bits, count - 1);
    }
    if (whole.kind != ir::TypeKind::kRuntimeArray && index.bits >= count) {
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
  if (place.variable != nullptr && place.first + CellCount(pool_, type) > place.variable->size()) {
    return Undecided("an index is out of range");
  }
  call.slots[region][number].place = place;
  return Flow::kNext;
}

Value Invocation::Load(const Place& place, ir::TypeId type) {
  const auto first = place.variable->begin() + place.first;
  return {first, first + CellCount(pool_, type)};
}

void Invocation::Store(const Place& place, const Value& value) {
  std::ranges::copy(value, place.variable->begin() + place.first);
}

// array_length, atomics and barriers
Flow Invocation::RunMemory(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                           const std::vector<Slot>& slots, Value& result) {
  const auto call = inst.As<ir::BuiltinCallInst>();
  if (ir::IsBarrier(call.builtin)) {
    const bool alone = membership_.team == nullptr;
    return alone || !membership_.team->Meet(membership_.member, &inst).empty()
               ? Flow::kNext
               : Undecided("a barrier that not every invocation reaches");
  }
  const std::span<const uint32_t> arguments = specialised.List(call.arguments);
  const Place& place = slots[arguments[0]].place;
  const ir::Type& type = pool_[specialised.insts[arguments[0]].type];
  if (call.builtin == Builtin::kArrayLength) {
    const uint32_t item = CellCount(pool_, ir::TypeId{type.element});
    const auto cells = static_cast<uint32_t>(place.variable->size()) - place.first;
    result = {{.bits = cells / item, .error = 0}};
    return Flow::kNext;
  }
  Cell& cell = (*place.variable)[place.first];
  const Cell old = cell;
  const Cell operand = slots[arguments[1]].value[0];
  if (call.builtin == Builtin::kAtomicCompareExchange) {
    const Cell replacement = slots[arguments[2]].value[0];
    cell = !old.exact() || !operand.exact() ? Cell{} : old.bits == operand.bits ? replacement : old;
  } else {
    const bool is_signed = type.scalar == ir::Scalar::kS32;
    const bool known = operand.exact() && (old.exact() || call.builtin == Builtin::kAtomicExchange);
    cell = {.bits = AtomicResult(call.builtin, is_signed, old.bits, operand.bits),
            .error = known ? 0 : kUndefined};
  }
  result = {old};
  return Flow::kNext;
}

}  // namespace kiln::oracle::running
