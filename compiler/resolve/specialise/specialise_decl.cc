// SPDX-License-Identifier: MIT
#include "compiler/resolve/specialise/specialise_decl.h"

#include <iterator>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/resolve/attribute_format.h"
#include "compiler/resolve/checks/memory_rules.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/specialise/specialise_type.h"

namespace kiln::resolve {
namespace {

// Attributes come from memory, and so they alone have formats.
bool IsAttributes(const ir::Decl& decl) {
  return decl.kind == ir::DeclKind::kContainer &&
         (decl.container() == ir::ContainerKind::kVertexAttributes ||
          decl.container() == ir::ContainerKind::kInstanceAttributes);
}

// Whether conditionals of fields decide the input interface (spec/rpl 8.4).
bool IsInputInterface(const ir::Decl& decl) {
  return decl.kind != ir::DeclKind::kContainer || IsAttributes(decl);
}

// Specialises one declaration: which members are live, what their types are, and whether they fit
// what the declaration is. A member that fails makes the declaration fail, but the others are
// looked at all the same, so that one run finds everything.
class DeclSpecialiser {
 public:
  DeclSpecialiser(const Program& program, ir::DeclId id, VariantEvaluator& answers)
      : program_(program),
        id_(id),
        answers_(answers),
        pool_(answers.pool()),
        module_(program.ModuleOf(id)),
        view_(program.module(module_)),
        decl_(program.Get(id)),
        name_(program.Text(program.NameOf(id))),
        spans_(program.SpansOf(id)) {}

  Diagnosed<ir::SpecialisedDecl> Run() {
    out_.decl = id_;
    out_.kind = decl_.kind;
    out_.flags = decl_.flags;
    out_.name = answers_.PoolText(program_.NameOf(id_));
    out_.origin = {.module = module_, .span = spans_.name};
    out_.attributes =
        AttributesOf(view_.AttributesOf(ir::DeclId{id_.value - program_.bases(module_).decl}));
    Close();
    Diagnosed<ir::SpecialisedDecl> result;
    // A type that failed has left a hole in the members, so what came out must not be used.
    if (!poisoned_ && !HasErrors(diagnostics_)) {
      result.value = std::move(out_);
    }
    result.diagnostics = std::move(diagnostics_);
    return result;
  }

 private:
  // Constants, settings and entry points are specialised elsewhere.
  void Close() {
    switch (decl_.kind) {
      case ir::DeclKind::kStruct:
      case ir::DeclKind::kBuffer:
      case ir::DeclKind::kPushConstant:
        return SpecialiseBlock();
      case ir::DeclKind::kContainer:
        return SpecialiseContainer();
      case ir::DeclKind::kSampler:
        out_.type = SpecialiseOwnType(TypeUse::kImageExtent, "the array size of sampler");
        return;
      case ir::DeclKind::kImage:
        out_.type = SpecialiseOwnType(TypeUse::kImageExtent, "the array size of image");
        return;
      case ir::DeclKind::kWorkgroup:
        out_.type = SpecialiseOwnType(TypeUse::kLocal, {});
        return;
      case ir::DeclKind::kPrivate:
        out_.type = SpecialiseOwnType(TypeUse::kLocal, {});
        return SpecialiseInitial();
      case ir::DeclKind::kEntry:
        break;
      case ir::DeclKind::kFunction:
        return SpecialiseSignature();
      case ir::DeclKind::kConstant:
      case ir::DeclKind::kSetting:
        break;
    }
    KILN_UNREACHABLE();
  }

