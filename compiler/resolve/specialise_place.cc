// SPDX-License-Identifier: MIT
// Members and items: which place or value they denote, and how it is read and written
// (spec/rpl 5.1, 5.4, 8.6, 8.9).
#include <algorithm>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/resolve/kind_text.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/region_specialiser.h"
#include "compiler/resolve/specialise_type.h"

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

bool IsArray(const ir::Type& type) {
  return type.kind == ir::TypeKind::kArray || type.kind == ir::TypeKind::kRuntimeArray;
}

// Codes that depend on nothing but a type and the names behind it.
bool IsOfNames(Code code) {
  return code == Code::kRpl6007 || code == Code::kRpl6008 || code == Code::kRpl6009 ||
         code == Code::kRpl6010 || code == Code::kRpl6011 || code == Code::kRpl6012 ||
         code == Code::kRpl6013;
}

uint32_t LetterIndex(char letter) {
  return static_cast<uint32_t>(std::string_view("xyzw").find(letter));
}

}  // namespace

Operand RegionSpecialiser::SpecialiseMemberOf(uint32_t id) {
  const auto member = Open(id).As<ir::MemberInst>();
  return SpecialiseMember(Operand(OperandOf(member.source)), module_.Text(member.name), id);
}

Operand RegionSpecialiser::SpecialiseMember(const Operand& source, std::string_view name,
                                            uint32_t inst) {
  if (source.kind == OperandKind::kFailed) {
    return {};
  }
  if (source.kind == OperandKind::kContainer || source.kind == OperandKind::kBlock) {
    return SpecialiseDeclMember(source, source.decl, name, inst);
  }
  if (source.kind == OperandKind::kValue || source.kind == OperandKind::kPlace) {
    const ir::Type& type = pool_[source.type];
    if (type.kind == ir::TypeKind::kStruct) {
      const NameId owner = program_.FindName(pool_.Text(pool_.ShapeOf(source.type).name));
      const NameResolution answer = owner.valid() ? answers_.Struct(owner) : NameResolution{};
      return answer.kind == NameResolution::Kind::kDecl
                 ? SpecialiseDeclMember(source, answer.decl(), name, inst)
                 : Operand{};
    }
    const bool flag = source.type == pool_.bool_type();  // has no components
    if (type.kind == ir::TypeKind::kVector && !flag) {
      return SpecialiseComponents(source, name, inst);
    }
    if (type.kind == ir::TypeKind::kMatrix) {
      return SpecialiseColumn(source, name, inst);
    }
  }
  const std::string type =
      source.kind == OperandKind::kVoid ? std::string("void") : TypeName(source.type);
  const uint32_t text_of = Open(inst).kind == ir::InstKind::kMember
                               ? Open(inst).As<ir::MemberInst>().source.value
                               : inst;
  Report(Make(Code::kRpl6008, AuxOf(inst))
             .With("name", name)
             .With("text", TextOf(text_of))
             .With("type", type));
  return {};
}

Operand RegionSpecialiser::SpecialiseDeclMember(const Operand& source, ir::DeclId owner,
                                                std::string_view name, uint32_t inst) {
  const NameId id = program_.FindName(name);
  const MemberResolution answer = id.valid() ? answers_.Member(owner, id) : MemberResolution{};
  if (answer.kind == MemberResolution::Kind::kFailed) {
    return {};
  }
  if (answer.kind == MemberResolution::Kind::kNone) {
    const ir::Decl& decl = program_.Get(owner);
    const std::string_view owner_name = program_.module(program_.ModuleOf(owner)).Text(decl.name);
    const bool direction = decl.kind == ir::DeclKind::kContainer && (name == "in" || name == "out");
    if (direction) {
      Report(Make(Code::kRpl5015, AuxOf(inst))
                 .With("container", owner_name)
                 .With("stage", ir::NameOf(answers_.stage()))
                 .With("text", name));
    } else {
      Report(Make(Code::kRpl6007, AuxOf(inst)).With("owner", owner_name).With("name", name));
    }
    return {};
  }
  if (answer.kind == MemberResolution::Kind::kAlias) {
    const size_t before = diagnostics_.size();
    Operand operand = source;
    for (const NameId step : answers_.AliasPath(answer.member)) {
      operand = SpecialiseMember(operand, program_.Text(step), inst);
    }
    // What is wrong with the names themselves is said at the alias.
    const auto said =
        std::remove_if(diagnostics_.begin() + static_cast<ptrdiff_t>(before), diagnostics_.end(),
                       [](const Diagnostic& found) { return IsOfNames(found.code); });
    diagnostics_.erase(said, diagnostics_.end());
    return operand;
  }
  if (source.kind == OperandKind::kContainer) {
    return SpecialiseContainerField(source, answer, inst);
  }
  return Part(source, answer.position, answer.type);
}

