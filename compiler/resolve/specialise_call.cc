// SPDX-License-Identifier: MIT
// Calls of user functions: arguments from left to right, copies in and out (spec/rpl 8.7).
#include <vector>

#include "compiler/base/check.h"
#include "compiler/resolve/region_specialiser.h"
#include "compiler/resolve/specialise_type.h"

namespace kiln::resolve {
namespace {

struct Dimensions {
  std::vector<uint32_t> sizes;
  ir::TypeId item;
};

Dimensions DimensionsOf(const ir::Pool& pool, ir::TypeId type) {
  Dimensions result{.sizes = {}, .item = type};
  while (pool[result.item].kind == ir::TypeKind::kArray) {
    result.sizes.push_back(pool[result.item].extent);
    result.item = ir::TypeId{pool[result.item].element};
  }
  return result;
}

}  // namespace

Operand RegionSpecialiser::SpecialiseCall(uint32_t id) {
  const auto call = Open(id).As<ir::NameCallInst>();
  const std::string_view name = module_.Text(call.name);
  const NameResolution answer = answers_.Function(program_.Name(module_ordinal_, call.name));
  if (answer.kind != NameResolution::Kind::kDecl) {
    if (answer.kind == NameResolution::Kind::kNone) {
      Report(Make(Code::kRpl5001, AuxOf(id)).With("name", name).With("types", TypesOf(call)));
    } else if (answer.kind == NameResolution::Kind::kConflict) {
      Report(Make(Code::kRpl5002, AuxOf(id)).With("name", name));
      answers_.LabelFunctions(program_.Name(module_ordinal_, call.name), diagnostics_.back());
    }
    return {};
  }
  const ir::SpecialisedDecl* callee = answers_.Decl(answer.decl());
  if (callee == nullptr) {
    return {};
  }
  const std::span<const uint32_t> arguments = module_.List(call.arguments);
  if (arguments.size() != callee->members.size()) {
    Report(Make(Code::kRpl5036, MainOf(id))
               .With("function", name)
               .With("expected", callee->members.size())
               .With("found", arguments.size())
               .Label(LabelKind::kDeclaredHere, program_.NameLocation(answer.decl()),
                      {{"name", name}}));
    return {};
  }
  ScratchList passed(scratch_);
  bool good = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Role role{
        .form = Role::Form::kArgument, .text = name, .index = static_cast<uint32_t>(i + 1)};
    good = SpecialiseArgument(callee->members[i], arguments[i], role, passed) && good;
  }
  Mentioned(answer.decl(), ir::MemberId{}, ir::Direction::kNone, 0);
  if (!good) {
    return {};
  }
  const ir::InstId result = Emit(
      ir::CallInst{.type = callee->type, .function = answer.decl(), .arguments = EmitList(passed)}
          .To());
  MarkRelaxed((callee->flags & 1u) != 0, result);
  for (size_t i = 0; i < arguments.size(); ++i) {  // write back from left to right
    const ir::InstId temp = passed.Inst(i);
    if (callee->members[i].access != ir::Access::kIn &&
        out_.insts[temp.value].kind == ir::InstKind::kTemp) {
      const ir::TypeId type = TypeOf(temp);
      const ir::InstId value = Emit(ir::LoadInst{.type = type, .place = temp}.To());
      StoreTo(OperandOf(ir::InstId{arguments[i]}), value);
    }
  }
  if (pool_[callee->type].kind != ir::TypeKind::kVoid) {
    return ValueOf(result);
  }
  Operand nothing;
  nothing.kind = OperandKind::kVoid;
  return nothing;
}

// "f3, f3, f1": what an unknown function was called with, for advice.
std::string RegionSpecialiser::TypesOf(const ir::NameCallInst& call) {
  constexpr size_t kMost = 8;  // arguments that tell what is meant
  std::string text;
  const std::span<const uint32_t> arguments = module_.List(call.arguments);
  for (size_t i = 0; i < arguments.size() && i < kMost; ++i) {
    const Operand& operand = OperandOf(ir::InstId{arguments[i]});
    const bool typed = operand.kind == OperandKind::kValue || operand.kind == OperandKind::kPlace;
    text += (i == 0 ? "" : ", ") + (typed ? TypeName(operand.type) : std::string("?"));
  }
  return text;
}