  // With texts of the pool.
  std::vector<ir::Attribute> AttributesOf(std::span<const ir::Attribute> open) {
    std::vector<ir::Attribute> attributes(open.begin(), open.end());
    // Words of an attribute that are texts become texts of the pool; numbers stay.
    for (ir::Attribute& attribute : attributes) {
      const auto text = [&](ir::AttributeWord word, uint32_t& value) {
        if (word == ir::AttributeWord::kText) {
          value = pool_.InternText(view_.Text(ir::StringId{value})).value;
        }
      };
      text(ir::FactsOf(attribute.key).a, attribute.a);
      text(ir::FactsOf(attribute.key).b, attribute.b);
      attribute.owner = 0;  // it stands with its owner
    }
    return attributes;
  }

  // What a private variable begins with: a scalar, or nothing, which is zero.
  void SpecialiseInitial() {
    poisoned_ = !out_.type.valid();
    if (poisoned_ || decl_.body == ir::kNoRow) {
      return;
    }
    // The value is computed when the declaration is specialised, so it may depend on options; it
    // never depends on what a shader does.
    const Value value = answers_.Check(program_.Wide(module_, ir::CexprId{decl_.body}),
                                       program_.At(module_, spans_.value), {}, diagnostics_);
    constexpr ir::Scalar kScalars[] = {ir::Scalar::kBool, ir::Scalar::kU32, ir::Scalar::kS32,
                                       ir::Scalar::kF32};
    const auto kind = static_cast<size_t>(value.kind);
    poisoned_ = value.failed();
    if (poisoned_) {
      return;
    }
    if (kind >= std::size(kScalars) || out_.type != pool_.Vector(kScalars[kind], 1)) {
      diagnostics_.push_back(Make(Code::kRpl9001, program_.At(module_, spans_.name))
                                 .With("text", "an initial value of another type"));
      return;
    }
    out_.initial = pool_.InternScalar(out_.type, value.bits);
  }

  // A buffer or push constant of a typed module whose content is a struct, or an array of buffers.
  void SpecialiseContent() {
    const bool storage =
        decl_.kind == ir::DeclKind::kBuffer && decl_.buffer() != ir::BufferKind::kUniform;
    const ir::TypeId content = SpecialiseOwnType(storage ? TypeUse::kBuffers : TypeUse::kField,
                                                 "the array size of buffer");
    poisoned_ = !content.valid();
    if (!poisoned_) {
      out_.type = content;
    }
  }

  // `position` is empty where instance options may decide about sizes.
  ir::TypeId SpecialiseOwnType(TypeUse use, std::string_view position) {
    return SpecialiseType({.module = module_,
                           .type = decl_.type,
                           .spans = spans_.type,
                           .owner = name_,
                           .use = use,
                           .global_only = !position.empty(),
                           .position = position},
                          answers_, diagnostics_);
  }

  // --- members -----------------------------------------------------------------------------------
  // Calls visit(member, its program-wide id, its name, its spans) for each live one.
  template <class Visit>
  void ForLiveMembers(const Position& field_position, Visit visit) {
    const std::span<const ir::Member> members = view_.MembersOf(decl_);
    const uint32_t first = program_.bases(module_).member + decl_.first_member;
    // Two live members of one name are an error of this variant. The first stays, so that its users
    // have something to refer to.
    FlatMap<uint32_t, ir::MemberId> seen;
    for (uint32_t i = 0; i < members.size(); ++i) {
      const ir::Member& member = members[i];
      const ir::MemberId id{first + i};
      const NameId name = program_.Name(module_, member.name);
      const ir::MemberSpans spans = program_.SpansOf(id);
      if (!IsLive(member, name, spans, field_position)) {
        continue;
      }
      const auto [known, is_new] = seen.Insert(name.value, id);
      if (!is_new) {
        diagnostics_.push_back(Make(Code::kRpl4021, program_.At(module_, spans.name))
                                   .With("name", program_.Text(name))
                                   .With("owner", name_)
                                   .Label(LabelKind::kFirstHere, program_.NameLocation(*known)));
        continue;
      }
      visit(member, id, name, spans);
    }
  }

