// SPDX-License-Identifier: MIT
#include "compiler/resolve/specialise/specialise_assign.h"

#include <string_view>

#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/specialise_operator.h"
#include "compiler/resolve/values/open_text.h"

namespace kiln::resolve {

// The target comes first, since an assignment is an expression and both sides are evaluated from
// left to right. It stays a place: only the value is read.
Operand SpecialiseAssign(RegionBuilder& region, uint32_t id) {
  const auto assign = region.Generic(id).As<ir::AssignInst>();
  const Operand target = region.OperandOf(assign.target);
  if (target.kind == OperandKind::kFailed) {
    return {};
  }
  // A target that cannot be written is reported with what would be needed; it is the same message
  // whether it is no place at all or one that may only be read.
  const auto refuse = [&] {
    region.Report(Make(Code::kRpl6015, region.MainOf(assign.target.value))
                      .With("text", region.TextOf(assign.target.value)));
    NoteAccess(region, target);
    return Operand{};
  };
  if (target.kind == OperandKind::kPlace && !target.writable) {
    return refuse();  // whatever is wrong with the value: both sides may be exchanged
  }
  // Reading the value comes before the second refusal, so its own mistakes are told as well.
  const ir::InstId value =
      Read(region, assign.value.value, {.form = Role::Form::kRight, .text = "="});
  if (!value.valid()) {
    return {};
  }
  if (target.kind != OperandKind::kPlace) {
    return refuse();
  }
  // Arrays are initialised as a whole but never assigned (spec/rpl 14.5).
  if (region.pool()[target.type].kind == ir::TypeKind::kArray) {
    region.Report(Make(Code::kRpl6016, region.MainOf(assign.target.value))
                      .With("role", "left operand of '='"));
    return {};
  }
  if (region.TypeOf(value) != target.type) {
    region.Report(Make(Code::kRpl6026, region.AuxOf(id))
                      .With("right", region.TypeName(region.TypeOf(value)))
                      .With("left", region.TypeName(target.type)));
    NoteConversion(region, region.TypeOf(value), target.type);
    return {};
  }
  StoreTo(region, target, value);
  // An assignment has the value that was stored, not what a load of the place would give.
  return region.ValueOf(value);
}

// `a += b` reads the place, computes and stores. Both sides are read before anything is refused, so
// that an author sees what is wrong with each of them.
Operand SpecialiseAssignOp(RegionBuilder& region, uint32_t id) {
  const auto assign = region.Generic(id).As<ir::AssignOpInst>();
  const std::string_view op = OperatorText(assign.op);
  // The old value is read first, as the operator's left side.
  const ir::InstId before =
      Read(region, assign.target.value, {.form = Role::Form::kLeft, .text = op});
  const ir::InstId value =
      Read(region, assign.value.value, {.form = Role::Form::kRight, .text = op});
  const Operand target = region.OperandOf(assign.target);
  if (!before.valid() || !value.valid()) {
    return {};
  }
  if (target.kind != OperandKind::kPlace || !target.writable) {
    region.Report(Make(Code::kRpl6015, region.MainOf(assign.target.value))
                      .With("text", region.TextOf(assign.target.value)));
    NoteAccess(region, target);
    return {};
  }
  // The operator is the same as in `a + b`, with its own rules and messages; only then the result
  // must have the type of the target.
  const Operand result = CombineBinary(region, assign.op, before, value, id);
  if (result.kind == OperandKind::kFailed) {
    return {};
  }
  if (result.type != target.type) {
    region.Report(Make(Code::kRpl6026, region.AuxOf(id))
                      .With("right", region.TypeName(result.type))
                      .With("left", region.TypeName(target.type)));
    return {};
  }
  StoreTo(region, target, result.inst);
  return result;
}

}  // namespace kiln::resolve
