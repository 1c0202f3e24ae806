// SPDX-License-Identifier: MIT
// Names, members and items: which place or value a mention denotes, and how it is read and written
// (rpl.md 5.1, 5.4, 8.5, 8.6, 8.9).
#include <algorithm>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/resolve/close_type.h"
#include "compiler/resolve/kind_text.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/segment_closer.h"

namespace kiln::resolve {
namespace {

// What a stage may do with a container (rpl.md 8.9).
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

bool IsHandle(const ir::Type& type) {
  return type.kind == ir::TypeKind::kSampler || type.kind == ir::TypeKind::kImage;
}

bool IsArray(const ir::Type& type) {
  return type.kind == ir::TypeKind::kArray || type.kind == ir::TypeKind::kRuntimeArray;
}

constexpr uint32_t kMaxRows = 262'144;    // of a closed segment (daemon.md 10: SPIR-V ids)
constexpr uint32_t kMaxAliasDepth = 256;  // rpl.md 1.5

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

// --- names
// ------------------------------------------------------------------------------------------

Operand SegmentCloser::CloseNameRef(uint32_t id) {
  const ir::Inst& inst = Open(id);
  if (inst.kind == ir::InstKind::kConst) {
    const ir::Const& row = module_.consts[inst.As<ir::ConstInst>().value.value];
    const ir::Type& type = module_.types[row.type.value];
    Operand value =
        ValueOf(EmitConst(pool_.InternScalar(pool_.Vector(type.scalar, type.rows), row.a)));
    value.constant = true;
    return value;
  }
  if (inst.kind == ir::InstKind::kFlag || inst.kind == ir::InstKind::kText) {
    if (inst.kind == ir::InstKind::kFlag && module_.header.version >= 2) {
      return ValueOf(Emit(
          ir::FlagInst{.type = pool_.bool_type(), .value = inst.As<ir::FlagInst>().value}.To()));
    }
    Report(Make(Code::kRpl6003, MainOf(id))
               .With("kind", inst.kind == ir::InstKind::kFlag ? "boolean" : "string")
               .With("text", TextOf(id))
               .Note(NoteKind::kAccepted,
                     {{"accepted", inst.kind == ir::InstKind::kFlag
                                       ? "comparisons, conditional scopes, or 'rpl 2;'"
                                       : "strings in conditionals and settings"}}));
    return {};
  }
  const auto ref = inst.As<ir::NameRefInst>();
  for (const uint32_t candidate : module_.List(ref.candidates)) {
    if (answers_.Holds(Global(module_.locals[candidate].condition))) {
      return CloseLocalMention(ir::LocalId{bases_.local + candidate}, id);
    }
  }
  return CloseGlobalMention(module_.Text(ref.name), program_.Name(module_ordinal_, ref.name), id);
}

Operand SegmentCloser::CloseLocalMention(ir::LocalId id, uint32_t) {
  const ir::Local& local = program_.Get(id);
  if (local.kind == ir::LocalKind::kAlias) {
    if (std::ranges::binary_search(poisoned_, id.value, {}, &ir::LocalId::value) ||
        !MayExpand(local)) {
      return {};
    }
    const std::span<const uint32_t> insts = module_.InstsOf(ir::BlockId{local.block});
    const uint32_t mention = current_;
    ++alias_depth_;
    CloseInsts(insts);
    --alias_depth_;
    current_ = mention;
    KILN_CHECK(!insts.empty() && Open(insts.back()).kind == ir::InstKind::kYield,
               "alias block of {} rows yields nothing", insts.size());
    return OperandOf(Open(insts.back()).As<ir::YieldInst>().value);
  }
  Operand operand;
  operand.local = true;
  if (local.kind == ir::LocalKind::kParameter) {
    const auto parameter =
        std::ranges::lower_bound(signature_->members, id.value, {},
                                 [](const ir::ClosedMember& member) { return member.local.value; });
    if (parameter == signature_->members.end() || parameter->local != id) {
      return {};
    }
    operand.type = parameter->type;
    operand.readable = parameter->access != ir::Access::kOut;
    operand.writable = parameter->access != ir::Access::kIn;
    if (parameter->access == ir::Access::kIn && !IsHandle(pool_[parameter->type])) {
      operand.kind = OperandKind::kValue;
      operand.inst = Emit(ir::ParamInst{.type = operand.type, .local = id}.To());
      MarkRelaxed(local.relaxed != 0, operand.inst);
      return operand;
    }
  } else {
    ir::TypeId* known = local_types_.Find(id);
    if (known == nullptr) {
      std::vector<Diagnostic> ignored;  // reported where the variable is declared
      const ir::TypeId type =
          CloseType({.module = module_ordinal_, .type = local.type}, answers_, ignored);
      known = local_types_.Insert(id, type).first;
    }
    if (!known->valid()) {
      return {};
    }
    operand.type = *known;
    operand.writable = true;
  }
  operand.kind = OperandKind::kPlace;
  operand.inst = Emit(ir::LocalRefInst{.type = operand.type, .local = id}.To());
  MarkRelaxed(local.relaxed != 0, operand.inst);
  return operand;
}

Operand SegmentCloser::CloseGlobalMention(std::string_view name, NameId id, uint32_t inst) {
  const NameAnswer answer = answers_.Global(id);
  switch (answer.kind) {
    case NameAnswer::Kind::kConflict:
    case NameAnswer::Kind::kFailed:
      return {};
    case NameAnswer::Kind::kOption:
      if (program_.Get(answer.option()).specialize != 0) {
        return CloseSpecialised(answer.option());
      }
      return CloseOptionMention("option", name, answers_.Option(answer.option()), inst);
    case NameAnswer::Kind::kConstant:
      if (program_.IsComposite(answer.decl())) {
        const ir::ConstId value = answers_.Composite(answer.decl());
        return value.valid() ? ValueOf(EmitConst(value)) : Operand{};
      }
      return CloseOptionMention("constant", name, answers_.Constant(answer.decl()), inst);
    case NameAnswer::Kind::kDecl:
      break;
    case NameAnswer::Kind::kNone: {
      const bool is_function = !program_.Functions(id).empty();
      if (is_function || !program_.Structs(id).empty()) {
        Report(Make(Code::kRpl6004, MainOf(inst))
                   .With("kind", is_function ? "function" : "struct")
                   .With("name", name));
      } else {
        Report(Make(Code::kRpl6001, MainOf(inst)).With("name", name));
      }
      return {};
    }
  }
  const ir::Decl& decl = program_.Get(answer.decl());
  Operand operand;
  operand.decl = answer.decl();
  if (decl.kind == ir::DeclKind::kContainer) {
    operand.kind = OperandKind::kContainer;
    return operand;
  }
  const ir::ClosedDecl* closed = answers_.Decl(answer.decl());
  if (closed == nullptr) {
    return {};
  }
  if (decl.kind == ir::DeclKind::kWorkgroup) {
    if (answers_.stage() != ir::Stage::kCompute) {
      Report(Make(Code::kRpl5011, MainOf(inst))
                 .With("kind", DeclKindText(decl))
                 .With("container", name)
                 .With("stage", ir::NameOf(answers_.stage())));
      return {};
    }
    out_.bound = true;
  }
  operand.kind = decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant
                     ? OperandKind::kBlock
                     : OperandKind::kPlace;
  operand.type = closed->type;
  operand.writable =
      decl.kind == ir::DeclKind::kWorkgroup ||
      (decl.kind == ir::DeclKind::kBuffer && decl.buffer() == ir::BufferKind::kReadWriteStorage);
  operand.inst = Emit(ir::GlobalRefInst{
      .type = operand.type,
      .direction = ir::Direction::kNone,
      .decl = answer.decl(),
      .member = {}}.To());
  Mentioned(answer.decl(), ir::MemberId{}, ir::Direction::kNone, 0);
  return operand;
}

// Not folded: the value is that of the pipeline (rpl.md 14.9).
Operand SegmentCloser::CloseSpecialised(ir::OptionId id) {
  const ir::Option& option = program_.Get(id);
  const ir::Scalar scalar = option.kind == ir::OptionKind::kFlag   ? ir::Scalar::kBool
                            : option.kind == ir::OptionKind::kUint ? ir::Scalar::kU32
                            : option.kind == ir::OptionKind::kSint ? ir::Scalar::kS32
                                                                   : ir::Scalar::kF32;
  return ValueOf(Emit(ir::SpecConstInst{
      .type = pool_.Vector(scalar, 1), .id = program_.SpecIdOf(id), .bits = option.default_value}
                          .To()));
}

Operand SegmentCloser::CloseOptionMention(std::string_view kind, std::string_view name,
                                          const Value& value, uint32_t inst) {
  ir::Scalar scalar = ir::Scalar::kNone;
  std::string_view type;
  switch (value.kind) {
    case ir::ValueKind::kFailed:
      return {};
    case ir::ValueKind::kFlag:
      type = "flag";
      break;
    case ir::ValueKind::kString:
      type = kind == "option" ? "enum" : "string";
      break;
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
    Report(Make(Code::kRpl6002, MainOf(inst))
               .With("kind", kind)
               .With("name", name)
               .With("type", type)
               .Note(NoteKind::kWrite,
                     {{"replacement", "conditional (" + std::string(name) + ") { ... }"}}));
    return {};
  }
  Operand operand = ValueOf(EmitConst(pool_.InternScalar(pool_.Vector(scalar, 1), value.bits)));
  operand.constant = true;
  return operand;
}

// An alias stands for its expression at each mention, so a few lines can ask for any amount.
bool SegmentCloser::MayExpand(const ir::Local& alias) {
  if (too_large_ || out_.insts.size() > kMaxRows) {
    if (!too_large_) {
      Report(Make(Code::kLim1001, MainOf(current_))
                 .With("what", "function '" + std::string(module_.Text(function_.name)) + "'")

                 .With("parts", "instructions")
                 .With("limit", kMaxRows));
    }
    too_large_ = true;
    return false;
  }
  if (alias_depth_ >= kMaxAliasDepth) {
    Report(Make(Code::kRpl1009, MainOf(current_))
               .With("text", module_.Text(alias.name))
               .With("limit", kMaxAliasDepth));
    return false;
  }
  return true;
}

// --- members
// ----------------------------------------------------------------------------------------

Operand SegmentCloser::CloseMember(const Operand& source, std::string_view name, uint32_t inst) {
  if (source.kind == OperandKind::kFailed) {
    return {};
  }
  if (source.kind == OperandKind::kContainer || source.kind == OperandKind::kBlock) {
    return CloseDeclMember(source, source.decl, name, inst);
  }
  if (source.kind == OperandKind::kValue || source.kind == OperandKind::kPlace) {
    const ir::Type& type = pool_[source.type];
    if (type.kind == ir::TypeKind::kStruct) {
      const NameId owner = program_.FindName(pool_.Text(pool_.ShapeOf(source.type).name));
      const NameAnswer answer = owner.valid() ? answers_.Struct(owner) : NameAnswer{};
      return answer.kind == NameAnswer::Kind::kDecl
                 ? CloseDeclMember(source, answer.decl(), name, inst)
                 : Operand{};
    }
    const bool flag = source.type == pool_.bool_type();  // has no components
    if (type.kind == ir::TypeKind::kVector && !flag) {
      return CloseComponents(source, name, inst);
    }
    if (type.kind == ir::TypeKind::kMatrix) {
      return CloseColumn(source, name, inst);
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

Operand SegmentCloser::CloseDeclMember(const Operand& source, ir::DeclId owner,
                                       std::string_view name, uint32_t inst) {
  const NameId id = program_.FindName(name);
  const MemberAnswer answer = id.valid() ? answers_.Member(owner, id) : MemberAnswer{};
  if (answer.kind == MemberAnswer::Kind::kFailed) {
    return {};
  }
  if (answer.kind == MemberAnswer::Kind::kNone) {
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
  if (answer.kind == MemberAnswer::Kind::kAlias) {
    const size_t before = diagnostics_.size();
    Operand operand = source;
    for (const NameId step : answers_.AliasPath(answer.member)) {
      operand = CloseMember(operand, program_.Text(step), inst);
    }
    // What is wrong with the names themselves is said at the alias.
    const auto said =
        std::remove_if(diagnostics_.begin() + static_cast<ptrdiff_t>(before), diagnostics_.end(),
                       [](const Diagnostic& found) { return IsOfNames(found.code); });
    diagnostics_.erase(said, diagnostics_.end());
    return operand;
  }
  if (source.kind == OperandKind::kContainer) {
    return CloseContainerField(source, answer, inst);
  }
  return Part(source, answer.position, answer.type);
}

Operand SegmentCloser::CloseContainerField(const Operand& source, const MemberAnswer& field,
                                           uint32_t inst) {
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

Operand SegmentCloser::CloseComponents(const Operand& source, std::string_view letters,
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
void SegmentCloser::ReportLetter(uint32_t index, std::string_view letter, std::string_view text,
                                 ir::TypeId type, uint32_t inst) {
  Diagnostic found = Make(index < 4 ? Code::kRpl6011 : Code::kRpl6010, AuxOf(inst))
                         .With("letter", letter)
                         .With("text", text);
  if (index < 4) {
    found.arguments.emplace_back("type", TypeName(type));
  }
  Report(std::move(found));
}

Operand SegmentCloser::CloseColumn(const Operand& source, std::string_view letters, uint32_t inst) {
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
// ------------------------------------------------------------------------------------------

Operand SegmentCloser::CloseIndex(uint32_t id) {
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

bool SegmentCloser::CheckItemIndex(const Operand& item, uint32_t size, uint32_t id) {
  const auto index = Open(id).As<ir::IndexInst>();
  const std::string array = TextOf(index.source.value);
  const ir::Type& type = pool_[item.type];
  const uint32_t bits = pool_[out_.insts[item.inst.value].As<ir::ConstInst>().value].a;
  const Location where = MainOf(index.index.value);
  if (type.scalar != ir::Scalar::kU32 && type.scalar != ir::Scalar::kS32) {
    Report(Make(Code::kRpl6018, where).With("text", array).With("type", TypeName(item.type)));
    return false;
  }
  if (type.scalar == ir::Scalar::kS32 && static_cast<int32_t>(bits) < 0) {
    Report(
        Make(Code::kRpl6020, where).With("value", static_cast<int32_t>(bits)).With("text", array));
    return false;
  }
  if (size != 0 && bits >= size) {
    Report(Make(Code::kRpl6019, where).With("value", bits).With("text", array).With("size", size));
    return false;
  }
  return true;
}

// --- places
// -----------------------------------------------------------------------------------------

Operand SegmentCloser::Part(const Operand& source, uint32_t position, ir::TypeId type) {
  if (source.kind != OperandKind::kValue) {
    return Step(source, EmitUint(position), type);
  }
  Operand part =
      ValueOf(Emit(ir::ExtractInst{.type = type, .value = source.inst, .index = position}.To()));
  part.local = source.local;
  return part;
}

Operand SegmentCloser::Step(const Operand& place, ir::InstId step, ir::TypeId type) {
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
  steps_.push_back(step);
  ++result.step_count;
  return result;
}

// A value that is indexed by a variable needs storage (rpl.md 11.4).
Operand SegmentCloser::Spill(const Operand& value) {
  Operand place = value;
  place.kind = OperandKind::kPlace;
  place.inst = Emit(ir::TempInst{.type = value.type}.To());
  Emit(ir::StoreInst{.type = pool_.void_type(), .place = place.inst, .value = value.inst}.To());
  return place;
}

Operand SegmentCloser::ConstantPlace(const Operand& constant) {
  Operand place = constant;
  place.kind = OperandKind::kPlace;
  const ir::ConstId value = out_.insts[constant.inst.value].As<ir::ConstInst>().value;
  place.inst = Emit(ir::ConstPlaceInst{.type = constant.type, .value = value}.To());
  return place;
}

ir::InstId SegmentCloser::PlaceInst(const Operand& place) {
  if (place.step_count == 0) {
    return place.inst;
  }
  std::vector<uint32_t> steps;
  for (uint32_t i = 0; i < place.step_count; ++i) {
    steps.push_back(steps_[place.first_step + i].value);
  }
  return Emit(
      ir::AccessInst{.type = place.type, .root = place.inst, .steps = EmitList(steps)}.To());
}

ir::InstId SegmentCloser::LoadFrom(const Operand& place) {
  Touched(place, ir::Touch::kRead);
  return Emit(ir::LoadInst{.type = place.type, .place = PlaceInst(place)}.To());
}

void SegmentCloser::StoreTo(const Operand& place, ir::InstId value) {
  Touched(place, ir::Touch::kWrite);
  const ir::InstId target = PlaceInst(place);
  Emit(ir::StoreInst{.type = pool_.void_type(), .place = target, .value = value}.To());
}

ir::InstId SegmentCloser::Read(uint32_t operand_inst, const Role& role, Arrays arrays) {
  return ReadOperand(OperandOf(ir::InstId{operand_inst}), operand_inst, role, arrays);
}

ir::InstId SegmentCloser::ReadOperand(Operand& operand, uint32_t inst, const Role& role,
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