  // The condition of a member belongs to the interface of its declaration, so where instance
  // options must not appear it is checked against that. A condition that fails counts as not
  // holding.
  bool IsLive(const ir::Member& member, NameId name, const ir::MemberSpans& spans,
              const Position& field_position) {
    // Most members have no condition, and then no query is recorded.
    if (member.condition == ir::kTrue) {
      return true;
    }
    Position position = field_position;
    position.name = program_.Text(name);
    if (member.kind == ir::MemberKind::kAlias) {
      position.global_only = true;
      position.what = "the conditional of field alias";
    }
    return answers_
        .CheckCondition(program_.Wide(module_, member.condition),
                        program_.At(module_, spans.condition), position, diagnostics_)
        .value_or(false);
  }

  // Sizes of fields are part of the input interface, so instance options are refused there.
  ir::TypeId SpecialiseMemberType(const ir::Member& member, NameId name,
                                  const ir::MemberSpans& spans, TypeUse use) {
    return SpecialiseType({.module = module_,
                           .type = member.type,
                           .spans = spans.type,
                           .owner = program_.Text(name),
                           .use = use,
                           .global_only = use == TypeUse::kField,
                           .position = "the array size of field"},
                          answers_, diagnostics_);
  }

  ir::SpecialisedMember& AddMember(const ir::Member& member, ir::MemberId id, NameId name,
                                   const ir::MemberSpans& spans, ir::TypeId type) {
    ir::SpecialisedMember& specialised = out_.members.emplace_back();
    specialised.name = answers_.PoolText(name);
    specialised.type = type;
    specialised.member = id;
    specialised.access = member.access;
    specialised.origin = {.module = module_, .span = spans.name};
    // The search costs time, and modules of RPL have no attributes.
    if (!view_.attributes.empty()) {
      specialised.attributes =
          AttributesOf(view_.AttributesOf(ir::MemberId{id.value - program_.bases(module_).member}));
    }
    for (const uint32_t tag : view_.List(member.tags)) {
      specialised.tags.push_back(answers_.PoolText(program_.Name(module_, ir::StringId{tag})));
    }
    return specialised;
  }

  // An alias must begin with a field that is live; what stands behind it is walked step by step. It
  // is checked here once, and users repeat the walk without saying what is wrong with the names.
  void CheckAlias(const ir::Member& member, ir::MemberId id, NameId name,
                  const ir::MemberSpans& spans) {
    const Location where = program_.At(module_, spans.value.valid() ? spans.value : spans.name);
    const std::span<const uint32_t> path = view_.List(ir::ListId{member.value});
    if (path.empty()) {
      diagnostics_.push_back(Make(Code::kRpl4030, where).With("name", program_.Text(name)));
      return;
    }
    const NameId start = program_.Name(module_, ir::StringId{path[0]});
    const MemberResolution answer = answers_.Member(id_, start);
    if (answer.kind == MemberResolution::Kind::kNone) {
      diagnostics_.push_back(Make(Code::kRpl4031, where)
                                 .With("name", program_.Text(name))
                                 .With("owner", name_)
                                 .With("text", program_.Text(start)));
    } else if (answer.kind != MemberResolution::Kind::kFailed) {
      CheckAliasPath(answers_.AliasPath(id), where);  // which finds cycles
    }
  }

  // What stands behind the field that an alias denotes a part of: components, columns, fields.
  void CheckAliasPath(std::span<const NameId> path, const Location& where) {
    // The path is kept backwards, so that a step is taken from its end and an alias is put there.
    std::vector<NameId> rest(path.rbegin(), path.rend());  // the next step is the last
    ir::TypeId type;
    for (bool first = true; !rest.empty() && (first || type.valid()); first = false) {
      const NameId step = rest.back();
      rest.pop_back();
      if (first) {
        type = answers_.Member(id_, step).type;
      } else if (pool_[type].kind == ir::TypeKind::kStruct) {
        type = StepToField(type, step, rest, where);
      } else {
        type = StepToComponents(type, program_.Text(step), where);
      }
    }
  }

