// SPDX-License-Identifier: MIT
// What stands before the dot decides: a struct, a container or a block has members that are
// declared, a vector has letters, a matrix has columns. A member that is an alias is a path of
// names, each looked up in what the one before it came to.
#include "compiler/resolve/specialise/specialise_member.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/specialise_operator.h"

namespace kiln::resolve {
namespace {

// What a stage may do with a container (spec/rpl 8.9).
ir::Direction DirectionIn(ir::ContainerKind container, ir::Stage stage) {
  switch (container) {
    case ir::ContainerKind::kVertexAttributes:
    case ir::ContainerKind::kInstanceAttributes:
      return stage == ir::Stage::kVertex ? ir::Direction::kIn : ir::Direction::kNone;
    case ir::ContainerKind::kState:
      return stage == ir::Stage::kVertex     ? ir::Direction::kOut
             : stage == ir::Stage::kFragment ? ir::Direction::kIn
                                             : ir::Direction::kNone;
    case ir::ContainerKind::kColorOutput:
      return stage == ir::Stage::kFragment ? ir::Direction::kOut : ir::Direction::kNone;
  }
  KILN_UNREACHABLE();
}

// Codes that depend on nothing but a type and the names behind it.
bool IsOfNames(Code code) {
  return code == Code::kRpl6007 || code == Code::kRpl6008 || code == Code::kRpl6009 ||
         code == Code::kRpl6010 || code == Code::kRpl6011 || code == Code::kRpl6012 ||
         code == Code::kRpl6013;
}

// For other letters this is a large number, which no type has.
uint32_t LetterIndex(char letter) {
  return static_cast<uint32_t>(std::string_view("xyzw").find(letter));
}

Operand SpecialiseMember(RegionBuilder& region, const Operand& source, std::string_view name,
                         uint32_t inst);

// A field of a container is one of two variables, by what the stage may do with it. It binds the
// function to the stage: whoever calls it must run in the same one.
Operand SpecialiseContainerField(RegionBuilder& region, const Operand& source,
                                 const MemberResolution& field, uint32_t inst) {
  const ir::Decl& decl = region.program().Get(source.decl);
  const ir::Stage stage = region.answers().stage();
  const ir::Direction direction = DirectionIn(decl.container(), stage);
  if (direction == ir::Direction::kNone) {
    region.Report(
        Make(Code::kRpl5011, region.MainOf(inst))
            .With("kind", DeclKindText(decl))
            .With("container",
                  region.program().module(region.program().ModuleOf(source.decl)).Text(decl.name))
            .With("stage", ir::NameOf(stage)));
    return {};
  }
  region.out().bound = true;
  Operand operand;
  operand.kind = OperandKind::kPlace;
  operand.decl = source.decl;
  operand.member = field.member;
  operand.direction = direction;
  operand.readable = direction == ir::Direction::kIn;
  operand.writable = direction == ir::Direction::kOut;
  operand.type = field.type;
  // The direction is part of the row, since one field is two variables: written in one stage and
  // read in the next.
  operand.inst = region.Emit(ir::GlobalRefInst{
      .type = field.type, .direction = direction, .decl = source.decl, .member = field.member}
                                 .To());
  region.Mentioned(source.decl, field.member, direction, 0);
  region.MarkRelaxed(region.program().Get(field.member).value == ir::kRelaxedField, operand.inst);
  return operand;
}

Operand SpecialiseDeclMember(RegionBuilder& region, const Operand& source, ir::DeclId owner,
                             std::string_view name, uint32_t inst) {
  const NameId id = region.program().FindName(name);
  // A name that the program never mentions is no member of anything, so nothing is asked.
  const MemberResolution answer =
      id.valid() ? region.answers().Member(owner, id) : MemberResolution{};
  if (answer.kind == MemberResolution::Kind::kFailed) {
    return {};
  }
  if (answer.kind == MemberResolution::Kind::kNone) {
    const ir::Decl& decl = region.program().Get(owner);
    const std::string_view owner_name =
        region.program().module(region.program().ModuleOf(owner)).Text(decl.name);
    // `in` and `out` behind a container are words of stages that have both directions; here there
    // is one, so the word is refused and not looked for as a field.
    const bool direction = decl.kind == ir::DeclKind::kContainer && (name == "in" || name == "out");
    if (direction) {
      region.Report(Make(Code::kRpl5015, region.AuxOf(inst))
                        .With("container", owner_name)
                        .With("stage", ir::NameOf(region.answers().stage()))
                        .With("text", name));
    } else {
      region.Report(
          Make(Code::kRpl6007, region.AuxOf(inst)).With("owner", owner_name).With("name", name));
    }
    return {};
  }
  // An alias is a path. Each step is a member access of its own, with the checks of the place where
  // it stands, so that access rules of stages are applied to what is really accessed.
  if (answer.kind == MemberResolution::Kind::kAlias) {
    // Messages behind this point are the alias's own.
    const size_t before = region.diagnostics().size();
    Operand operand = source;
    for (const NameId step : region.answers().AliasPath(answer.member)) {
      operand = SpecialiseMember(region, operand, region.program().Text(step), inst);
    }
    // What is wrong with the names themselves is said at the alias.
    const auto said = std::remove_if(region.diagnostics().begin() + static_cast<ptrdiff_t>(before),
                                     region.diagnostics().end(),
                                     [](const Diagnostic& found) { return IsOfNames(found.code); });
    region.diagnostics().erase(said, region.diagnostics().end());
    return operand;
  }
  if (source.kind == OperandKind::kContainer) {
    return SpecialiseContainerField(region, source, answer, inst);
  }
  return Part(region, source, answer.position, answer.type);
}

// `index` is LetterIndex of `letter`: beyond the type, or not a letter of xyzw at all.
void ReportLetter(RegionBuilder& region, uint32_t index, std::string_view letter,
                  std::string_view text, ir::TypeId type, uint32_t inst) {
  Diagnostic found = Make(index < 4 ? Code::kRpl6011 : Code::kRpl6010, region.AuxOf(inst))
                         .With("letter", letter)
                         .With("text", text);
  if (index < 4) {
    found.arguments.emplace_back("type", region.TypeName(type));
  }
  region.Report(std::move(found));
}

Operand SpecialiseComponents(RegionBuilder& region, const Operand& source, std::string_view letters,
                             uint32_t inst) {
  const ir::Type type = region.pool()[source.type];
  // A scalar has no letters, not even `x`.
  if (type.rows == 1) {
    region.Report(Make(Code::kRpl6009, region.AuxOf(inst))
                      .With("type", region.TypeName(source.type))
                      .With("name", letters));
    return {};
  }
  if (letters.size() > 4) {
    region.Report(Make(Code::kRpl6012, region.AuxOf(inst)).With("text", letters));
    return {};
  }
  uint8_t indices[4] = {};
  for (size_t i = 0; i < letters.size(); ++i) {
    const uint32_t index = LetterIndex(letters[i]);
    if (index < type.rows) {
      indices[i] = static_cast<uint8_t>(index);
      continue;
    }
    ReportLetter(region, index, letters.substr(i, 1), letters, source.type, inst);
    return {};
  }
  // A single letter is a part and may be written; several are a new value.
  if (letters.size() == 1) {
    return Part(region, source, indices[0], region.pool().Vector(type.scalar, 1));
  }
  Operand vector = source;
  const Role role{.form = Role::Form::kPlain, .text = "source of swizzle"};
  const ir::InstId value = ReadOperand(region, vector, inst, role, Arrays::kRefused);
  if (!value.valid()) {
    return {};
  }
  const uint32_t count = static_cast<uint32_t>(letters.size());
  Operand result =
      region.ValueOf(region.Emit(ir::SwizzleInst{.type = region.pool().Vector(type.scalar, count),
                                                 .value = value,
                                                 .letters = ir::PackSwizzle(count, indices)}
                                     .To()));
  // Whether the source was of this function is kept, for the message of an `out` argument that is a
  // swizzle.
  result.local = source.local;
  return result;
}

Operand SpecialiseColumn(RegionBuilder& region, const Operand& source, std::string_view letters,
                         uint32_t inst) {
  const ir::Type type = region.pool()[source.type];
  if (letters.size() > 1) {
    region.Report(Make(Code::kRpl6013, region.AuxOf(inst)).With("text", letters));
    return {};
  }
  const uint32_t index = LetterIndex(letters.front());
  if (index >= type.columns) {
    ReportLetter(region, index, letters, letters, source.type, inst);
    return {};
  }
  return Part(region, source, index, region.pool().Vector(type.scalar, type.rows));
}

// What may stand before the dot, by what the operand is. Everything that falls through has no
// members.
Operand SpecialiseMember(RegionBuilder& region, const Operand& source, std::string_view name,
                         uint32_t inst) {
  if (source.kind == OperandKind::kFailed) {
    return {};
  }
  if (source.kind == OperandKind::kContainer || source.kind == OperandKind::kBlock) {
    return SpecialiseDeclMember(region, source, source.decl, name, inst);
  }
  if (source.kind == OperandKind::kValue || source.kind == OperandKind::kPlace) {
    const ir::Type& type = region.pool()[source.type];
    // The struct of a type is found by its name, because types are interned by shape: two
    // declarations with equal shapes are told apart by what their name denotes here.
    if (type.kind == ir::TypeKind::kStruct) {
      const NameId owner =
          region.program().FindName(region.pool().Text(region.pool().ShapeOf(source.type).name));
      const NameResolution answer =
          owner.valid() ? region.answers().Struct(owner) : NameResolution{};
      return answer.kind == NameResolution::Kind::kDecl
                 ? SpecialiseDeclMember(region, source, answer.decl(), name, inst)
                 : Operand{};
    }
    const bool flag = source.type == region.pool().bool_type();  // has no components
    if (type.kind == ir::TypeKind::kVector && !flag) {
      return SpecialiseComponents(region, source, name, inst);
    }
    if (type.kind == ir::TypeKind::kMatrix) {
      return SpecialiseColumn(region, source, name, inst);
    }
  }
  const std::string type =
      source.kind == OperandKind::kVoid ? std::string("void") : region.TypeName(source.type);
  const uint32_t text_of = region.Generic(inst).kind == ir::InstKind::kMember
                               ? region.Generic(inst).As<ir::MemberInst>().source.value
                               : inst;
  region.Report(Make(Code::kRpl6008, region.AuxOf(inst))
                    .With("name", name)
                    .With("text", region.TextOf(text_of))
                    .With("type", type));
  return {};
}

// Constant indices are checked against the size now, and those that may be computed only when the
// shader runs.
bool CheckItemIndex(RegionBuilder& region, const Operand& item, uint32_t size, uint32_t id) {
  const auto index = region.Generic(id).As<ir::IndexInst>();
  const auto array = [&] { return region.TextOf(index.source.value); };
  const ir::Type& type = region.pool()[item.type];
  const uint32_t bits =
      region.pool()[region.out().insts[item.inst.value].As<ir::ConstInst>().value].a;
  const Location where = region.MainOf(index.index.value);
  if (type.scalar != ir::Scalar::kU32 && type.scalar != ir::Scalar::kS32) {
    region.Report(
        Make(Code::kRpl6018, where).With("text", array()).With("type", region.TypeName(item.type)));
    return false;
  }
  if (type.scalar == ir::Scalar::kS32 && static_cast<int32_t>(bits) < 0) {
    region.Report(Make(Code::kRpl6020, where)
                      .With("value", static_cast<int32_t>(bits))
                      .With("text", array()));
    return false;
  }
  // Zero stands for an array whose size is known only when the shader runs.
  if (size != 0 && bits >= size) {
    region.Report(
        Make(Code::kRpl6019, where).With("value", bits).With("text", array()).With("size", size));
    return false;
  }
  return true;
}

}  // namespace

Operand SpecialiseMemberOf(RegionBuilder& region, uint32_t id) {
  const auto member = region.Generic(id).As<ir::MemberInst>();
  return SpecialiseMember(region, Operand(region.OperandOf(member.source)),
                          region.module().Text(member.name), id);
}

Operand SpecialiseIndex(RegionBuilder& region, uint32_t id) {
  const auto index = region.Generic(id).As<ir::IndexInst>();
  Operand source = region.OperandOf(index.source);
  Operand item = region.OperandOf(index.index);
  if (source.kind == OperandKind::kFailed || item.kind == OperandKind::kFailed) {
    return {};
  }
  const bool has_type = source.kind == OperandKind::kValue || source.kind == OperandKind::kPlace;
  if (!has_type || !IsArray(region.pool()[source.type])) {
    const bool arrayed_image = has_type &&
                               region.pool()[source.type].kind == ir::TypeKind::kImage &&
                               ir::UnpackImage(region.pool()[source.type].extent).arrayed;
    region.Report(
        Make(arrayed_image ? Code::kRpl6021 : Code::kRpl6017, region.MainOf(index.source.value))
            .With(arrayed_image ? "name" : "text", region.TextOf(index.source.value)));
    return {};
  }
  const ir::Type array = region.pool()[source.type];
  const ir::TypeId element{array.element};
  // A constant index is a part like a member; its range was checked.
  if (item.constant &&
      !CheckItemIndex(region, item, array.kind == ir::TypeKind::kArray ? array.extent : 0, id)) {
    return {};
  }
  if (item.constant) {
    const uint32_t position =
        region.pool()[region.out().insts[item.inst.value].As<ir::ConstInst>().value].a;
    Operand part = Part(region, source, position, element);
    return part;
  }
  const Role role{.form = Role::Form::kPlain, .text = "index"};
  const ir::InstId step = Read(region, index.index.value, role);
  if (!step.valid()) {
    return {};
  }
  if (region.TypeOf(step) != region.pool().Vector(ir::Scalar::kU32, 1)) {
    region.Report(Make(Code::kRpl6018, region.MainOf(index.index.value))
                      .With("text", region.TextOf(index.source.value))
                      .With("type", region.TypeName(region.TypeOf(step))));
    NoteConversion(region, region.TypeOf(step), region.pool().Vector(ir::Scalar::kU32, 1));
    return {};
  }
  // SPIR-V indexes memory by variables, never values. A constant becomes a private variable, shared
  // by all that use it, and any other value is copied to a temporary.
  if (source.kind == OperandKind::kValue) {
    source = region.out().insts[source.inst.value].kind == ir::InstKind::kConst
                 ? ConstantPlace(region, source)
                 : Spill(region, source);
  }
  return Step(region, source, step, element);
}

}  // namespace kiln::resolve
