// SPDX-License-Identifier: MIT
// Declarations of a module but for functions. All that one mentions was checked before it, so
// each is looked at once and its result is what a mention of its name becomes: the value of a
// constant, the row of an override or variable, a type. Nothing of a declaration is kept after
// an error; its name is bound to kFailed, and users of it are silent.
#include "compiler/front/wgsl/check/declaration.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/base/check.h"
#include "compiler/front/wgsl/check/attribute.h"
#include "compiler/front/wgsl/check/expressions/expression.h"
#include "compiler/front/wgsl/check/expressions/override_form.h"
#include "compiler/front/wgsl/check/expressions/value.h"
#include "compiler/front/wgsl/sema/layout.h"
#include "compiler/front/wgsl/sema/type_name.h"

namespace kiln::wgsl::front {
namespace {

constexpr size_t kMostMembers = 1023;  // as the language has it

// One declaration of a module that is no function. What comes back is what a mention of the
// name stands for: a type, a constant, an override, or a place.
class Declarations {
 public:
  Declarations(CheckContext& context, const syntax::Decl& decl) : context_(context), decl_(decl) {}

  // What mentions of the name are; nothing after an error.
  std::optional<Expr> Check() {
    switch (decl_.kind) {
      case syntax::DeclKind::kAlias:
        return Alias();
      case syntax::DeclKind::kConst:
        return Const();
      case syntax::DeclKind::kOverride:
        return Override();
      case syntax::DeclKind::kVar:
        return Var();
      case syntax::DeclKind::kStruct:
        return Struct();
      case syntax::DeclKind::kConstAssert:
        Assert();
        return std::nullopt;
      case syntax::DeclKind::kFunction:
        break;
    }
    KILN_UNREACHABLE();
  }

 private:
  TokenRange NameAt() const { return {decl_.token, decl_.token + 1}; }
  std::string_view Name() const { return context_.Text(decl_.token); }
  bool IsFailed(TypeId type) { return type == context_.types().Failed(); }

  std::optional<Expr> Alias() {
    AllowAttributes(context_, decl_.attributes, {}, "an alias");
    const TypeId type = CheckType(context_, decl_.type);
    return IsFailed(type)
               ? std::nullopt
               : std::optional(Expr{.kind = ExprKind::kType, .type = type, .at = NameAt()});
  }

  // A constant has no row in the unit: a mention of it is the constant row itself. It may stay
  // abstract.
  std::optional<Expr> Const() {
    AllowAttributes(context_, decl_.attributes, {}, "a constant");
    ExprId value = CheckConstant(context_, decl_.value);
    if (decl_.type.valid()) {
      const TypeId type = CheckType(context_, decl_.type);
      if (IsFailed(type)) {
        return std::nullopt;
      }
      value = Converted(context_, value, type);
    }
    return context_.IsFailed(value) ? std::nullopt : std::optional(context_.Get(value));
  }

  // The value with the type that is written, or a concrete one; the rate is at most that of
  // overrides.
  ExprId Initial(TypeId type) {
    ExprId value = ValueOf(context_, CheckExpression(context_, decl_.value));
    value = IsFailed(type) ? Concrete(context_, value) : Converted(context_, value, type);
    if (!context_.IsFailed(value) && context_.Get(value).rate == Rate::kRun) {
      context_.Say(context_.At(Code::kWgsl3003, context_.Get(value).at)
                       .With("stage", "known with overrides"));
      return context_.Failed(context_.Get(value).at);
    }
    return value;
  }

