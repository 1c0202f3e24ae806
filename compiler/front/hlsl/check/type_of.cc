// SPDX-License-Identifier: MIT
// Records are declared where they stand, or when a declaration that holds one asks for its type
// first; a table by row of the tree makes that once.
#include "compiler/front/hlsl/check/type_of.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/attribute.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/expression.h"
#include "compiler/front/hlsl/check/function.h"
#include "compiler/front/hlsl/check/global.h"
#include "compiler/front/hlsl/check/name.h"
#include "compiler/front/hlsl/sema/object.h"
#include "compiler/front/hlsl/syntax/inbuilt_types.h"

namespace kiln::hlsl {
namespace {

constexpr uint32_t kMaxMembers = 4096;
constexpr uint64_t kMaxLeaves = uint64_t{1} << 20;
// Of one array: an instruction of SPIR-V has at most 65,535 words, of which three are not items.
constexpr uint32_t kMaxExtent = 65'532;
constexpr uint64_t kMaxItemBytes = 16;

// Rows of types.def: the scalars first, then shapes, then objects.
constexpr Item kScalarItems[] = {
#define KILN_HLSL_SCALAR(enumerator, name, item) Item::k##item,
#include "compiler/front/hlsl/syntax/types.def"
};
std::optional<ObjectKind> ObjectOf(syntax::InbuiltName name) {
  for (uint32_t i = 0; i < kObjectCount; ++i) {
    if (kObjectFacts[i].name == InbuiltNameText(name)) {
      return static_cast<ObjectKind>(i);
    }
  }
  return std::nullopt;
}

TokenRange RangeOf(const syntax::Type& type) { return {type.begin, type.end}; }

// A family that is not built: HLSL8004.
bool IsThere(CheckContext& context, Item item, TokenRange at) {
  if (IsBuilt(item)) {
    return true;
  }
  const bool wide = item == Item::kInt64 || item == Item::kUint64;
  context.Refuse(at, FactsOf(item).name, wide ? "64-bit types" : "16-bit types");
  return false;
}

// The first argument of a type in angle brackets is a type; a value there is said to be none.
TypeId ArgumentType(CheckContext& context, const syntax::TemplateArgument& argument) {
  if (argument.type == syntax::kNone) {
    const syntax::Expr& value = context.ast.exprs[argument.value.root];
    const TokenRange at{value.begin, value.end};
    context.Say(context.At(Code::kHlsl2004, at)
                    .With("name", context.Text(at))
                    .With("kind", "value")
                    .With("expected", "a type"));
    return context.types().Failed();
  }
  return ResolveType(context, argument.type);
}

// A size of `vector` or `matrix`: 1 to 4.
// HLSL2027, unless the expression itself failed.
std::optional<uint32_t> SizeArgument(CheckContext& context,
                                     const syntax::TemplateArgument& argument,
                                     std::string_view name, TokenRange at) {
  const ExprId id = argument.value.empty() ? ExprId{} : CheckExpr(context, argument.value);
  const std::optional<Scalar> size = id.valid() ? ScalarOf(context, id) : std::nullopt;
  if (size && !IsFloat(size->item) && Integer(*size) >= 1 && Integer(*size) <= 4) {
    return static_cast<uint32_t>(Integer(*size));
  }
  if (!id.valid() || context.Get(id).kind != ExprKind::kFailed) {
    context.Say(context.At(Code::kHlsl2027, at).With("name", name));
  }
  return std::nullopt;
}

std::vector<syntax::TemplateArgument> ArgumentsOf(const CheckContext& context,
                                                  const syntax::Type& type) {
  std::vector<syntax::TemplateArgument> arguments;
  for (const uint32_t row : context.ast.List(type.arguments)) {
    arguments.push_back(context.ast.arguments[row]);
  }
  return arguments;
}

// HLSL2019 for too many or too few arguments in angle brackets.
bool TakesArguments(CheckContext& context, const syntax::Type& type, size_t count, size_t most,
                    size_t least = 0) {
  if (count >= least && count <= most) {
    return true;
  }
  context.Say(context.At(Code::kHlsl2019, RangeOf(type))
                  .With("type", context.Text(type.token))
                  .With("expected", count > most ? most : least)
                  .With("found", count));
  return false;
}

// vector<T, N> and matrix<T, R, C>; what is missing is float and 4.
// spec/hlsl 6.2.
TypeId Shaped(CheckContext& context, const syntax::Type& type, bool matrix) {
  const std::vector<syntax::TemplateArgument> arguments = ArgumentsOf(context, type);
  if (!TakesArguments(context, type, arguments.size(), matrix ? 3 : 2)) {
    return context.types().Failed();
  }
  TypeId item = context.types().Scalar(Item::kFloat);
  uint32_t sizes[2] = {4, 4};
  if (!arguments.empty()) {
    item = ArgumentType(context, arguments[0]);
  }
  for (size_t i = 1; i < arguments.size() && i <= 2; ++i) {
    const std::optional<uint32_t> size =
        SizeArgument(context, arguments[i], context.Text(type.token), RangeOf(type));
    if (!size) {
      return context.types().Failed();
    }
    sizes[i - 1] = *size;
  }
  if (context.types().IsFailed(item)) {
    return item;
  }
  if (!context.types().IsScalar(item)) {
    context.Say(context.At(Code::kHlsl2031, RangeOf(type))
                    .With("what", std::string("item of '").append(context.Text(type.token)) + "'")
                    .With("type", context.types().Text(item)));
    return context.types().Failed();
  }
  const Item scalar = context.types()[item].item;
  if (matrix) {
    return context.types().Matrix(scalar, sizes[0], sizes[1]);
  }
  return sizes[0] == 1 ? context.types().VectorOfOne(scalar)
                       : context.types().Vector(scalar, sizes[0]);
}

// The item of an image: a scalar or vector of at most 16 bytes (HLSL4004).
// spec/hlsl 14.2.
bool IsImageItem(const Types& types, TypeId id) {
  const Type& type = types[id];
  const uint64_t bytes = type.item == Item::kDouble ? 8 : 4;
  return type.kind == TypeKind::kNumeric && ValueForm(type) != Form::kMatrix &&
         CountOf(type) * bytes <= kMaxItemBytes;
}

// A resource with what it contains. Without an argument an image has float4.
TypeId ObjectType(CheckContext& context, const syntax::Type& type, ObjectKind object) {
  const ObjectFacts& facts = FactsOf(object);
  if (facts.tier == Tier::kT2) {
    context.Refuse(RangeOf(type), facts.name, "resources of T2");
    return context.types().Failed();
  }
  const std::vector<syntax::TemplateArgument> arguments = ArgumentsOf(context, type);
  // Of what a structured buffer and a block are is part of their type; bytes and samplers hold
  // nothing that has one.
  const bool holds = facts.shape == ObjectShape::kStructured || facts.shape == ObjectShape::kBlock;
  const bool image = facts.shape == ObjectShape::kImage;
  // The count of samples of a multisampled image may be written; Vulkan has it at the image view.
  const size_t most = facts.multisampled ? 2 : holds || image ? 1 : 0;
  if (!TakesArguments(context, type, arguments.size(), most, holds ? 1 : 0)) {
    return context.types().Failed();
  }
  TypeId content = context.types().Void();
  if (image) {
    content = context.types().Vector(Item::kFloat, 4);
  }
  if (!arguments.empty()) {
    content = ArgumentType(context, arguments[0]);
  }
  if (context.types().IsFailed(content)) {
    return content;
  }
  if (image && !IsImageItem(context.types(), content)) {
    context.Say(context.At(Code::kHlsl4004, RangeOf(type))
                    .With("type", context.types().Text(content))
                    .With("name", facts.name));
    return context.types().Failed();
  }
  if (context.types().HoldsObject(content)) {
    context.Refuse(RangeOf(type), context.Text(RangeOf(type)), "resources in structs and blocks");
    return context.types().Failed();
  }
  return context.types().Object(object, content);
}

// A name that the language has. The suffix of sizes was cut off by the parser's table.
TypeId InbuiltType(CheckContext& context, const syntax::Type& type) {
  const std::string_view text = context.Text(type.token);
  const std::optional<syntax::InbuiltType> found = syntax::FindInbuiltType(text);
  if (!found) {
    context.Refuse(RangeOf(type), text, "resources of T2");
    return context.types().Failed();
  }
  if (syntax::IsScalar(found->name)) {
    const Item item = kScalarItems[static_cast<size_t>(found->name)];
    if (!IsThere(context, item, RangeOf(type))) {
      return context.types().Failed();
    }
    if (found->columns != 0) {
      return context.types().Matrix(item, found->rows, found->columns);
    }
    return found->rows > 1    ? context.types().Vector(item, found->rows)
           : found->rows == 1 ? context.types().VectorOfOne(item)
                              : context.types().Scalar(item);
  }
  if (found->name == syntax::InbuiltName::kVector || found->name == syntax::InbuiltName::kMatrix) {
    return Shaped(context, type, found->name == syntax::InbuiltName::kMatrix);
  }
  if (found->name == syntax::InbuiltName::kString) {
    context.Refuse(RangeOf(type), text, "strings");
    return context.types().Failed();
  }
  const std::optional<ObjectKind> object = ObjectOf(found->name);
  KILN_CHECK(object.has_value(), "{}", text);
  return ObjectType(context, type, *object);
}

// A name that is declared, whichever way: struct, enum, alias.
TypeId NamedType(CheckContext& context, const syntax::Type& type) {
  const bool global = (type.flags & syntax::Type::kGlobal) != 0;
  const Symbol* symbol = LookUp(context, type.token, type.path, global);
  if (symbol == nullptr) {
    return context.types().Failed();
  }
  if (symbol->kind != SymbolKind::kType) {
    context.Say(context.At(Code::kHlsl2004, type.token)
                    .With("name", context.Text(type.token))
                    .With("kind", KindText(symbol->kind))
                    .With("expected", "a type"));
    return context.types().Failed();
  }
  return symbol->type;
}

// One extent: a number, or an expression over options.
// spec/hlsl 6.4. An extent that options decide is converted to uint in the variant.
struct Extent {
  uint32_t count = 0;
  ExprId open;
};
std::optional<Extent> ExtentOf(CheckContext& context, syntax::ExprRange range,
                               std::string_view name) {
  const ExprId id = CheckExpr(context, range);
  const Expr expr = context.Get(id);
  if (expr.kind == ExprKind::kFailed) {
    return std::nullopt;
  }
  if (expr.rate > Rate::kOption) {
    context.Say(context.At(Code::kHlsl2028, expr.at).With("text", context.Text(expr.at)));
    return std::nullopt;
  }
  const bool integer =
      context.types().IsScalar(expr.type) && !IsFloat(context.types()[expr.type].item);
  const std::optional<Scalar> known = ScalarOf(context, id);
  if (!integer ||
      (known && (Integer(*known) < 1 || Integer(*known) > std::numeric_limits<int32_t>::max()))) {
    context.Say(context.At(Code::kHlsl2027, expr.at).With("name", name));
    return std::nullopt;
  }
  if (known) {
    return Extent{.count = static_cast<uint32_t>(Integer(*known))};
  }
  return Extent{.open = ConvertTo(context, id, context.types().Scalar(Item::kUint),
                                  ConversionUse::kImplicit, expr.at)};
}

}  // namespace

// Types of expressions and declarations alike. What failed is Failed(), and says nothing
// further.
TypeId ResolveType(CheckContext& context, uint32_t row) {
  const syntax::Type& type = context.ast.types[row];
  TypeId made = context.types().Failed();
  switch (type.kind) {
    case syntax::TypeKind::kVoid:
      made = context.types().Void();
      break;
    case syntax::TypeKind::kInbuilt:
      made = InbuiltType(context, type);
      break;
    case syntax::TypeKind::kNamed:
      made = NamedType(context, type);
      break;
    case syntax::TypeKind::kUnsigned:
      made = context.types().Scalar(Item::kUint);
      break;
    case syntax::TypeKind::kRecord:
      made = DeclareRecord(context, type.record);
      break;
  }
  return WithExtents(context, made, type.extents, context.Text(type.token));
}

// Extents are written from the outside in, and types are made from the inside out: the last one
// first.
TypeId WithExtents(CheckContext& context, TypeId type, uint32_t extents, std::string_view name,
                   uint32_t items) {
  const std::span<const uint32_t> words = context.ast.List(extents);
  if (words.empty() || context.types().IsFailed(type)) {
    return type;
  }
  if (type == context.types().Void()) {
    context.Say(context.At(Code::kHlsl2031, context.name_token)
                    .With("what", std::string("item of '").append(name) + "'")
                    .With("type", "void"));
    return context.types().Failed();
  }
  // Later stages recurse into types, so the extents written here and those behind a name are
  // bounded together, before a type is made of them.
  if (words.size() / 2 + context.types().DepthOf(type) > context.limits.nesting) {
    context.Say(context.At(Code::kHlsl1008, context.name_token)
                    .With("text", name)
                    .With("limit", context.limits.nesting));
    return context.types().Failed();
  }
  // Only the outermost extent may be missing, where the initialiser has a list.
  for (size_t i = words.size(); i > 0; i -= 2) {
    const syntax::ExprRange range{words[i - 2], words[i - 1]};
    std::optional<Extent> extent;
    if (!range.empty()) {
      extent = ExtentOf(context, range, name);
    } else if (i == 2 && items != 0) {
      extent = Extent{.count = items};
    } else if (context.types().HoldsObject(type)) {
      context.Refuse({context.name_token, context.name_token + 1}, name, "unbounded arrays");
    } else {
      context.Say(context.At(Code::kHlsl2027, context.name_token).With("name", name));
    }
    if (!extent) {
      return context.types().Failed();
    }
    if (extent->count > kMaxExtent) {
      context.Say(context.At(Code::kHlsl1007, context.name_token)
                      .With("what", std::string("array '").append(name) + "'")
                      .With("size", std::to_string(extent->count) + " items")
                      .With("limit", kMaxExtent));
      return context.types().Failed();
    }
    type = extent->open.valid() ? context.types().OpenArray(type, extent->open)
                                : context.types().Array(type, extent->count);
  }
  // Limits are checked on the way: a type that is too large would cost its users too much.
  if (context.types().LeavesOf(type) > kMaxLeaves) {
    context.Say(context.At(Code::kHlsl1007, context.name_token)
                    .With("what", std::string("type of '").append(name) + "'")
                    .With("size", std::to_string(context.types().LeavesOf(type)) + " items")
                    .With("limit", kMaxLeaves));
    return context.types().Failed();
  }
  return type;
}

namespace {

struct MemberList {
  std::vector<Member> rows;
  FlatMap<uint32_t, uint32_t> tokens;  // name → token
  bool failed = false;
};

// Static members are globals in the scope of the struct.
void AddMember(CheckContext& context, const syntax::Decl& decl, const syntax::Variable& variable,
               MemberList& members) {
  const std::string_view name = context.Text(variable.name);
  if (context.ast.types[variable.type].Has(syntax::Modifier::kStatic)) {
    return CheckStaticMember(context, decl, variable);
  }
  context.name_token = variable.name;
  const TypeId written = ResolveType(context, variable.type);
  const TypeId type = WithExtents(context, written, variable.extents, name);
  if (type == context.types().Void()) {
    context.Say(context.At(Code::kHlsl2031, variable.name)
                    .With("what", std::string("member '").append(name) + "'")
                    .With("type", "void"));
  }
  if (context.types().HoldsObject(type)) {
    context.Refuse({variable.name, variable.name + 1}, name, "resources in structs and blocks");
    members.failed = true;
    return;
  }
  // By name in a table: a struct may have thousands of members.
  const auto [first, is_new] = members.tokens.Insert(context.NameOf(variable.name), variable.name);
  if (!is_new) {
    context.Say(context.At(Code::kHlsl2002, variable.name)
                    .With("name", name)
                    .Label(LabelKind::kFirstHere, context.LocationOf(*first)));
    return;
  }
  const Annotations declared = DeclaredOf(context, AttributePlace::kMember, decl, variable);
  members.failed = members.failed || context.types().IsFailed(type);
  members.rows.push_back({.name = name,
                          .type = type,
                          .token = variable.name,
                          .condition = declared.condition.value,
                          .attributes = declared.attributes.value});
}

}  // namespace

// Members and the types that stand among them, in order. Methods come later, when the struct is
// complete.
MemberRows MembersOf(CheckContext& context, uint32_t decl) {
  MemberList members;
  const syntax::Decl& record = context.ast.decls[decl];
  for (uint32_t child = decl + 1; child < record.next; child = context.ast.decls[child].next) {
    CheckStop();
    const syntax::Decl& row = context.ast.decls[child];
    if (row.Is(syntax::Decl::kLocal)) {
      continue;
    }
    if (row.kind == syntax::DeclKind::kRecord) {
      DeclareRecord(context, child);
    } else if (row.kind == syntax::DeclKind::kEnum) {
      DeclareEnum(context, child);
    } else if (row.kind == syntax::DeclKind::kAlias) {
      DeclareAlias(context, child);
    } else if (row.kind == syntax::DeclKind::kFunction) {
      continue;  // CheckMethods
    } else if (row.kind == syntax::DeclKind::kVariables) {
      context.path.push_back(record.name == syntax::kNone ? record.begin : record.name);
      for (uint32_t i = 0; i < row.items.count; ++i) {
        AddMember(context, row, context.ast.variables[row.items.first + i], members);
      }
      context.path.pop_back();
    }
  }
  if (members.rows.size() > kMaxMembers) {
    context.Say(context.At(Code::kHlsl1007, record.begin)
                    .With("what", "struct")
                    .With("size", std::to_string(members.rows.size()) + " members")
                    .With("limit", kMaxMembers));
    // What is too many is cut off behind the message.
    members.rows.resize(kMaxMembers);
  }
  return {std::move(members.rows), members.failed};
}

// A record may be asked for more than once, by its declaration and by what is declared of it:
// it is made once. Its row stands before its members are read, and is complete behind them, so
// a struct is never part of itself.
TypeId DeclareRecord(CheckContext& context, uint32_t decl) {
  if (const TypeId* known = context.records.Find(decl)) {
    return *known;
  }
  const syntax::Decl& record = context.ast.decls[decl];
  const bool named = record.name != syntax::kNone;
  const StructId id = context.types().AddStruct(
      named ? context.Text(record.name) : std::string_view{}, named ? record.name : record.begin);
  const TypeId type = context.types().Of(id);
  context.records.Insert(decl, type);
  const ScopeId inner = context.scopes.NewScope(context.scopes.current());
  const ScopeId outer = context.scopes.current();
  context.scopes.Enter(inner);
  const MemberRows members = MembersOf(context, decl);
  bool failed = members.failed;
  context.types().Complete(id, members.rows);
  context.scopes.Enter(outer);
  if (context.types().DepthOf(type) > context.limits.nesting) {
    context.Say(context.At(Code::kHlsl1008, record.begin)
                    .With("text", "struct")
                    .With("limit", context.limits.nesting));
    failed = true;
  }
  if (context.types().LeavesOf(type) > kMaxLeaves) {
    context.Say(context.At(Code::kHlsl1007, record.begin)
                    .With("what", "struct")
                    .With("size", std::to_string(context.types().LeavesOf(type)) + " items")
                    .With("limit", kMaxLeaves));
    failed = true;
  }
  const TypeId result = failed ? context.types().Failed() : type;
  // The result is kept under the row of the tree; after an error it is the failed type.
  *context.records.Find(decl) = result;
  if (named) {
    Declare(context, record.name,
            {.kind = SymbolKind::kType, .id = result.value, .b = inner.value, .type = result});
  }
  // Members are names in methods, by which `this` may be left out.
  if (!failed) {
    context.record_scopes.Insert(id.value, inner);
    context.scopes.Enter(inner);
    for (const Member& member : members.rows) {
      context.scopes.Declare(context.NameOf(member.token),
                             {.kind = SymbolKind::kMember, .type = type, .token = member.token});
    }
    CheckMethods(context, decl, type);
    context.scopes.Enter(outer);
  }
  return result;
}

// An alias makes no type (spec/hlsl 6.4): it is another name of one.
void DeclareAlias(CheckContext& context, uint32_t decl) {
  const syntax::Decl& alias = context.ast.decls[decl];
  for (uint32_t i = 0; i < alias.items.count; ++i) {
    const syntax::Variable& variable = context.ast.variables[alias.items.first + i];
    context.name_token = variable.name;
    const TypeId written = ResolveType(context, variable.type);
    const TypeId type =
        WithExtents(context, written, variable.extents, context.Text(variable.name));
    Declare(context, variable.name,
            {.kind = SymbolKind::kType, .id = type.value, .b = kNoRow, .type = type});
  }
}

// Enumerators count from the one before. While they are read each is an integer constant in a
// scope around, so that the next may be made of it; then they are declared anew, as values of
// the enum.
void DeclareEnum(CheckContext& context, uint32_t decl) {
  const syntax::Decl& row = context.ast.decls[decl];
  const bool scoped = row.Is(syntax::Decl::kClass);
  Enum made{.name = context.Text(row.name), .item = Item::kInt, .scoped = scoped};
  if (row.type != syntax::kNone) {
    const TypeId under = ResolveType(context, row.type);
    const bool integer = context.types().IsScalar(under) && IsInteger(context.types()[under].item);
    if (!integer && !context.types().IsFailed(under)) {
      context.Say(context.At(Code::kHlsl2031, row.name)
                      .With("what", "underlying type of an enum")
                      .With("type", context.types().Text(under)));
    }
    made.item = integer ? context.types()[under].item : Item::kInt;
  }
  const ScopeId inner = context.scopes.NewScope(context.scopes.current());
  // Enumerators see those before them, by what they are made of; their type is complete at the end.
  std::vector<Enumerator> enumerators;
  const ScopeId outer = context.scopes.current();
  context.scopes.Enter(context.scopes.NewScope(inner));
  uint32_t next = 0;
  for (uint32_t i = 0; i < row.items.count; ++i) {
    CheckStop();
    const syntax::Enumerator& item = context.ast.enumerators[row.items.first + i];
    Scalar value{made.item, next};
    if (!item.value.empty()) {
      const ExprId id = CheckExpr(context, item.value);
      const ExprId converted = ConvertTo(context, id, context.types().Scalar(made.item),
                                         ConversionUse::kImplicit, context.Get(id).at);
      if (const std::optional<Scalar> known = ScalarOf(context, converted)) {
        value = *known;
      } else if (context.Get(converted).kind != ExprKind::kFailed) {
        const TokenRange at = context.Get(id).at;
        context.Say(context.At(Code::kHlsl2028, at).With("text", context.Text(at)));
      }
    }
    next = static_cast<uint32_t>(value.bits) + 1;
    enumerators.push_back(
        {.name = context.Text(item.name), .value = static_cast<uint32_t>(value.bits)});
    const GlobalId global =
        context.AddGlobal({.kind = GlobalKind::kConstant,
                           .type = context.types().Scalar(made.item),
                           .initialiser = MakeScalar(context, value, {item.name, item.name + 1})});
    context.scopes.Declare(context.NameOf(item.name),
                           {.kind = SymbolKind::kGlobal, .id = global.value});
  }
  context.scopes.Enter(outer);
  const TypeId type = context.types().Of(context.types().AddEnum(made, enumerators));
  Declare(context, row.name,
          {.kind = SymbolKind::kType, .id = type.value, .b = inner.value, .type = type});
  for (uint32_t i = 0; i < row.items.count; ++i) {
    const uint32_t token = context.ast.enumerators[row.items.first + i].name;
    const Symbol symbol{.kind = SymbolKind::kEnumerator, .id = i, .type = type, .token = token};
    context.scopes.Enter(inner);
    const bool is_new = Declare(context, token, symbol);
    context.scopes.Enter(outer);
    // spec/hlsl 5.3: those of a plain enum are names of the scope around, too.
    if (!scoped && is_new) {
      Declare(context, token, symbol);
    }
  }
}

}  // namespace kiln::hlsl