bool RegionSpecialiser::SpecialiseArgument(const ir::SpecialisedMember& parameter,
                                           uint32_t argument, const Role& role,
                                           ScratchList& passed) {
  Operand& operand = OperandOf(ir::InstId{argument});
  if (operand.kind == OperandKind::kFailed) {
    return false;
  }
  if (parameter.access != ir::Access::kIn) {
    return SpecialiseOutArgument(parameter, argument, role, passed);
  }
  const bool typed = operand.kind == OperandKind::kPlace || operand.kind == OperandKind::kValue;
  if (typed && pool_[operand.type].kind == ir::TypeKind::kRuntimeArray) {
    Report(Make(Code::kRpl5033, MainOf(argument))
               .With("index", role.index)
               .With("function", role.text)
               .With("text", TextOf(argument)));
    return false;
  }
  if (typed && operand.type != parameter.type) {
    ReportArgumentType(role, operand.type, parameter.type, argument);
    LabelParameter(parameter);
    return false;
  }
  if (typed && IsHandle(pool_[parameter.type])) {
    passed.Add(PlaceInst(operand));
    return true;
  }
  const ir::InstId value = Read(argument, role, Arrays::kAllowed);
  passed.Add(value);
  return value.valid();
}

bool RegionSpecialiser::SpecialiseOutArgument(const ir::SpecialisedMember& parameter,
                                              uint32_t argument, const Role& role,
                                              ScratchList& passed) {
  Operand& operand = OperandOf(ir::InstId{argument});
  const auto refuse = [&](Code code) {
    Report(Make(code, MainOf(argument))
               .With("index", role.index)
               .With("function", role.text)
               .With("text", TextOf(argument)));
    return false;
  };
  if (operand.kind == OperandKind::kValue && !operand.local) {
    return refuse(Code::kRpl5031);
  }
  if (operand.kind != OperandKind::kPlace && operand.kind != OperandKind::kValue) {
    return refuse(Code::kRpl5031);
  }
  if (!operand.local) {
    return refuse(Code::kRpl5032);
  }
  if (operand.kind == OperandKind::kValue || !operand.writable) {
    return refuse(Code::kRpl5031);
  }
  if (operand.type != parameter.type) {
    ReportArgumentType(role, operand.type, parameter.type, argument);
    LabelParameter(parameter);
    return false;
  }
  const bool copies_in = parameter.access == ir::Access::kInOut;
  const ir::InstId before = copies_in ? Read(argument, role, Arrays::kAllowed) : ir::InstId{};
  if (copies_in && !before.valid()) {
    return false;
  }
  const ir::InstId temp = Emit(ir::TempInst{.type = operand.type}.To());
  if (copies_in) {
    Emit(ir::StoreInst{.type = pool_.void_type(), .place = temp, .value = before}.To());
  }
  passed.Add(temp);
  return true;
}

// Where the last message's other side is declared.
void RegionSpecialiser::LabelParameter(const ir::SpecialisedMember& parameter) {
  std::move(diagnostics_.back())
      .Label(LabelKind::kDeclaredHere, program_.At(parameter.origin.module, parameter.origin.span),
             {{"name", pool_.Text(parameter.name)}});
}

void RegionSpecialiser::ReportArgumentType(const Role& role, ir::TypeId found_type,
                                           ir::TypeId expected_type, uint32_t argument) {
  const Dimensions found = DimensionsOf(pool_, found_type);
  const Dimensions expected = DimensionsOf(pool_, expected_type);
  Code code = Code::kRpl5030;
  std::string found_text = TypeName(found_type);
  std::string expected_text = TypeName(expected_type);
  if (found.item == expected.item && found.sizes.size() != expected.sizes.size()) {
    code = Code::kRpl5034;
    found_text = std::to_string(found.sizes.size());
    expected_text = std::to_string(expected.sizes.size());
  } else if (found.item == expected.item) {
    for (size_t i = 0; i < found.sizes.size(); ++i) {
      if (found.sizes[i] != expected.sizes[i]) {
        code = Code::kRpl5035;
        found_text = std::to_string(found.sizes[i]);
        expected_text = std::to_string(expected.sizes[i]);
        break;
      }
    }
  }
  Report(Make(code, MainOf(argument))
             .With("index", role.index)
             .With("function", role.text)
             .With("found", found_text)
             .With("expected", expected_text));
  if (code == Code::kRpl5030) {
    NoteConversion(found_type, expected_type);
  }
}

}  // namespace kiln::resolve