  // A step into a struct may be an alias of its own. Its path is put in front of what is left, so
  // the walk goes on as if it had been written out.
  ir::TypeId StepToField(ir::TypeId type, NameId step, std::vector<NameId>& rest,
                         const Location& where) {
    const std::string_view owner_name = pool_.Text(pool_.ShapeOf(type).name);
    const NameResolution owner = answers_.Struct(program_.FindName(owner_name));
    if (owner.kind != NameResolution::Kind::kDecl) {
      return {};
    }
    const MemberResolution answer = answers_.Member(owner.decl(), step);
    if (answer.kind == MemberResolution::Kind::kNone) {
      diagnostics_.push_back(
          Make(Code::kRpl6007, where).With("owner", owner_name).With("name", program_.Text(step)));
    }
    if (answer.kind != MemberResolution::Kind::kAlias) {
      return answer.type;
    }
    const std::span<const NameId> path = answers_.AliasPath(answer.member);
    if (path.empty()) {
      return {};
    }
    rest.insert(rest.end(), path.rbegin(), path.rend());
    return type;
  }

  // Letters of vectors and matrices obey the same rules as in code (specialise_member), with the
  // codes that those rules have.
  ir::TypeId StepToComponents(ir::TypeId id, std::string_view text, const Location& where) {
    const ir::Type& type = pool_[id];
    const bool vector = type.kind == ir::TypeKind::kVector && id != pool_.bool_type();
    const bool matrix = type.kind == ir::TypeKind::kMatrix;
    const auto fail = [&](Code code) -> Diagnostic& {
      return diagnostics_.emplace_back(Make(code, where));
    };
    if (!vector && !matrix) {
      fail(Code::kRpl6008).arguments = {
          {"name", text}, {"text", name_}, {"type", BooleanText(pool_, id)}};
      return {};
    }
    if (vector && type.rows == 1) {
      fail(Code::kRpl6009).arguments = {{"type", BooleanText(pool_, id)}, {"name", text}};
      return {};
    }
    if (text.size() > (vector ? 4U : 1U)) {
      fail(vector ? Code::kRpl6012 : Code::kRpl6013).arguments = {{"text", text}};
      return {};
    }
    // Letters stand for components of a vector and for columns of a matrix.
    const uint32_t count = vector ? type.rows : type.columns;
    for (const char& letter : text) {
      const size_t index = std::string_view("xyzw").find(letter);
      if (index < count) {
        continue;
      }
      Diagnostic& found = fail(index < 4 ? Code::kRpl6011 : Code::kRpl6010);
      found.arguments = {{"letter", std::string_view(&letter, 1)}, {"text", text}};
      if (index < 4) {
        found.arguments.emplace_back("type", BooleanText(pool_, id));
      }
      return {};
    }
    return pool_.Vector(type.scalar, matrix ? type.rows : static_cast<uint32_t>(text.size()));
  }

  // --- structs, buffers, push constants ----------------------------------------------------------
  // Structs too, which differ from blocks in what may not be empty.
  void SpecialiseBlock() {
    if (decl_.kind != ir::DeclKind::kStruct && decl_.type.valid()) {
      return SpecialiseContent();
    }
    const Position position = {.global_only = true, .what = "the conditional of field"};
    ForLiveMembers(position, [&](const ir::Member& member, ir::MemberId id, NameId name,
                                 const ir::MemberSpans& spans) {
      if (member.kind == ir::MemberKind::kAlias) {
        return CheckAlias(member, id, name, spans);
      }
      const ir::TypeId type = SpecialiseMemberType(member, name, spans, TypeUse::kField);
      // The member is added all the same: a struct whose members are wrong is no empty struct.
      poisoned_ = poisoned_ || !type.valid();
      AddMember(member, id, name, spans, type);
    });
    // Checked after the walk, since what remains depends on the options: a struct may be empty in
    // one variant only.
    CheckNotEmpty(decl_.kind == ir::DeclKind::kStruct ? Code::kRpl4024 : Code::kRpl4025);
    if (poisoned_) {
      return;
    }
    std::vector<ir::ShapeMember> shape;
    shape.reserve(out_.members.size());
    for (const ir::SpecialisedMember& member : out_.members) {
      shape.push_back(ShapeOf(member));
    }
    out_.type = pool_.InternStruct(name_, shape);
    // Rules of RPL's memory; other languages bring their own and are judged by the layout.
    if (view_.header.typed == 0) {
      CheckMemory(program_, pool_, out_, diagnostics_);
    }
  }

