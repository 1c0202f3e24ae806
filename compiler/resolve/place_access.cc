// SPDX-License-Identifier: MIT
// Steps of all places lie in one list. A place that is stepped into once more appends to it if its
// own steps are the last ones; else they are copied to the end first, so that places which share a
// beginning do not disturb each other.
#include "compiler/resolve/place_access.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/specialise/specialise_type.h"

namespace kiln::resolve {

std::string RoleText(const Role& role) {
  switch (role.form) {
    case Role::Form::kLeft:
      return "left operand of '" + std::string(role.text) + "'";
    case Role::Form::kRight:
      return "right operand of '" + std::string(role.text) + "'";
    case Role::Form::kOperand:
      return "operand of '" + std::string(role.text) + "'";
    case Role::Form::kArgument:
      return "argument " + std::to_string(role.index) + " of '" + std::string(role.text) + "'";
    case Role::Form::kConstructor:
      return "argument " + std::to_string(role.index) + " of constructor '" +
             std::string(role.text) + "'";
    case Role::Form::kCondition:
      return "condition of '" + std::string(role.text) + "'";
    case Role::Form::kPlain:
      return std::string(role.text);
  }
  KILN_UNREACHABLE();
}

// A part of a value is extracted at once. A part of a place is only one more step, and nothing is
// read before somebody wants the value.
Operand Part(RegionBuilder& region, const Operand& source, uint32_t position, ir::TypeId type) {
  if (source.kind != OperandKind::kValue) {
    return Step(region, source, region.EmitUint(position), type);
  }
  Operand part = region.ValueOf(
      region.Emit(ir::ExtractInst{.type = type, .value = source.inst, .index = position}.To()));
  // Where a value came from is kept for messages alone.
  part.local = source.local;
  return part;
}

Operand Step(RegionBuilder& region, const Operand& place, ir::InstId step, ir::TypeId type) {
  Operand result = place;
  result.kind = OperandKind::kPlace;
  // An early read was one of the whole place and says nothing about its part.
  result.early = {};
  result.type = type;
  if (place.first_step + place.step_count != region.steps().size()) {
    result.first_step = static_cast<uint32_t>(region.steps().size());
    for (uint32_t i = 0; i < place.step_count; ++i) {
      // By index and not by iterator: the list grows while it is read.
      region.steps().push_back(ir::InstId{region.steps()[place.first_step + i]});
    }
  }
  Push(region.steps(), step);
  ++result.step_count;
  return result;
}

// A value has no address. Where one is needed, as for an index that is not constant, it is stored
// to a temp first.
Operand Spill(RegionBuilder& region, const Operand& value) {
  // The value keeps its type and its origin; only the kind and the row change.
  Operand place = value;
  place.kind = OperandKind::kPlace;
  place.inst = region.Emit(ir::TempInst{.type = value.type}.To());
  region.Emit(
      ir::StoreInst{.type = region.pool().void_type(), .place = place.inst, .value = value.inst}
          .To());
  return place;
}

Operand ConstantPlace(RegionBuilder& region, const Operand& constant) {
  Operand place = constant;
  // The same for a constant, which needs no store: the emitter makes one variable for it.
  place.kind = OperandKind::kPlace;
  const ir::ConstId value = region.out().insts[constant.inst.value].As<ir::ConstInst>().value;
  place.inst = region.Emit(ir::ConstPlaceInst{.type = constant.type, .value = value}.To());
  return place;
}

namespace {

bool HasVariableStep(RegionBuilder& region, const Operand& place) {
  for (uint32_t i = 0; i < place.step_count; ++i) {
    const ir::InstId step = region.steps()[place.first_step + i];
    if (region.out().insts[step.value].kind != ir::InstKind::kConst) {
      return true;
    }
  }
  return false;
}

}  // namespace

// The access is emitted where the place is used and not where it is named, since only then all
// steps are known.
ir::InstId PlaceInst(RegionBuilder& region, const Operand& place) {
  if (place.step_count == 0) {
    return place.inst;
  }
  ScratchList steps(region.scratch());
  for (uint32_t i = 0; i < place.step_count; ++i) {
    steps.Add(region.steps()[place.first_step + i]);
  }
  ir::Inst access =
      ir::AccessInst{.type = place.type, .root = place.inst, .steps = region.EmitList(steps)}.To();
  // Which descriptor is used may differ within a group of invocations, and then the emitter has to
  // say so.
  if (IsHandle(region.pool()[place.type]) && HasVariableStep(region, place)) {
    access.flags |= ir::BitOf(ir::InstFlag::kNonUniform);  // spec/rpl 11.3
  }
  return region.Emit(access);
}

ir::InstId LoadFrom(RegionBuilder& region, const Operand& place) {
  // What is read decides which inputs and state a stage has.
  region.Touched(place, ir::MemberUse::kRead);
  return region.Emit(ir::LoadInst{.type = place.type, .place = PlaceInst(region, place)}.To());
}

// The mention is noted before the store, because a member that is only written is an output.
void StoreTo(RegionBuilder& region, const Operand& place, ir::InstId value) {
  region.Touched(place, ir::MemberUse::kWrite);
  const ir::InstId target = PlaceInst(region, place);
  region.Emit(
      ir::StoreInst{.type = region.pool().void_type(), .place = target, .value = value}.To());
}

// Says why a place cannot be read or written, for the message that was reported last.
void NoteAccess(RegionBuilder& region, const Operand& place) {
  std::string why;
  // The stage decides about containers, so it is named.
  if (place.decl.valid() && place.direction != ir::Direction::kNone) {
    const ir::Decl& decl = region.program().Get(place.decl);
    why = std::string(DeclKindText(decl)) + " '" +
          std::string(region.program().Text(region.program().NameOf(place.decl))) + "' is " +
          (place.readable ? "read" : "write") + "-only in the " +
          std::string(ir::NameOf(region.answers().stage())) + " stage";
  } else if (place.decl.valid()) {
    why = std::string(DeclKindText(region.program().Get(place.decl))) + "s are read-only";
  } else if (place.kind == OperandKind::kPlace) {
    why = place.readable
              ? "an 'in' argument is read-only; make it 'in out', or copy it to a variable"
              : "an 'out' argument is write-only; make it 'in out'";
  } else if (place.kind == OperandKind::kValue && place.local) {
    why = region.out().insts[place.inst.value].kind == ir::InstKind::kSwizzle
              ? "a swizzle cannot be assigned; assign its components one by one"
              : "an 'in' argument is read-only; make it 'in out', or copy it to a variable";
  }
  if (!why.empty()) {
    std::move(region.diagnostics().back()).Note(NoteKind::kAdvice, {{"advice", why}});
  }
}

ir::InstId Read(RegionBuilder& region, uint32_t operand_inst, const Role& role, Arrays arrays) {
  return ReadOperand(region, region.OperandOf(ir::InstId{operand_inst}), operand_inst, role,
                     arrays);
}

// The order of the checks is that of the messages: what is no value at all comes before a value
// that must not be read, and that before an array.
ir::InstId ReadOperand(RegionBuilder& region, Operand& operand, uint32_t inst, const Role& role,
                       Arrays arrays) {
  const ir::Inst& open = region.Generic(inst);
  switch (operand.kind) {
    // Reported where it failed.
    case OperandKind::kFailed:
      return {};
    case OperandKind::kVoid: {
      const std::string name =
          open.kind == ir::InstKind::kNameCall
              ? std::string(region.module().Text(open.As<ir::NameCallInst>().name))
              : region.TextOf(inst);
      region.Report(Make(Code::kRpl6005, region.MainOf(inst)).With("function", name));
      return {};
    }
    case OperandKind::kBlock:
    case OperandKind::kContainer: {
      region.Report(Make(Code::kRpl6004, region.MainOf(inst))
                        .With("kind", DeclKindText(region.program().Get(operand.decl)))
                        .With("name", region.TextOf(inst)));
      return {};
    }
    case OperandKind::kValue:
    case OperandKind::kPlace:
      break;
  }
  const ir::Type& type = region.pool()[operand.type];
  if (IsHandle(type)) {
    region.Report(Make(Code::kRpl6004, region.MainOf(inst))
                      .With("kind", type.kind == ir::TypeKind::kSampler ? "sampler" : "image")
                      .With("name", region.TextOf(inst)));
    return {};
  }
  if (!operand.readable) {
    region.Report(Make(Code::kRpl6014, region.MainOf(inst)).With("role", RoleText(role)));
    NoteAccess(region, operand);
    return {};
  }
  if (IsArray(type) && (arrays == Arrays::kRefused || type.kind == ir::TypeKind::kRuntimeArray)) {
    region.Report(Make(Code::kRpl6016, region.MainOf(inst)).With("role", RoleText(role)));
    return {};
  }
  if (operand.kind == OperandKind::kValue) {
    // A value has been computed already.
    return operand.inst;
  }
  // The early read was made where the operand stands, before an effect that comes behind it.
  return operand.early.valid() ? operand.early : LoadFrom(region, operand);
}

}  // namespace kiln::resolve
