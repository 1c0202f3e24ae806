// SPDX-License-Identifier: MIT
// An argument that is written is passed as a temporary: filled before the call if it is read too,
// and stored back behind it, from left to right. So the callee sees no alias of its caller's
// variables.
#include "compiler/resolve/specialise/specialise_call.h"

#include <string>
#include <string_view>
#include <vector>

#include "compiler/resolve/specialise/specialise_operator.h"
#include "compiler/resolve/specialise/specialise_type.h"

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

// "f3, f3, f1": what an unknown function was called with, for advice.
std::string TypesOf(RegionBuilder& region, const ir::NameCallInst& call) {
  constexpr size_t kMost = 8;  // arguments that tell what is meant
  std::string text;
  const std::span<const uint32_t> arguments = region.module().List(call.arguments);
  for (size_t i = 0; i < arguments.size() && i < kMost; ++i) {
    const Operand& operand = region.OperandOf(ir::InstId{arguments[i]});
    const bool typed = operand.kind == OperandKind::kValue || operand.kind == OperandKind::kPlace;
    text += (i == 0 ? "" : ", ") + (typed ? region.TypeName(operand.type) : std::string("?"));
  }
  return text;
}

// Where the last message's other side is declared.
void LabelParameter(RegionBuilder& region, const ir::SpecialisedMember& parameter) {
  std::move(region.diagnostics().back())
      .Label(LabelKind::kDeclaredHere,
             region.program().At(parameter.origin.module, parameter.origin.span),
             {{"name", region.pool().Text(parameter.name)}});
}

// An argument that the callee writes. The order of the checks is that of precision: something that
// is no place at all, a place that is not of this function, a place that may not be written, and
// then the type.
bool SpecialiseOutArgument(RegionBuilder& region, const ir::SpecialisedMember& parameter,
                           uint32_t argument, const Role& role, ScratchList& passed) {
  Operand& operand = region.OperandOf(ir::InstId{argument});
  const auto refuse = [&](Code code) {
    region.Report(Make(code, region.MainOf(argument))
                      .With("index", role.index)
                      .With("function", role.text)
                      .With("text", region.TextOf(argument)));
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
    ReportArgumentType(region, role, operand.type, parameter.type, argument);
    LabelParameter(region, parameter);
    return false;
  }
  // `in out` copies the value in before the call, `out` leaves the temporary undefined. What the
  // callee leaves in it is stored back by SpecialiseCall.
  const bool copies_in = parameter.access == ir::Access::kInOut;
  const ir::InstId before =
      copies_in ? Read(region, argument, role, Arrays::kAllowed) : ir::InstId{};
  if (copies_in && !before.valid()) {
    return false;
  }
  const ir::InstId temp = region.Emit(ir::TempInst{.type = operand.type}.To());
  if (copies_in) {
    region.Emit(
        ir::StoreInst{.type = region.pool().void_type(), .place = temp, .value = before}.To());
  }
  passed.Add(temp);
  return true;
}

// An argument is failed, written, a handle or a value. Handles are passed as places because nothing
// else can be done with them.
bool SpecialiseArgument(RegionBuilder& region, const ir::SpecialisedMember& parameter,
                        uint32_t argument, const Role& role, ScratchList& passed) {
  Operand& operand = region.OperandOf(ir::InstId{argument});
  if (operand.kind == OperandKind::kFailed) {
    return false;
  }
  if (parameter.access != ir::Access::kIn) {
    return SpecialiseOutArgument(region, parameter, argument, role, passed);
  }
  const bool typed = operand.kind == OperandKind::kPlace || operand.kind == OperandKind::kValue;
  if (typed && region.pool()[operand.type].kind == ir::TypeKind::kRuntimeArray) {
    region.Report(Make(Code::kRpl5033, region.MainOf(argument))
                      .With("index", role.index)
                      .With("function", role.text)
                      .With("text", region.TextOf(argument)));
    return false;
  }
  if (typed && operand.type != parameter.type) {
    ReportArgumentType(region, role, operand.type, parameter.type, argument);
    LabelParameter(region, parameter);
    return false;
  }
  // The callee has a handle as a parameter of the same kind, and nothing is copied.
  if (typed && IsHandle(region.pool()[parameter.type])) {
    passed.Add(PlaceInst(region, operand));
    return true;
  }
  const ir::InstId value = Read(region, argument, role, Arrays::kAllowed);
  passed.Add(value);
  return value.valid();
}

}  // namespace

