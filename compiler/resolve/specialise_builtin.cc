// SPDX-License-Identifier: MIT
// Inbuilt functions: families of ir/builtins.def, stage functions and functions of memory. Those of
// images are in specialise_image.cc. See spec/rpl 6, 14.1, 14.6, 14.7
#include <algorithm>
#include <iterator>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/typing.h"
#include "compiler/resolve/kind_text.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/region_specialiser.h"

namespace kiln::resolve {
namespace {

using ir::Builtin;
using ir::Stage;
using ir::StageVariable;

constexpr uint32_t kPiBits = 0x40490FDBu;

// Functions that read or write a variable of their stage.
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

bool IsDerivative(Builtin builtin) {
  return builtin >= Builtin::kDdx && builtin <= Builtin::kDdyCoarse;
}

Operand Nothing() {
  Operand nothing;
  nothing.kind = OperandKind::kVoid;
  return nothing;
}

}  // namespace

Operand RegionSpecialiser::SpecialiseBuiltin(uint32_t id) {
  const Builtin builtin = Open(id).As<ir::NameBuiltinInst>().builtin;
  if (ir::IsSampling(builtin) || ir::TakesImage(builtin)) {
    return SpecialiseImageCall(id);
  }
  if (ir::IsAtomic(builtin)) {
    return SpecialiseAtomic(id);
  }
  if (builtin == Builtin::kArrayLength) {
    return SpecialiseArrayLength(id);
  }
  return ir::FactsOf(builtin).types == ir::BuiltinTypes::kNone ? SpecialiseStageFunction(id)
                                                               : SpecialiseFamily(id);
}

bool RegionSpecialiser::CheckCount(uint32_t id, std::string_view function, size_t expected) {
  const size_t found = module_.List(Open(id).As<ir::NameBuiltinInst>().arguments).size();
  if (found != expected) {
    Report(Make(Code::kRpl5036, MainOf(id))
               .With("function", function)
               .With("expected", expected)
               .With("found", found));
  }
  return found == expected;
}

// A function of one stage binds its caller.
bool RegionSpecialiser::BindTo(ir::Stage stage, std::string_view function, uint32_t id) {
  if (answers_.stage() != stage) {
    Report(Make(Code::kRpl5013, MainOf(id))
               .With("function", function)
               .With("stage", ir::NameOf(answers_.stage())));
    return false;
  }
  out_.bound = true;
  return true;
}

// The value of argument `index`, from 0, which has to be of a type; invalid if it is not.
ir::InstId RegionSpecialiser::ReadArgument(uint32_t argument, std::string_view function,
                                           size_t index, ir::TypeId type) {
  const Role role{
      .form = Role::Form::kArgument, .text = function, .index = static_cast<uint32_t>(index + 1)};
  const ir::InstId value = Read(argument, role);
  if (value.valid() && TypeOf(value) != type) {
    ReportArgumentType(role, TypeOf(value), type, argument);
    return {};
  }
  return value;
}

Operand RegionSpecialiser::SpecialiseFamily(uint32_t id) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const ir::Type& written = module_.types[call.type.value];
  const ir::TypeId type = written.kind == ir::TypeKind::kMatrix
                              ? pool_.Matrix(written.scalar, written.columns, written.rows)
                              : pool_.Vector(written.scalar, written.rows);
  const std::string_view function = FamilyText(call.builtin, type);
  const std::optional<ir::Signature> typing = ir::TypeOfBuiltin(pool_, call.builtin, type);
  KILN_CHECK(typing.has_value(), "the front end names only families that exist");
  const std::span<const ir::TypeId> parameters = typing->parameters();
  if (!CheckCount(id, function, parameters.size()) ||
      (IsDerivative(call.builtin) && !BindTo(Stage::kFragment, function, id))) {
    return {};
  }
  const std::span<const uint32_t> arguments = module_.List(call.arguments);
  ScratchList values(scratch_);
  bool good = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values.Add(ReadArgument(arguments[i], function, i, parameters[i]));
    good = good && values.Inst(i).valid();
  }
  if (!good) {
    return {};
  }
  if (call.builtin == Builtin::kSelect) {
    const uint32_t choices[] = {values[1], values[0]};  // written if_false first
    return ValueOf(Emit(
        ir::SelectInst{.type = type, .condition = values.Inst(2), .operands = EmitList(choices)}
            .To()));
  }
  if (call.builtin == Builtin::kShiftRightArithmetic) {
    return ValueOf(Emit(ir::BinaryInst{.type = type,
                                       .op = ir::BinaryOp::kShiftRightArithmetic,
                                       .left = values.Inst(0),
                                       .right = values.Inst(1)}
                            .To()));
  }
  return ValueOf(Emit(ir::BuiltinCallInst{
      .type = typing->result, .builtin = call.builtin, .arguments = EmitList(values)}
                          .To()));
}