  // The form in memory that a typed module wrote is part of the type, so it becomes part of the
  // shape.
  static ir::ShapeMember ShapeOf(const ir::SpecialisedMember& member) {
    ir::ShapeMember shape{.name = member.name, .type = member.type};
    for (const ir::Attribute& attribute : member.attributes) {
      if (attribute.key == ir::AttributeKey::kOffset) {
        shape.offset = attribute.a;
      } else if (attribute.key == ir::AttributeKey::kRowMajor) {
        shape.order = ir::MatrixOrder::kRow;
      } else if (attribute.key == ir::AttributeKey::kStride) {
        shape.stride = attribute.a;
      }
    }
    return shape;
  }

  // Told of the declaration, as there is no member to point at.
  void CheckNotEmpty(Code code) {
    if (!out_.members.empty()) {
      return;
    }
    Diagnostic found = Make(code, program_.At(module_, spans_.name)).With("name", name_);
    if (code == Code::kRpl4025) {
      found.arguments.emplace_back("kind", DeclKindText(decl_));
    }
    diagnostics_.push_back(std::move(found));
  }

  // --- containers --------------------------------------------------------------------------------
  void SpecialiseContainer() {
    // Instance options must not decide what an application has to provide.
    const Position position = {.global_only = IsInputInterface(decl_),
                               .what = "the conditional of field"};
    ForLiveMembers(position, [&](const ir::Member& member, ir::MemberId id, NameId name,
                                 const ir::MemberSpans& spans) {
      if (member.kind == ir::MemberKind::kAlias) {
        return CheckAlias(member, id, name, spans);
      }
      const ir::TypeId type = SpecialiseMemberType(member, name, spans, TypeUse::kField);
      if (!type.valid() || !CheckContainerField(type, name, spans)) {
        poisoned_ = true;
        return;
      }
      ir::SpecialisedMember& specialised = AddMember(member, id, name, spans, type);
      specialised.relaxed = member.value == ir::kRelaxedField;
      CheckRelaxed(specialised.relaxed, type, program_.Text(name), spans.type);
      if (IsAttributes(decl_)) {
        const AttributeFormat format = FormatOf(member, pool_[type].scalar);
        CheckFormat(format, pool_, type, program_.Text(name),
                    program_.At(module_, spans.value.valid() ? spans.value : spans.name),
                    diagnostics_);
        specialised.pack = format.pack;
        specialised.pack_bits = format.bits;
      }
    });
    // A container whose fields failed may look empty only because of that.
    if (!poisoned_) {
      CheckNotEmpty(Code::kRpl4025);
    }
  }