  // Every override is baked (spec/wgsl 5.4), so one without a default has no value to bake, and
  // its expression must be one that a compile-time expression of the IR can say.
  std::optional<Expr> Override() {
    AllowAttributes(context_, decl_.attributes, {"id"}, "an override");
    Global row{.kind = GlobalKind::kOverride, .name = Name(), .at = NameAt()};
    row.type = decl_.type.valid() ? CheckType(context_, decl_.type) : context_.types().Failed();
    if (decl_.type.valid() && IsFailed(row.type)) {
      return std::nullopt;
    }
    if (decl_.value.valid()) {
      row.value = Initial(row.type);
      // The type that is written, or that of the value made concrete.
      if (context_.IsFailed(row.value)) {
        return std::nullopt;
      }
      row.type = context_.TypeOf(row.value);
    } else if (IsFailed(row.type)) {
      context_.Forbid(NameAt(), "an override needs a type or a value");
      return std::nullopt;
    } else {
      context_.Refuse(NameAt(), "an override without a value has no default");
      return std::nullopt;
    }
    if (context_.types()[row.type].kind != TypeKind::kScalar) {
      context_.Mismatch(NameAt(), "scalar", context_.types().Text(row.type));
      return std::nullopt;
    }
    if (!IsCexpr(context_.unit, row.value)) {
      context_.Refuse(context_.Get(row.value).at, "overrides have no such values yet");
      return std::nullopt;
    }
    // Two overrides may not share a number; the set lives in the context for all of them.
    if (const syntax::Attribute* id = FindAttribute(context_, decl_.attributes, "id")) {
      row.id = NumberOf(context_, *id, 65535);
      if (row.id != kNoRow && !context_.override_ids.Insert(row.id, true).second) {
        context_.Forbid(id->at, "another override has this number");
      }
    }
    return Added(row, ExprKind::kOverride, 0, Rate::kOverride);
  }

  std::optional<Expr> Added(const Global& row, ExprKind kind, uint8_t flags, Rate rate) {
    context_.unit.globals.push_back(row);
    return Expr{.kind = kind,
                .flags = flags,
                .rate = rate,
                .type = row.type,
                .a = static_cast<uint32_t>(context_.unit.globals.size() - 1),
                .at = NameAt(),
                .space = row.space,
                .access = row.access};
  }

  // --- variables
  // Steps: where the variable lies, its type, its first value, then what its address space
  // allows.
  std::optional<Expr> Var() {
    Global row{.name = Name(), .at = NameAt(), .space = AddressSpace::kHandle};
    if (!Space(row)) {
      return std::nullopt;
    }
    row.type = decl_.type.valid() ? CheckType(context_, decl_.type) : context_.types().Failed();
    if (decl_.type.valid() && IsFailed(row.type)) {
      return std::nullopt;
    }
    // WGSL, "Variable Declarations": only private variables of a module have an initialiser.
    if (decl_.value.valid()) {
      if (row.space != AddressSpace::kPrivate) {
        context_.Forbid(NameAt(), "only private variables have a value here");
        return std::nullopt;
      }
      row.value = Initial(row.type);
      if (context_.IsFailed(row.value)) {
        return std::nullopt;
      }
      row.type = context_.TypeOf(row.value);
    }
    if (IsFailed(row.type)) {
      context_.Forbid(NameAt(), "a variable needs a type or a value");
      return std::nullopt;
    }
    return Placed(row);
  }

  // Address space and access mode as written.
  // Without words a variable of a module is a texture or sampler, in the space `handle`.
  bool Space(Global& row) {
    const std::span<const uint32_t> words = context_.ast.List(decl_.words);
    if (words.empty()) {
      return true;
    }
    const std::string_view text = context_.Text(words[0]);
    const std::optional<AddressSpace> space = FindAddressSpace(text);
    // No address space of the published language.
    if (text == "push_constant" || text == "immediate") {
      context_.Refuse({words[0], words[0] + 1}, "push constants are not lowered");
      return false;
    }
    if (!space.has_value() || *space == AddressSpace::kFunction) {
      context_.Say(context_.At(Code::kWgsl1005, words[0])
                       .With("kind", "address space of a module")
                       .With("name", text));
      return false;
    }
    row.space = *space;
    // Uniform buffers are read only, storage buffers unless an access mode is written. No other
    // space has one to write.
    const bool shared = row.space == AddressSpace::kStorage || row.space == AddressSpace::kUniform;
    row.access = shared ? AccessMode::kRead : AccessMode::kReadWrite;
    if (words.size() > 1) {
      const std::optional<AccessMode> access = FindAccessMode(context_.Text(words[1]));
      if (!access.has_value() || *access == AccessMode::kWrite ||
          row.space != AddressSpace::kStorage) {
        context_.Say(context_.At(Code::kWgsl1005, words[1])
                         .With("kind", "access mode of '" + std::string(text) + "'")
                         .With("name", context_.Text(words[1])));
        return false;
      }
      row.access = *access;
    }
    return true;
  }

  std::optional<Expr> Forbidden(const Global& row) {
    context_.Say(context_.At(Code::kWgsl2006, decl_.token)
                     .With("type", context_.types().Text(row.type))
                     .With("space", TextOf(row.space)));
    return std::nullopt;
  }