Operand RegionSpecialiser::SpecialiseStageFunction(uint32_t id) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  const auto* row = std::ranges::find(kStageFunctions, call.builtin, &StageFunction::builtin);
  if (row != std::end(kStageFunctions)) {
    return CheckCount(id, function, row->writes ? 1 : 0) && BindTo(row->stage, function, id)
               ? (row->writes ? WriteStageVariable(row->variable, id)
                              : ReadStageVariable(row->variable))
               : Operand{};
  }
  if (!CheckCount(id, function, 0)) {
    return {};
  }
  if (call.builtin == Builtin::kPi) {
    return ValueOf(EmitConst(pool_.InternScalar(pool_.Vector(ir::Scalar::kF32, 1), kPiBits)));
  }
  if (ir::IsBarrier(call.builtin)) {
    if (!BindTo(Stage::kCompute, function, id)) {
      return {};
    }
    Emit(ir::BuiltinCallInst{
        .type = pool_.void_type(), .builtin = call.builtin, .arguments = EmitList({})}
             .To());
    return Nothing();
  }
  KILN_CHECK(call.builtin == Builtin::kStageDiscard, "{} is no stage function", function);
  if (!BindTo(Stage::kFragment, function, id)) {
    return {};
  }
  Emit(ir::DiscardInst{.type = pool_.void_type()}.To());
  out_.discards = true;
  return Nothing();
}

ir::InstId RegionSpecialiser::StagePlace(ir::StageVariable variable) {
  if (std::ranges::find(out_.stage_variables, variable) == out_.stage_variables.end()) {
    out_.stage_variables.push_back(variable);
  }
  return Emit(
      ir::StageRefInst{.type = pool_.Vector(ir::TypeOfStage(variable)), .variable = variable}.To());
}

Operand RegionSpecialiser::ReadStageVariable(ir::StageVariable variable) {
  const ir::InstId place = StagePlace(variable);
  return ValueOf(Emit(ir::LoadInst{.type = TypeOf(place), .place = place}.To()));
}

Operand RegionSpecialiser::WriteStageVariable(ir::StageVariable variable, uint32_t id) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const ir::InstId value =
      ReadArgument(module_.List(call.arguments)[0], ir::FactsOf(call.builtin).name, 0,
                   pool_.Vector(ir::TypeOfStage(variable)));
  const ir::InstId place = StagePlace(variable);  // is meant to be written, whatever is wrong
  if (!value.valid()) {
    return {};
  }
  Emit(ir::StoreInst{.type = pool_.void_type(), .place = place, .value = value}.To());
  return Nothing();
}

// --- memory --------------------------------------------------------------------------------------

Operand RegionSpecialiser::SpecialiseArrayLength(uint32_t id) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  if (!CheckCount(id, function, 1)) {
    return {};
  }
  const uint32_t argument = module_.List(call.arguments)[0];
  const Operand& operand = OperandOf(ir::InstId{argument});
  if (operand.kind == OperandKind::kFailed) {
    return {};
  }
  const bool placed = operand.kind == OperandKind::kPlace;
  if (!placed || pool_[operand.type].kind != ir::TypeKind::kRuntimeArray) {
    const bool typed = placed || operand.kind == OperandKind::kValue;
    Report(Make(Code::kRpl5030, MainOf(argument))
               .With("index", 1)
               .With("function", function)
               .With("found", typed ? TypeName(operand.type) : TextOf(argument))
               .With("expected", "runtime array"));
    return {};
  }
  Touched(operand, ir::MemberUse::kRead);
  const uint32_t place[] = {PlaceInst(operand).value};
  return ValueOf(Emit(ir::BuiltinCallInst{.type = pool_.Vector(ir::Scalar::kU32, 1),
                                          .builtin = call.builtin,
                                          .arguments = EmitList(place)}
                          .To()));
}

Operand RegionSpecialiser::SpecialiseAtomic(uint32_t id) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  if (!CheckCount(id, function, call.builtin == Builtin::kAtomicCompareExchange ? 3 : 2)) {
    return {};
  }
  const std::span<const uint32_t> arguments = module_.List(call.arguments);
  const Operand place = OperandOf(ir::InstId{arguments[0]});
  if (place.kind == OperandKind::kFailed) {
    return {};
  }
  const bool shared = place.kind == OperandKind::kPlace && place.decl.valid() && place.writable &&
                      place.direction == ir::Direction::kNone;
  const bool integer = shared && (place.type == pool_.Vector(ir::Scalar::kU32, 1) ||
                                  place.type == pool_.Vector(ir::Scalar::kS32, 1));
  if (!integer) {
    Report(Make(Code::kRpl8113, MainOf(arguments[0])).With("text", TextOf(arguments[0])));
    return {};
  }
  ScratchList operands(scratch_);
  operands.Add(0);
  bool good = true;
  for (size_t i = 1; i < arguments.size(); ++i) {
    operands.Add(ReadArgument(arguments[i], function, i, place.type));
    good = good && operands.Inst(i).valid();
  }
  if (!good) {
    return {};
  }
  Touched(place, ir::MemberUse::kRead);
  Touched(place, ir::MemberUse::kWrite);
  operands[0] = PlaceInst(place).value;
  return ValueOf(Emit(ir::BuiltinCallInst{
      .type = place.type, .builtin = call.builtin, .arguments = EmitList(operands)}
                          .To()));
}

}  // namespace kiln::resolve