Operand RegionSpecialiser::SpecialiseContainerField(const Operand& source,
                                                    const MemberResolution& field, uint32_t inst) {
  const ir::Decl& decl = program_.Get(source.decl);
  const ir::Stage stage = answers_.stage();
  const ir::Direction direction = DirectionIn(decl.container(), stage);
  if (direction == ir::Direction::kNone) {
    Report(Make(Code::kRpl5011, MainOf(inst))
               .With("kind", DeclKindText(decl))
               .With("container", program_.module(program_.ModuleOf(source.decl)).Text(decl.name))
               .With("stage", ir::NameOf(stage)));
    return {};
  }
  out_.bound = true;
  Operand operand;
  operand.kind = OperandKind::kPlace;
  operand.decl = source.decl;
  operand.member = field.member;
  operand.direction = direction;
  operand.readable = direction == ir::Direction::kIn;
  operand.writable = direction == ir::Direction::kOut;
  operand.type = field.type;
  operand.inst = Emit(ir::GlobalRefInst{
      .type = field.type, .direction = direction, .decl = source.decl, .member = field.member}
                          .To());
  Mentioned(source.decl, field.member, direction, 0);
  MarkRelaxed(program_.Get(field.member).value == ir::kRelaxedField, operand.inst);
  return operand;
}

Operand RegionSpecialiser::SpecialiseComponents(const Operand& source, std::string_view letters,
                                                uint32_t inst) {
  const ir::Type type = pool_[source.type];
  if (type.rows == 1) {
    Report(Make(Code::kRpl6009, AuxOf(inst))
               .With("type", TypeName(source.type))
               .With("name", letters));
    return {};
  }
  if (letters.size() > 4) {
    Report(Make(Code::kRpl6012, AuxOf(inst)).With("text", letters));
    return {};
  }
  uint8_t indices[4] = {};
  for (size_t i = 0; i < letters.size(); ++i) {
    const uint32_t index = LetterIndex(letters[i]);
    if (index < type.rows) {
      indices[i] = static_cast<uint8_t>(index);
      continue;
    }
    ReportLetter(index, letters.substr(i, 1), letters, source.type, inst);
    return {};
  }
  if (letters.size() == 1) {
    return Part(source, indices[0], pool_.Vector(type.scalar, 1));
  }
  Operand vector = source;
  const Role role{.form = Role::Form::kPlain, .text = "source of swizzle"};
  const ir::InstId value = ReadOperand(vector, inst, role, Arrays::kRefused);
  if (!value.valid()) {
    return {};
  }
  const uint32_t count = static_cast<uint32_t>(letters.size());
  Operand result = ValueOf(Emit(ir::SwizzleInst{.type = pool_.Vector(type.scalar, count),
                                                .value = value,
                                                .letters = ir::PackSwizzle(count, indices)}
                                    .To()));
  result.local = source.local;
  return result;
}

// `index` is LetterIndex of `letter`: beyond the type, or not a letter of xyzw at all.
void RegionSpecialiser::ReportLetter(uint32_t index, std::string_view letter, std::string_view text,
                                     ir::TypeId type, uint32_t inst) {
  Diagnostic found = Make(index < 4 ? Code::kRpl6011 : Code::kRpl6010, AuxOf(inst))
                         .With("letter", letter)
                         .With("text", text);
  if (index < 4) {
    found.arguments.emplace_back("type", TypeName(type));
  }
  Report(std::move(found));
}

Operand RegionSpecialiser::SpecialiseColumn(const Operand& source, std::string_view letters,
                                            uint32_t inst) {
  const ir::Type type = pool_[source.type];
  if (letters.size() > 1) {
    Report(Make(Code::kRpl6013, AuxOf(inst)).With("text", letters));
    return {};
  }
  const uint32_t index = LetterIndex(letters.front());
  if (index >= type.columns) {
    ReportLetter(index, letters, letters, source.type, inst);
    return {};
  }
  return Part(source, index, pool_.Vector(type.scalar, type.rows));
}

// --- items