  // What a container's field may be: a vector or matrix of 32-bit numbers, and no matrix where a
  // colour is written (spec/rpl 9.2, 10.2).
  bool CheckContainerField(ir::TypeId type, NameId name, const ir::MemberSpans& spans) {
    const ir::TypeKind kind = pool_[type].kind;
    if (kind != ir::TypeKind::kVector && kind != ir::TypeKind::kMatrix) {
      diagnostics_.push_back(Make(Code::kRpl4040, program_.At(module_, spans.type))
                                 .With("name", program_.Text(name))
                                 .With("owner", name_));
      return false;
    }
    const ir::Scalar scalar = pool_[type].scalar;
    if (scalar == ir::Scalar::kBool || scalar == ir::Scalar::kF16) {
      Diagnostic made = Make(scalar == ir::Scalar::kBool ? Code::kRpl8111 : Code::kRpl4011,
                             program_.At(module_, spans.type))
                            .With("name", program_.Text(name))
                            .With("type", BooleanText(pool_, type));
      if (scalar == ir::Scalar::kF16) {
        made.arguments.emplace_back("kind", "field");
      }
      diagnostics_.push_back(std::move(made));
      return false;
    }
    if (kind == ir::TypeKind::kMatrix && decl_.container() == ir::ContainerKind::kColorOutput) {
      diagnostics_.push_back(
          Make(Code::kRpl4043, program_.At(module_, spans.type)).With("name", program_.Text(name)));
      return false;
    }
    return true;
  }

  // spec/rpl 14.8: a mark for floats alone.
  void CheckRelaxed(bool relaxed, ir::TypeId type, std::string_view name, ir::SpanId spans) {
    if (relaxed && !IsFloatType(pool_, type)) {
      diagnostics_.push_back(Make(Code::kRpl8112, program_.At(module_, spans))
                                 .With("name", name)
                                 .With("type", BooleanText(pool_, type)));
    }
  }

  // --- functions ---------------------------------------------------------------------------------
  // Parameters follow the rules of members; where they are live or not decides the signature, so
  // callers of a variant all see the same one.
  void SpecialiseSignature() {
    out_.type = SpecialiseType({.module = module_,
                                .type = decl_.type,
                                .spans = spans_.type,
                                .owner = name_,
                                .use = TypeUse::kReturn},
                               answers_, diagnostics_);
    poisoned_ = !out_.type.valid();
    if (!poisoned_) {
      CheckRelaxed((decl_.flags & 1u) != 0, out_.type, name_, spans_.type);
    }
    const Position position = {.global_only = true, .what = "the conditional of argument"};
    ForLiveMembers(position, [&](const ir::Member& member, ir::MemberId id, NameId name,
                                 const ir::MemberSpans& spans) {
      const bool place = member.access == ir::Access::kPlace;
      const ir::TypeId type =
          SpecialiseMemberType(member, name, spans, place ? TypeUse::kPlace : TypeUse::kParameter);
      if (!type.valid()) {
        poisoned_ = true;
        return;
      }
      // A handle cannot be written, and so it cannot be passed back.
      if (IsHandle(pool_[type]) && member.access != ir::Access::kIn && !place) {
        diagnostics_.push_back(Make(Code::kRpl5022, program_.At(module_, spans.name))
                                   .With("name", program_.Text(name))
                                   .With("type", ir::TypeText(pool_, type)));
        return;
      }
      ir::SpecialisedMember& specialised = AddMember(member, id, name, spans, type);
      // Locals are found by the number of the program, as code refers to them.
      specialised.local = program_.Wide(module_, ir::LocalId{member.value});
      specialised.relaxed = view_.locals[member.value].relaxed != 0;
      CheckRelaxed(specialised.relaxed, type, program_.Text(name), spans.type);
    });
  }

  const Program& program_;
  const ir::DeclId id_;
  VariantEvaluator& answers_;
  ir::Pool& pool_;
  const uint32_t module_;
  const ir::ModuleView& view_;
  const ir::Decl& decl_;
  const std::string_view name_;
  const ir::DeclSpans spans_;
  ir::SpecialisedDecl out_;
  bool poisoned_ = false;  // a type failed that was diagnosed elsewhere, or here
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

Diagnosed<ir::SpecialisedDecl> SpecialiseDecl(const Program& program, ir::DeclId decl,
                                              VariantEvaluator& answers) {
  return DeclSpecialiser(program, decl, answers).Run();
}

}  // namespace kiln::resolve