  // WGSL, "Address Spaces": which types each of them stores.
  std::optional<Expr> Placed(Global& row) {
    Types& types = context_.types();
    const TypeKind kind = types[row.type].kind;
    const bool is_handle = kind == TypeKind::kTexture || kind == TypeKind::kSampler;
    const bool is_resource = row.space == AddressSpace::kHandle ||
                             row.space == AddressSpace::kUniform ||
                             row.space == AddressSpace::kStorage;
    // Attributes are read before the type is judged: messages about a binding are about what
    // stands in front.
    if (is_resource) {
      AllowAttributes(context_, decl_.attributes, {"group", "binding"}, "a resource");
      row.attributes = CheckInterface(context_, decl_.attributes);
      const Attributes none;
      const Attributes& found =
          row.attributes == kNoRow ? none : context_.unit.attributes[row.attributes];
      if (found.group == kNoRow || found.binding == kNoRow) {
        context_.Forbid(NameAt(), row.space == AddressSpace::kHandle && !is_handle
                                      ? "a variable of a module needs an address space"
                                      : "a resource needs @group and @binding");
        return std::nullopt;
      }
    } else {
      AllowAttributes(context_, decl_.attributes, {}, "a variable without a binding");
    }
    if (!FitsMemory(row)) {
      return std::nullopt;
    }
    switch (row.space) {
      case AddressSpace::kHandle:
        row.kind = GlobalKind::kHandle;
        return is_handle ? Added(row, ExprKind::kGlobal, 0, Rate::kRun) : Forbidden(row);
      case AddressSpace::kPrivate:
        row.kind = GlobalKind::kPrivate;
        return types.IsConstructible(row.type) ? Place(row) : Forbidden(row);
      case AddressSpace::kWorkgroup:
        row.kind = GlobalKind::kWorkgroup;
        return types.IsFixed(row.type) ? Place(row) : Forbidden(row);
      case AddressSpace::kStorage:
        // An atomic cannot be read without being able to write, so it needs read_write.
        row.kind = GlobalKind::kBuffer;
        return types.IsHostShareable(row.type) &&
                       (row.access == AccessMode::kReadWrite || !types.HoldsAtomic(row.type))
                   ? Place(row)
                   : Forbidden(row);
      case AddressSpace::kUniform:
        row.kind = GlobalKind::kBuffer;
        return Uniform(row);
      // Space() has refused it.
      case AddressSpace::kFunction:
        break;
    }
    return std::nullopt;
  }

  // Memory of invocations and workgroups is written scalar by scalar; buffers have a form in
  // memory.
  // A limit of kiln, not of WGSL: zero values are written leaf by leaf.
  bool FitsMemory(const Global& row) {
    const bool own = row.space == AddressSpace::kPrivate || row.space == AddressSpace::kWorkgroup;
    if (own && context_.types().LeavesOf(row.type) > context_.limits.value_items) {
      context_.Say(context_.At(Code::kWgsl1007, decl_.token)
                       .With("what", "items of a variable")
                       .With("limit", context_.limits.value_items));
      return false;
    }
    const bool buffer = row.space == AddressSpace::kUniform || row.space == AddressSpace::kStorage;
    const std::optional<std::string> refusal =
        buffer ? LayoutRefusal(context_.types(), row.type, row.space == AddressSpace::kUniform)
               : std::nullopt;
    if (refusal.has_value()) {
      context_.Refuse(NameAt(), *refusal);
      return false;
    }
    return true;
  }

  // WGSL, "Address Space Layout Constraints": fixed size, no atomics, and members at multiples
  // of 16.
  std::optional<Expr> Uniform(const Global& row) {
    Types& types = context_.types();
    if (!types.IsHostShareable(row.type) || !types.IsConstructible(row.type)) {
      return Forbidden(row);
    }
    if (const std::optional<std::string> fault = UniformFault(types, row.type)) {
      context_.Forbid(NameAt(), *fault);
      return std::nullopt;
    }
    return Place(row);
  }

  std::optional<Expr> Place(const Global& row) {
    return Added(row, ExprKind::kGlobal, Expr::kPlace, Rate::kRun);
  }