Operand RegionSpecialiser::SpecialiseIndex(uint32_t id) {
  const auto index = Open(id).As<ir::IndexInst>();
  Operand source = OperandOf(index.source);
  Operand item = OperandOf(index.index);
  if (source.kind == OperandKind::kFailed || item.kind == OperandKind::kFailed) {
    return {};
  }
  const bool has_type = source.kind == OperandKind::kValue || source.kind == OperandKind::kPlace;
  if (!has_type || !IsArray(pool_[source.type])) {
    const bool arrayed_image = has_type && pool_[source.type].kind == ir::TypeKind::kImage &&
                               ir::UnpackImage(pool_[source.type].extent).arrayed;
    Report(Make(arrayed_image ? Code::kRpl6021 : Code::kRpl6017, MainOf(index.source.value))
               .With(arrayed_image ? "name" : "text", TextOf(index.source.value)));
    return {};
  }
  const ir::Type array = pool_[source.type];
  const ir::TypeId element{array.element};
  if (item.constant &&
      !CheckItemIndex(item, array.kind == ir::TypeKind::kArray ? array.extent : 0, id)) {
    return {};
  }
  if (item.constant) {
    const uint32_t position = pool_[out_.insts[item.inst.value].As<ir::ConstInst>().value].a;
    Operand part = Part(source, position, element);
    return part;
  }
  const Role role{.form = Role::Form::kPlain, .text = "index"};
  const ir::InstId step = Read(index.index.value, role);
  if (!step.valid()) {
    return {};
  }
  if (TypeOf(step) != pool_.Vector(ir::Scalar::kU32, 1)) {
    Report(Make(Code::kRpl6018, MainOf(index.index.value))
               .With("text", TextOf(index.source.value))
               .With("type", TypeName(TypeOf(step))));
    NoteConversion(TypeOf(step), pool_.Vector(ir::Scalar::kU32, 1));
    return {};
  }
  if (source.kind == OperandKind::kValue) {
    source = out_.insts[source.inst.value].kind == ir::InstKind::kConst ? ConstantPlace(source)
                                                                        : Spill(source);
  }
  return Step(source, step, element);
}

bool RegionSpecialiser::CheckItemIndex(const Operand& item, uint32_t size, uint32_t id) {
  const auto index = Open(id).As<ir::IndexInst>();
  const auto array = [&] { return TextOf(index.source.value); };
  const ir::Type& type = pool_[item.type];
  const uint32_t bits = pool_[out_.insts[item.inst.value].As<ir::ConstInst>().value].a;
  const Location where = MainOf(index.index.value);
  if (type.scalar != ir::Scalar::kU32 && type.scalar != ir::Scalar::kS32) {
    Report(Make(Code::kRpl6018, where).With("text", array()).With("type", TypeName(item.type)));
    return false;
  }
  if (type.scalar == ir::Scalar::kS32 && static_cast<int32_t>(bits) < 0) {
    Report(Make(Code::kRpl6020, where)
               .With("value", static_cast<int32_t>(bits))
               .With("text", array()));
    return false;
  }
  if (size != 0 && bits >= size) {
    Report(
        Make(Code::kRpl6019, where).With("value", bits).With("text", array()).With("size", size));
    return false;
  }
  return true;
}

// --- places

Operand RegionSpecialiser::Part(const Operand& source, uint32_t position, ir::TypeId type) {
  if (source.kind != OperandKind::kValue) {
    return Step(source, EmitUint(position), type);
  }
  Operand part =
      ValueOf(Emit(ir::ExtractInst{.type = type, .value = source.inst, .index = position}.To()));
  part.local = source.local;
  return part;
}

Operand RegionSpecialiser::Step(const Operand& place, ir::InstId step, ir::TypeId type) {
  Operand result = place;
  result.kind = OperandKind::kPlace;
  result.early = {};
  result.type = type;
  if (place.first_step + place.step_count != steps_.size()) {
    result.first_step = static_cast<uint32_t>(steps_.size());
    for (uint32_t i = 0; i < place.step_count; ++i) {
      steps_.push_back(ir::InstId{steps_[place.first_step + i]});
    }
  }
  Push(steps_, step);
  ++result.step_count;
  return result;
}

// A value that is indexed by a variable needs storage (spec/rpl 11.4).
Operand RegionSpecialiser::Spill(const Operand& value) {
  Operand place = value;
  place.kind = OperandKind::kPlace;
  place.inst = Emit(ir::TempInst{.type = value.type}.To());
  Emit(ir::StoreInst{.type = pool_.void_type(), .place = place.inst, .value = value.inst}.To());
  return place;
}

Operand RegionSpecialiser::ConstantPlace(const Operand& constant) {
  Operand place = constant;
  place.kind = OperandKind::kPlace;
  const ir::ConstId value = out_.insts[constant.inst.value].As<ir::ConstInst>().value;
  place.inst = Emit(ir::ConstPlaceInst{.type = constant.type, .value = value}.To());
  return place;
}

