// SPDX-License-Identifier: MIT
#include "compiler/resolve/specialise/specialise_builtin.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/typing/typing.h"
#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/specialise_call.h"
#include "compiler/resolve/specialise/specialise_image.h"

namespace kiln::resolve {
namespace {

using ir::Builtin;
using ir::Stage;
using ir::StageVariable;

// The bits of the float that is nearest to pi.
constexpr uint32_t kPiBits = 0x40490FDBu;

// Functions that read or write a variable of their stage.
// The table has a row for each variable; reading and writing are two functions of one shape.
struct StageFunction {
  Builtin builtin;
  Stage stage;
  StageVariable variable;
  bool writes;
};
constexpr StageFunction kStageFunctions[] = {
    {Builtin::kOutputPosition, Stage::kVertex, StageVariable::kPosition, true},
    {Builtin::kVertexIndex, Stage::kVertex, StageVariable::kVertexIndex, false},
    {Builtin::kInstanceIndex, Stage::kVertex, StageVariable::kInstanceIndex, false},
    {Builtin::kFragCoord, Stage::kFragment, StageVariable::kFragCoord, false},
    {Builtin::kFrontFacing, Stage::kFragment, StageVariable::kFrontFacing, false},
    {Builtin::kOutputFragDepth, Stage::kFragment, StageVariable::kFragDepth, true},
    {Builtin::kGlobalId, Stage::kCompute, StageVariable::kGlobalId, false},
    {Builtin::kLocalId, Stage::kCompute, StageVariable::kLocalId, false},
    {Builtin::kLocalIndex, Stage::kCompute, StageVariable::kLocalIndex, false},
    {Builtin::kWorkgroupId, Stage::kCompute, StageVariable::kWorkgroupId, false},
    {Builtin::kWorkgroupCount, Stage::kCompute, StageVariable::kWorkgroupCount, false},
};

// The derivatives stand together in builtins.def.
bool IsDerivative(Builtin builtin) {
  return builtin >= Builtin::kDdx && builtin <= Builtin::kDdyCoarse;
}

// What a call without a result gives.
Operand Nothing() {
  Operand nothing;
  nothing.kind = OperandKind::kVoid;
  return nothing;
}

// The number of arguments is checked before any of them is read: with a wrong number it is not
// known what each was meant for.
bool CheckCount(RegionBuilder& region, uint32_t id, std::string_view function, size_t expected) {
  const size_t found =
      region.module().List(region.Generic(id).As<ir::NameBuiltinInst>().arguments).size();
  if (found != expected) {
    region.Report(Make(Code::kRpl5036, region.MainOf(id))
                      .With("function", function)
                      .With("expected", expected)
                      .With("found", found));
  }
  return found == expected;
}

// A function of one stage binds its caller.
bool BindTo(RegionBuilder& region, ir::Stage stage, std::string_view function, uint32_t id) {
  if (region.answers().stage() != stage) {
    region.Report(Make(Code::kRpl5013, region.MainOf(id))
                      .With("function", function)
                      .With("stage", ir::NameOf(region.answers().stage())));
    return false;
  }
  region.out().bound = true;
  return true;
}

// The value of argument `index`, from 0, which has to be of a type; invalid if it is not.
ir::InstId ReadArgument(RegionBuilder& region, uint32_t argument, std::string_view function,
                        size_t index, ir::TypeId type) {
  const Role role{
      .form = Role::Form::kArgument, .text = function, .index = static_cast<uint32_t>(index + 1)};
  const ir::InstId value = Read(region, argument, role);
  if (value.valid() && region.TypeOf(value) != type) {
    ReportArgumentType(region, role, region.TypeOf(value), type, argument);
    return {};
  }
  return value;
}

// A family is one function for many types; its name has said for which ("min_f3"), so the signature
// is known and arguments are only compared with it. All arguments are read, also behind one that is
// wrong.
Operand SpecialiseFamily(RegionBuilder& region, uint32_t id) {
  const auto call = region.Generic(id).As<ir::NameBuiltinInst>();
  const ir::Type& written = region.module().types[call.type.value];
  const ir::TypeId type = written.kind == ir::TypeKind::kMatrix
                              ? region.pool().Matrix(written.scalar, written.columns, written.rows)
                              : region.pool().Vector(written.scalar, written.rows);
  const std::string_view function = region.FamilyText(call.builtin, type);
  const std::optional<ir::Signature> typing = ir::TypeOfBuiltin(region.pool(), call.builtin, type);
  KILN_CHECK(typing.has_value(), "the front end names only families that exist");
  const std::span<const ir::TypeId> parameters = typing->parameters();
  if (!CheckCount(region, id, function, parameters.size()) ||
      (IsDerivative(call.builtin) && !BindTo(region, Stage::kFragment, function, id))) {
    return {};
  }
  const std::span<const uint32_t> arguments = region.module().List(call.arguments);
  ScratchList values(region.scratch());
  bool good = true;
  // A wrong argument does not end the loop, so that all of them are told.
  for (size_t i = 0; i < arguments.size(); ++i) {
    values.Add(ReadArgument(region, arguments[i], function, i, parameters[i]));
    good = good && values.Inst(i).valid();
  }
  if (!good) {
    return {};
  }
  // RPL writes the value for "false" first; the IR and SPIR-V have the one for "true" first.
  if (call.builtin == Builtin::kSelect) {
    const uint32_t choices[] = {values[1], values[0]};  // written if_false first
    return region.ValueOf(region.Emit(ir::SelectInst{
        .type = type, .condition = values.Inst(2), .operands = region.EmitList(choices)}
                                          .To()));
  }
  if (call.builtin == Builtin::kShiftRightArithmetic) {
    return region.ValueOf(region.Emit(ir::BinaryInst{.type = type,
                                                     .op = ir::BinaryOp::kShiftRightArithmetic,
                                                     .left = values.Inst(0),
                                                     .right = values.Inst(1)}
                                          .To()));
  }
  return region.ValueOf(region.Emit(ir::BuiltinCallInst{
      .type = typing->result, .builtin = call.builtin, .arguments = region.EmitList(values)}
                                        .To()));
}

// A variable of the stage is a place like any other. That it was touched is noted once, for the
// interface of the entry point.
ir::InstId StagePlace(RegionBuilder& region, ir::StageVariable variable) {
  if (std::ranges::find(region.out().stage_variables, variable) ==
      region.out().stage_variables.end()) {
    region.out().stage_variables.push_back(variable);
  }
  return region.Emit(ir::StageRefInst{.type = region.pool().Vector(ir::TypeOfStage(variable)),
                                      .variable = variable}
                         .To());
}

// Read anew at each call: the variables of a stage do not change, and drivers know that.
Operand ReadStageVariable(RegionBuilder& region, ir::StageVariable variable) {
  const ir::InstId place = StagePlace(region, variable);
  return region.ValueOf(
      region.Emit(ir::LoadInst{.type = region.TypeOf(place), .place = place}.To()));
}

// The place is mentioned even if the value is wrong: the author means to write it, and a second
// message that nobody writes the position would be false.
Operand WriteStageVariable(RegionBuilder& region, ir::StageVariable variable, uint32_t id) {
  const auto call = region.Generic(id).As<ir::NameBuiltinInst>();
  const ir::InstId value =
      ReadArgument(region, region.module().List(call.arguments)[0], ir::FactsOf(call.builtin).name,
                   0, region.pool().Vector(ir::TypeOfStage(variable)));
  const ir::InstId place =
      StagePlace(region, variable);  // is meant to be written, whatever is wrong
  if (!value.valid()) {
    return {};
  }
  region.Emit(
      ir::StoreInst{.type = region.pool().void_type(), .place = place, .value = value}.To());
  return Nothing();
}

// Reads and writes of stage variables are rows of a table; what is left are constants, barriers and
// the discard.
Operand SpecialiseStageFunction(RegionBuilder& region, uint32_t id) {
  const auto call = region.Generic(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  const auto* row = std::ranges::find(kStageFunctions, call.builtin, &StageFunction::builtin);
  if (row != std::end(kStageFunctions)) {
    return CheckCount(region, id, function, row->writes ? 1 : 0) &&
                   BindTo(region, row->stage, function, id)
               ? (row->writes ? WriteStageVariable(region, row->variable, id)
                              : ReadStageVariable(region, row->variable))
               : Operand{};
  }
  if (!CheckCount(region, id, function, 0)) {
    return {};
  }
  if (call.builtin == Builtin::kPi) {
    return region.ValueOf(region.EmitConst(
        region.pool().InternScalar(region.pool().Vector(ir::Scalar::kF32, 1), kPiBits)));
  }
  if (ir::IsBarrier(call.builtin)) {
    if (!BindTo(region, Stage::kCompute, function, id)) {
      return {};
    }
    region.Emit(ir::BuiltinCallInst{.type = region.pool().void_type(),
                                    .builtin = call.builtin,
                                    .arguments = region.EmitList({})}
                    .To());
    return Nothing();
  }
  KILN_CHECK(call.builtin == Builtin::kStageDiscard, "{} is no stage function", function);
  if (!BindTo(region, Stage::kFragment, function, id)) {
    return {};
  }
  region.Emit(ir::DiscardInst{.type = region.pool().void_type()}.To());
  region.out().discards = true;
  return Nothing();
}

// Only a place that ends in a runtime array has a length. The place itself is the operand; nothing
// is loaded.
Operand SpecialiseArrayLength(RegionBuilder& region, uint32_t id) {
  const auto call = region.Generic(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  if (!CheckCount(region, id, function, 1)) {
    return {};
  }
  const uint32_t argument = region.module().List(call.arguments)[0];
  const Operand& operand = region.OperandOf(ir::InstId{argument});
  if (operand.kind == OperandKind::kFailed) {
    return {};
  }
  const bool placed = operand.kind == OperandKind::kPlace;
  if (!placed || region.pool()[operand.type].kind != ir::TypeKind::kRuntimeArray) {
    const bool typed = placed || operand.kind == OperandKind::kValue;
    region.Report(
        Make(Code::kRpl5030, region.MainOf(argument))
            .With("index", 1)
            .With("function", function)
            .With("found", typed ? region.TypeName(operand.type) : region.TextOf(argument))
            .With("expected", "runtime array"));
    return {};
  }
  // The length is a property of the buffer, which therefore has to be bound.
  region.Touched(operand, ir::MemberUse::kRead);
  const uint32_t place[] = {PlaceInst(region, operand).value};
  return region.ValueOf(
      region.Emit(ir::BuiltinCallInst{.type = region.pool().Vector(ir::Scalar::kU32, 1),
                                      .builtin = call.builtin,
                                      .arguments = region.EmitList(place)}
                      .To()));
}

// The place must be shared memory, a writable buffer or workgroup memory, and of one integer
// (spec/rpl 14.7). It is read and written in one, so both are noted.
Operand SpecialiseAtomic(RegionBuilder& region, uint32_t id) {
  const auto call = region.Generic(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  if (!CheckCount(region, id, function, call.builtin == Builtin::kAtomicCompareExchange ? 3 : 2)) {
    return {};
  }
  const std::span<const uint32_t> arguments = region.module().List(call.arguments);
  const Operand place = region.OperandOf(ir::InstId{arguments[0]});
  if (place.kind == OperandKind::kFailed) {
    return {};
  }
  // A direction would mean a variable between stages, which every invocation has for itself.
  const bool shared = place.kind == OperandKind::kPlace && place.decl.valid() && place.writable &&
                      place.direction == ir::Direction::kNone;
  const bool integer = shared && (place.type == region.pool().Vector(ir::Scalar::kU32, 1) ||
                                  place.type == region.pool().Vector(ir::Scalar::kS32, 1));
  if (!integer) {
    region.Report(Make(Code::kRpl8113, region.MainOf(arguments[0]))
                      .With("text", region.TextOf(arguments[0])));
    return {};
  }
  ScratchList operands(region.scratch());
  // The first operand is reserved: the place is lowered last, behind the values, because reading
  // them may write code of its own.
  operands.Add(0);
  bool good = true;
  for (size_t i = 1; i < arguments.size(); ++i) {
    operands.Add(ReadArgument(region, arguments[i], function, i, place.type));
    good = good && operands.Inst(i).valid();
  }
  if (!good) {
    return {};
  }
  region.Touched(place, ir::MemberUse::kRead);
  region.Touched(place, ir::MemberUse::kWrite);
  operands[0] = PlaceInst(region, place).value;
  return region.ValueOf(region.Emit(ir::BuiltinCallInst{
      .type = place.type, .builtin = call.builtin, .arguments = region.EmitList(operands)}
                                        .To()));
}

}  // namespace

// By what the arguments are: images, places, nothing, or values.
Operand SpecialiseBuiltin(RegionBuilder& region, uint32_t id) {
  const Builtin builtin = region.Generic(id).As<ir::NameBuiltinInst>().builtin;
  if (ir::IsSampling(builtin) || ir::TakesImage(builtin)) {
    return SpecialiseImageCall(region, id);
  }
  if (ir::IsAtomic(builtin)) {
    return SpecialiseAtomic(region, id);
  }
  if (builtin == Builtin::kArrayLength) {
    return SpecialiseArrayLength(region, id);
  }
  // Functions without a type in their name belong to a stage or are constants.
  return ir::FactsOf(builtin).types == ir::BuiltinTypes::kNone ? SpecialiseStageFunction(region, id)
                                                               : SpecialiseFamily(region, id);
}

}  // namespace kiln::resolve