  // --- structs
  std::optional<Expr> Struct() {
    AllowAttributes(context_, decl_.attributes, {}, "a struct");
    front::Struct row{.name = std::string(Name()), .token = decl_.token, .members = {}};
    const std::span<const uint32_t> members = context_.ast.List(decl_.members);
    // A struct of no members is not in the grammar of WGSL, but the parser takes it so that the
    // message names the struct.
    if (members.empty()) {
      context_.Forbid(NameAt(), "a struct has a member");
      return std::nullopt;
    }
    if (members.size() > kMostMembers) {
      context_.Say(context_.At(Code::kWgsl1007, decl_.token)
                       .With("what", "members of a struct")
                       .With("limit", kMostMembers));
      return std::nullopt;
    }
    // Names are compared by a table: a struct may have 1023 members, which are too many for
    // pairs.
    FlatMap<std::string_view, bool> names;
    for (size_t i = 0; i < members.size(); ++i) {
      const syntax::Variable& written = context_.ast.variables[members[i]];
      std::optional<StructMember> member = Member(written, i + 1 == members.size());
      if (!member.has_value()) {
        return std::nullopt;
      }
      if (!names.Insert(member->name, true).second) {
        context_.Say(context_.At(Code::kWgsl2003, written.token).With("name", member->name));
        return std::nullopt;
      }
      row.members.push_back(*member);
    }
    const StructId id = context_.types().Add(std::move(row));
    // Laid out now, so that structs which hold this one know its size.
    LayOut(context_.types(), id);
    return Expr{.kind = ExprKind::kType, .type = context_.types().StructType(id), .at = NameAt()};
  }

  // WGSL, "Structure Types": a member is plain, and fixed unless it is the last one and an
  // array.
  std::optional<StructMember> Member(const syntax::Variable& written, bool last) {
    AllowAttributes(
        context_, written.attributes,
        {"align", "size", "builtin", "location", "interpolate", "invariant", "blend_src"},
        "a member");
    Types& types = context_.types();
    StructMember member{.name = context_.Text(written.token),
                        .type = CheckType(context_, written.type)};
    if (IsFailed(member.type)) {
      return std::nullopt;
    }
    const bool runtime = types[member.type].kind == TypeKind::kArray && !types.IsFixed(member.type);
    if (!types.IsPlain(member.type) || types.HoldsOverride(member.type) ||
        (!types.IsFixed(member.type) && !(runtime && last))) {
      context_.Mismatch(written.at, "type of a member", types.Text(member.type));
      return std::nullopt;
    }
    // Depth is limited where types are made, so that walks over them may recurse.
    if (types.DepthOf(member.type) >= context_.limits.nesting) {
      context_.Say(context_.At(Code::kWgsl1007, written.token)
                       .With("what", "nesting of types")
                       .With("limit", context_.limits.nesting));
      return std::nullopt;
    }
    member.attributes = CheckInterface(context_, written.attributes);
    CheckPlacing(context_, written.attributes, member);
    return member;
  }

  // `const_assert` declares nothing; it is true, false, or no constant.
  void Assert() {
    const ExprId value = CheckConstant(context_, decl_.value);
    if (context_.IsFailed(value)) {
      return;
    }
    if (context_.TypeOf(value) != context_.types().Scalar(ScalarKind::kBool)) {
      context_.Mismatch(context_.Get(value).at, "bool", context_.TypeText(value));
    } else if (context_.unit.WordsOf(context_.Get(value))[0] == 0) {
      context_.Say(context_.At(Code::kWgsl3004, decl_.at));
    }
  }

  CheckContext& context_;
  const syntax::Decl& decl_;
};

}  // namespace

void Declare(CheckContext& context, uint32_t token, const Expr& value) {
  context.scopes.Declare(context.Text(token), {.value = value, .token = token});
}
void DeclareFailed(CheckContext& context, uint32_t token) {
  Declare(context, token,
          {.kind = ExprKind::kFailed, .type = context.types().Failed(), .at = {token, token + 1}});
}

// After an error the name is declared as failed: what mentions it is silent.
void CheckDeclaration(CheckContext& context, const syntax::Decl& decl) {
  const std::optional<Expr> made = Declarations(context, decl).Check();
  if (decl.kind == syntax::DeclKind::kConstAssert) {
    return;
  }
  if (made.has_value()) {
    Declare(context, decl.token, *made);
  } else {
    DeclareFailed(context, decl.token);
  }
}

}  // namespace kiln::wgsl::front