ir::InstId RegionSpecialiser::PlaceInst(const Operand& place) {
  if (place.step_count == 0) {
    return place.inst;
  }
  ScratchList steps(scratch_);
  for (uint32_t i = 0; i < place.step_count; ++i) {
    steps.Add(steps_[place.first_step + i]);
  }
  return Emit(
      ir::AccessInst{.type = place.type, .root = place.inst, .steps = EmitList(steps)}.To());
}

ir::InstId RegionSpecialiser::LoadFrom(const Operand& place) {
  Touched(place, ir::MemberUse::kRead);
  return Emit(ir::LoadInst{.type = place.type, .place = PlaceInst(place)}.To());
}

void RegionSpecialiser::StoreTo(const Operand& place, ir::InstId value) {
  Touched(place, ir::MemberUse::kWrite);
  const ir::InstId target = PlaceInst(place);
  Emit(ir::StoreInst{.type = pool_.void_type(), .place = target, .value = value}.To());
}

// Why the last message says that a place cannot be read, or written (spec/rpl 5.1, 8.9).
void RegionSpecialiser::NoteAccess(const Operand& place) {
  std::string why;
  if (place.decl.valid() && place.direction != ir::Direction::kNone) {
    const ir::Decl& decl = program_.Get(place.decl);
    why = std::string(DeclKindText(decl)) + " '" +
          std::string(program_.Text(program_.NameOf(place.decl))) + "' is " +
          (place.readable ? "read" : "write") + "-only in the " +
          std::string(ir::NameOf(answers_.stage())) + " stage";
  } else if (place.decl.valid()) {
    why = std::string(DeclKindText(program_.Get(place.decl))) + "s are read-only";
  } else if (place.kind == OperandKind::kPlace) {
    why = place.readable
              ? "an 'in' argument is read-only; make it 'in out', or copy it to a variable"
              : "an 'out' argument is write-only; make it 'in out'";
  } else if (place.kind == OperandKind::kValue && place.local) {
    why = out_.insts[place.inst.value].kind == ir::InstKind::kSwizzle
              ? "a swizzle cannot be assigned; assign its components one by one"
              : "an 'in' argument is read-only; make it 'in out', or copy it to a variable";
  }
  if (!why.empty()) {
    std::move(diagnostics_.back()).Note(NoteKind::kAdvice, {{"advice", why}});
  }
}

ir::InstId RegionSpecialiser::Read(uint32_t operand_inst, const Role& role, Arrays arrays) {
  return ReadOperand(OperandOf(ir::InstId{operand_inst}), operand_inst, role, arrays);
}

ir::InstId RegionSpecialiser::ReadOperand(Operand& operand, uint32_t inst, const Role& role,
                                          Arrays arrays) {
  const ir::Inst& open = Open(inst);
  switch (operand.kind) {
    case OperandKind::kFailed:
      return {};
    case OperandKind::kVoid: {
      const std::string name = open.kind == ir::InstKind::kNameCall
                                   ? std::string(module_.Text(open.As<ir::NameCallInst>().name))
                                   : TextOf(inst);
      Report(Make(Code::kRpl6005, MainOf(inst)).With("function", name));
      return {};
    }
    case OperandKind::kBlock:
    case OperandKind::kContainer: {
      Report(Make(Code::kRpl6004, MainOf(inst))
                 .With("kind", DeclKindText(program_.Get(operand.decl)))
                 .With("name", TextOf(inst)));
      return {};
    }
    case OperandKind::kValue:
    case OperandKind::kPlace:
      break;
  }
  const ir::Type& type = pool_[operand.type];
  if (IsHandle(type)) {
    Report(Make(Code::kRpl6004, MainOf(inst))
               .With("kind", type.kind == ir::TypeKind::kSampler ? "sampler" : "image")
               .With("name", TextOf(inst)));
    return {};
  }
  if (!operand.readable) {
    Report(Make(Code::kRpl6014, MainOf(inst)).With("role", RoleText(role)));
    NoteAccess(operand);
    return {};
  }
  if (IsArray(type) && (arrays == Arrays::kRefused || type.kind == ir::TypeKind::kRuntimeArray)) {
    Report(Make(Code::kRpl6016, MainOf(inst)).With("role", RoleText(role)));
    return {};
  }
  if (operand.kind == OperandKind::kValue) {
    return operand.inst;
  }
  return operand.early.valid() ? operand.early : LoadFrom(operand);
}

}  // namespace kiln::resolve