// A call is resolved by name in this variant: exactly one function of that name must be there. The
// callee is asked for its signature only, which is a unit of its own, so that changes in its body
// do not reach its callers.
Operand SpecialiseCall(RegionBuilder& region, uint32_t id) {
  const auto call = region.Generic(id).As<ir::NameCallInst>();
  const std::string_view name = region.module().Text(call.name);
  const NameResolution answer =
      region.answers().Function(region.program().Name(region.module_ordinal(), call.name));
  if (answer.kind != NameResolution::Kind::kDecl) {
    if (answer.kind == NameResolution::Kind::kNone) {
      region.Report(Make(Code::kRpl5001, region.AuxOf(id))
                        .With("name", name)
                        .With("types", TypesOf(region, call)));
    } else if (answer.kind == NameResolution::Kind::kConflict) {
      region.Report(Make(Code::kRpl5002, region.AuxOf(id)).With("name", name));
      region.answers().LabelFunctions(region.program().Name(region.module_ordinal(), call.name),
                                      region.diagnostics().back());
    }
    return {};
  }
  // Its declaration failed and was reported by whoever asked first; this call stays silent.
  const ir::SpecialisedDecl* callee = region.answers().Decl(answer.decl());
  if (callee == nullptr) {
    return {};
  }
  // The number is compared before any argument is looked at, as with inbuilt functions.
  const std::span<const uint32_t> arguments = region.module().List(call.arguments);
  if (arguments.size() != callee->members.size()) {
    region.Report(Make(Code::kRpl5036, region.MainOf(id))
                      .With("function", name)
                      .With("expected", callee->members.size())
                      .With("found", arguments.size())
                      .Label(LabelKind::kDeclaredHere, region.program().NameLocation(answer.decl()),
                             {{"name", name}}));
    return {};
  }
  ScratchList passed(region.scratch());
  bool good = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Role role{
        .form = Role::Form::kArgument, .text = name, .index = static_cast<uint32_t>(i + 1)};
    good = SpecialiseArgument(region, callee->members[i], arguments[i], role, passed) && good;
  }
  // The function is mentioned even if an argument is wrong, so that the walk looks at its body and
  // reports what is wrong there as well.
  region.Mentioned(answer.decl(), ir::MemberId{}, ir::Direction::kNone, 0);
  if (!good) {
    return {};
  }
  const ir::InstId result = region.Emit(ir::CallInst{
      .type = callee->type, .function = answer.decl(), .arguments = region.EmitList(passed)}
                                            .To());
  // The result has the precision that the callee declares.
  region.MarkRelaxed((callee->flags & 1u) != 0, result);
  for (size_t i = 0; i < arguments.size(); ++i) {  // write back from left to right
    const ir::InstId temp = passed.Inst(i);
    // Only a temporary is copied back. Where the argument could be passed as a place, the callee
    // has written to the place itself.
    if (callee->members[i].access != ir::Access::kIn &&
        region.out().insts[temp.value].kind == ir::InstKind::kTemp) {
      const ir::TypeId type = region.TypeOf(temp);
      const ir::InstId value = region.Emit(ir::LoadInst{.type = type, .place = temp}.To());
      StoreTo(region, region.OperandOf(ir::InstId{arguments[i]}), value);
    }
  }
  if (region.pool()[callee->type].kind != ir::TypeKind::kVoid) {
    return region.ValueOf(result);
  }
  Operand nothing;
  nothing.kind = OperandKind::kVoid;
  return nothing;
}

// Arrays that differ in the number of dimensions or in one size have messages of their own, since
// printing both types would hide the difference in a row of brackets.
void ReportArgumentType(RegionBuilder& region, const Role& role, ir::TypeId found_type,
                        ir::TypeId expected_type, uint32_t argument) {
  // Arrays of the same items are compared size by size; everything else is told by its type alone.
  const Dimensions found = DimensionsOf(region.pool(), found_type);
  const Dimensions expected = DimensionsOf(region.pool(), expected_type);
  Code code = Code::kRpl5030;
  std::string found_text = region.TypeName(found_type);
  std::string expected_text = region.TypeName(expected_type);
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
  region.Report(Make(code, region.MainOf(argument))
                    .With("index", role.index)
                    .With("function", role.text)
                    .With("found", found_text)
                    .With("expected", expected_text));
  if (code == Code::kRpl5030) {
    NoteConversion(region, found_type, expected_type);
  }
}

}  // namespace kiln::resolve
