// SPDX-License-Identifier: MIT
// Locals go first: of the candidates that the front end found in scope, the first whose conditional
// holds. Else it is a global name, and the evaluator knows what that is in this variant.
#include "compiler/resolve/specialise/specialise_name.h"

#include <string>
#include <string_view>

#include "compiler/ir/enum_names.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/specialise/specialise_local.h"

namespace kiln::resolve {
namespace {

// Options and constants that are scalars become constants of the code. Flags and texts have no form
// there: they decide conditions, so the message shows the conditional that was probably meant.
Operand SpecialiseOptionMention(RegionBuilder& region, std::string_view kind, std::string_view name,
                                const Value& value, uint32_t inst) {
  ir::Scalar scalar = ir::Scalar::kNone;
  std::string_view type;
  switch (value.kind) {
    case ir::ValueKind::kFailed:
      return {};
    case ir::ValueKind::kFlag:
      type = "a flag";
      break;
    case ir::ValueKind::kString:
      type = kind == "option" ? "an enum" : "a string";
      break;
    // Numbers have a form in code; their scalar is all that is missing.
    case ir::ValueKind::kUint:
      scalar = ir::Scalar::kU32;
      break;
    case ir::ValueKind::kSint:
      scalar = ir::Scalar::kS32;
      break;
    case ir::ValueKind::kFloat:
      scalar = ir::Scalar::kF32;
      break;
  }
  if (scalar == ir::Scalar::kNone) {
    // The proposed condition is the option itself for a flag and a comparison for a text.
    std::string condition(name);
    if (value.kind == ir::ValueKind::kString) {
      condition += " == \"" + std::string(region.pool().Text(ir::StringId{value.bits})) + "\"";
    }
    region.Report(
        Make(Code::kRpl6002, region.MainOf(inst))
            .With("kind", kind)
            .With("name", name)
            .With("type", type)
            .Note(NoteKind::kWrite, {{"replacement", "conditional (" + condition + ") { ... }"}}));
    return {};
  }
  Operand operand = region.ValueOf(
      region.EmitConst(region.pool().InternScalar(region.pool().Vector(scalar, 1), value.bits)));
  operand.constant = true;
  return operand;
}

}  // namespace

// Not folded: the value is that of the pipeline (spec/rpl 14.9).
Operand SpecialiseSpecialised(RegionBuilder& region, ir::OptionId id) {
  const ir::Option& option = region.program().Get(id);
  const ir::Scalar scalar = option.kind == ir::OptionKind::kFlag   ? ir::Scalar::kBool
                            : option.kind == ir::OptionKind::kUint ? ir::Scalar::kU32
                            : option.kind == ir::OptionKind::kSint ? ir::Scalar::kS32
                                                                   : ir::Scalar::kF32;
  // The default stands in the code; a pipeline may set another value by the id.
  return region.ValueOf(region.Emit(ir::SpecConstInst{.type = region.pool().Vector(scalar, 1),
                                                      .id = region.program().SpecIdOf(id),
                                                      .bits = option.default_value}
                                        .To()));
}

namespace {

// A global name, by what the variant says it is. Conflicts and failures were reported where they
// arose.
Operand SpecialiseGlobalMention(RegionBuilder& region, std::string_view name, NameId id,
                                uint32_t inst) {
  const NameResolution answer = region.answers().Global(id);
  switch (answer.kind) {
    case NameResolution::Kind::kConflict:
    case NameResolution::Kind::kFailed:
      return {};
    case NameResolution::Kind::kOption:
      if (region.program().Get(answer.option()).specialize != 0) {
        return SpecialiseSpecialised(region, answer.option());
      }
      return SpecialiseOptionMention(region, "option", name,
                                     region.answers().Option(answer.option()), inst);
    case NameResolution::Kind::kConstant:
      // Vectors and arrays are constants of the pool and may be indexed; scalars are like options.
      if (region.program().IsComposite(answer.decl())) {
        const ir::ConstId value = region.answers().Composite(answer.decl());
        return value.valid() ? region.ValueOf(region.EmitConst(value)) : Operand{};
      }
      return SpecialiseOptionMention(region, "constant", name,
                                     region.answers().Constant(answer.decl()), inst);
    case NameResolution::Kind::kDecl:
      break;
    case NameResolution::Kind::kNone: {
      // The name exists, but as something that is no value: the message says so instead of calling
      // it unknown.
      const bool is_function = !region.program().Functions(id).empty();
      if (is_function || !region.program().Structs(id).empty()) {
        region.Report(Make(Code::kRpl6004, region.MainOf(inst))
                          .With("kind", is_function ? "function" : "struct")
                          .With("name", name));
      } else {
        region.Report(Make(Code::kRpl6001, region.MainOf(inst)).With("name", name));
      }
      return {};
    }
  }
  const ir::Decl& decl = region.program().Get(answer.decl());
  Operand operand;
  // Everything that follows is a declaration of the interface or a variable.
  operand.decl = answer.decl();
  if (decl.kind == ir::DeclKind::kContainer) {
    operand.kind = OperandKind::kContainer;
    return operand;
  }
  const ir::SpecialisedDecl* specialised = region.answers().Decl(answer.decl());
  if (specialised == nullptr) {
    return {};
  }
  // Workgroup memory binds the function to the compute stage.
  if (decl.kind == ir::DeclKind::kWorkgroup) {
    if (region.answers().stage() != ir::Stage::kCompute) {
      region.Report(Make(Code::kRpl5011, region.MainOf(inst))
                        .With("kind", DeclKindText(decl))
                        .With("container", name)
                        .With("stage", ir::NameOf(region.answers().stage())));
      return {};
    }
    region.out().bound = true;
  }
  operand.kind = decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant
                     ? OperandKind::kBlock
                     : OperandKind::kPlace;
  operand.type = specialised->type;
  operand.writable =
      decl.kind == ir::DeclKind::kWorkgroup ||
      (decl.kind == ir::DeclKind::kBuffer && decl.buffer() == ir::BufferKind::kReadWriteStorage);
  operand.inst = region.Emit(ir::GlobalRefInst{
      .type = operand.type,
      .direction = ir::Direction::kNone,
      .decl = answer.decl(),
      .member = {}}.To());
  region.Mentioned(answer.decl(), ir::MemberId{}, ir::Direction::kNone, 0);
  return operand;
}

}  // namespace

// Literals, then names. Of the local candidates the innermost that is live counts; the first whose
// condition holds ends the search.
Operand SpecialiseNameRef(RegionBuilder& region, uint32_t id) {
  const ir::Inst& inst = region.Generic(id);
  if (inst.kind == ir::InstKind::kConst) {
    const ir::Const& row = region.module().consts[inst.As<ir::ConstInst>().value.value];
    const ir::Type& type = region.module().types[row.type.value];
    Operand value = region.ValueOf(region.EmitConst(
        region.pool().InternScalar(region.pool().Vector(type.scalar, type.rows), row.a)));
    value.constant = true;
    return value;
  }
  if (inst.kind == ir::InstKind::kFlag || inst.kind == ir::InstKind::kText) {
    // Version 1 knows booleans only at compile time (spec/rpl 14.4).
    if (inst.kind == ir::InstKind::kFlag && region.module().header.version >= 2) {
      return region.ValueOf(region.Emit(
          ir::FlagInst{.type = region.pool().bool_type(), .value = inst.As<ir::FlagInst>().value}
              .To()));
    }
    region.Report(Make(Code::kRpl6003, region.MainOf(id))
                      .With("kind", inst.kind == ir::InstKind::kFlag ? "boolean" : "string")
                      .With("text", region.TextOf(id))
                      .Note(NoteKind::kAccepted,
                            {{"accepted", inst.kind == ir::InstKind::kFlag
                                              ? "comparisons, conditional scopes, or 'rpl 2;'"
                                              : "strings in conditionals and settings"}}));
    return {};
  }
  const auto ref = inst.As<ir::NameRefInst>();
  for (const uint32_t candidate : region.module().List(ref.candidates)) {
    const ir::CexprId condition = region.module().locals[candidate].condition;
    if (condition == ir::kTrue || region.answers().Holds(region.Global(condition))) {
      return SpecialiseLocalMention(region, ir::LocalId{region.bases().local + candidate}, id);
    }
  }
  return SpecialiseGlobalMention(region, region.module().Text(ref.name),
                                 region.program().Name(region.module_ordinal(), ref.name), id);
}

}  // namespace kiln::resolve
