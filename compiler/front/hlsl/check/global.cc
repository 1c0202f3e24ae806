// SPDX-License-Identifier: MIT
// What a variable of namespace scope becomes follows from its modifiers and its type: the table of
// spec/hlsl 7, from top to bottom.
#include "compiler/front/hlsl/check/global.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/attribute.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/expression.h"
#include "compiler/front/hlsl/check/name.h"
#include "compiler/front/hlsl/check/option.h"
#include "compiler/front/hlsl/check/type_of.h"
#include "compiler/front/hlsl/sema/image_format.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

using syntax::Modifier;

// spec/hlsl 7.1: two modifiers mean nothing in Vulkan (HLSL4040), two are not built.
void WarnOfModifiers(CheckContext& context, const syntax::Type& type, std::string_view name) {
  for (const uint32_t token : context.ast.List(type.modifier_tokens)) {
    const std::string_view text = context.Text(token);
    if (text == "shared" || text == "volatile") {
      context.Say(context.At(Code::kHlsl4040, token).With("modifier", text));
    }
    if (text == "globallycoherent" || text == "precise") {
      context.Refuse({token, token + 1}, text, text == "precise" ? "precise" : "coherent memory");
    }
  }
  static_cast<void>(name);
}

// spec/hlsl 7: of groupshared and external variables. The expression is checked all the same.
void WarnOfInitialiser(CheckContext& context, const syntax::Variable& variable,
                       std::string_view kind) {
  if (!variable.initialiser.empty()) {
    CheckExpr(context, variable.initialiser);
    context.Say(context.At(Code::kHlsl4036, variable.name)
                    .With("kind", kind)
                    .With("name", context.Text(variable.name)));
  }
}

// What memory cannot hold in this build. Walks the type once; says the first thing.
// Doubles and matrices of integers have no form in memory here.
bool FitsMemory(CheckContext& context, TypeId type, TokenRange at) {
  std::vector<TypeId> pending{type};
  while (!pending.empty()) {
    CheckStop();
    TypeId id = pending.back();
    pending.pop_back();
    while (context.types()[id].kind == TypeKind::kArray) {
      id = context.types().ElementOf(id);
    }
    const Type row = context.types()[id];
    if (row.kind == TypeKind::kStruct) {
      for (uint32_t i = 0; i < context.types().StructOf(id).count; ++i) {
        pending.push_back(context.types().MemberOf(id, i).type);
      }
      continue;
    }
    if (row.kind != TypeKind::kNumeric) {
      continue;
    }
    const bool matrix = ValueForm(row) == Form::kMatrix;
    const std::string_view family = row.item == Item::kDouble ? "64-bit types in memory"
                                    : matrix && !IsFloat(row.item)
                                        ? "matrices of integers in memory"
                                        : std::string_view{};
    if (!family.empty()) {
      context.Refuse(at, context.types().Text(id), family);
      return false;
    }
  }
  return true;
}

// Memory of invocations begins as zero, so such a value needs no instructions.
bool IsZeroConstant(const CheckContext& context, ExprId value) {
  const Expr& expr = context.Get(value);
  return expr.kind == ExprKind::kConstant &&
         std::ranges::all_of(context.unit.ScalarsOf(expr),
                             [](const Scalar& scalar) { return scalar.bits == 0; });
}

// A static: what is known stands for itself, everything else is storage.
// A `const` whose value is known, if only with options, is that value wherever it is named.
Global StaticOf(CheckContext& context, const syntax::Variable& variable, TypeId type,
                ExprId value) {
  const bool constant = context.ast.types[variable.type].Has(Modifier::kConst);
  Global global{.kind = GlobalKind::kPrivate,
                .name = context.Dotted(variable.name),
                .type = type,
                .at = {variable.name, variable.name + 1},
                .initialiser = value,
                .constant = constant};
  const bool failed = value.valid() && context.Get(value).kind == ExprKind::kFailed;
  if (failed || (constant && value.valid() && context.Get(value).rate != Rate::kRun)) {
    global.kind = GlobalKind::kConstant;
    return global;
  }
  if (value.valid() && IsZeroConstant(context, value)) {
    global.initialiser = {};  // what memory begins with
  } else if (value.valid() && context.Get(value).Is(Expr::kEffect)) {
    // A call could have effects whose order is not defined (spec/hlsl 7).
    context.Refuse(global.at, context.Text(variable.name), "static variables that calls compute");
  }
  return global;
}

// The name of something that was refused: who uses it says nothing more.
// A row of failed type under the name.
void DeclareFailed(CheckContext& context, uint32_t token) {
  const GlobalId id = context.AddGlobal({.type = context.types().Failed()});
  Declare(context, token,
          {.kind = SymbolKind::kGlobal, .id = id.value, .type = context.types().Failed()});
}

// HLSL8004 for a variable, whose name is there all the same.
void RefuseVariable(CheckContext& context, const syntax::Variable& variable,
                    std::string_view family) {
  context.Refuse({variable.name, variable.name + 1}, context.Text(variable.name), family);
  DeclareFailed(context, variable.name);
}

// spec/hlsl 7 (other `static`), 8.1. An option is a `static const` whose value is constant.
void CheckStatic(CheckContext& context, const syntax::Variable& variable, TypeId type,
                 const Annotations& declared) {
  const bool constant = context.ast.types[variable.type].Has(Modifier::kConst);
  ExprId value;
  if (!variable.initialiser.empty()) {
    value = CheckInitialiser(context, variable.initialiser, type);
  } else if (constant) {
    context.Say(
        context.At(Code::kHlsl2041, variable.name).With("name", context.Text(variable.name)));
    value = context.Failed({variable.name, variable.name + 1});
  }
  if (declared.option != nullptr) {
    if (!constant) {
      context.Say(
          context.At(Code::kHlsl6001, variable.name).With("name", context.Text(variable.name)));
      return DeclareFailed(context, variable.name);
    }
    return CheckOption(context, *declared.option, variable, type, value);
  }
  if (context.types().HoldsObject(type)) {
    return RefuseVariable(context, variable, "resources as values");
  }
  const GlobalId id = context.AddGlobal(StaticOf(context, variable, type, value));
  Declare(context, variable.name, {.kind = SymbolKind::kGlobal, .id = id.value, .type = type});
}

// The object that a declaration is, or that the items of an array are; null: it is none.
// Arrays of a resource are one declaration of it.
const Type* ObjectOf(const Types& types, TypeId type) {
  while (types[type].kind == TypeKind::kArray) {
    type = types.ElementOf(type);
  }
  return types[type].kind == TypeKind::kObject ? &types[type] : nullptr;
}

// What has no modifier comes from outside: resource, block, push constant, or member of
// $Globals.
GlobalKind KindOfExternal(const CheckContext& context, TypeId type, bool pushed) {
  const Type* object = ObjectOf(context.unit.types, type);
  if (object == nullptr) {
    return pushed ? GlobalKind::kBlock : GlobalKind::kLoose;
  }
  return FactsOf(object->object).shape == ObjectShape::kBlock ? GlobalKind::kBlock
                                                              : GlobalKind::kResource;
}

// What this build lacks of a resource; says it.
// Said by name, and the name is declared as failed, so that its uses are silent.
bool IsBuiltResource(CheckContext& context, const syntax::Variable& variable, TypeId type,
                     const Attributes* written) {
  const Type object = *ObjectOf(context.types(), type);
  const ObjectFacts& facts = FactsOf(object.object);
  const TypeId content{object.element};
  const bool image = facts.shape == ObjectShape::kImage;
  const TypeId item = context.types().ElementOf(type);
  std::string_view family;
  if (image && context.types()[content].item == Item::kBool) {
    family = "images of booleans";
  } else if (context.types()[type].kind == TypeKind::kArray &&
             context.types()[item].kind == TypeKind::kArray) {
    family = "arrays of arrays of resources";
  } else if (context.types().IsOpen(type) && !image && facts.shape != ObjectShape::kSampler) {
    family = "arrays of buffers whose size options decide";
  }
  if (!family.empty()) {
    RefuseVariable(context, variable, family);
    return false;
  }
  if (image && written != nullptr && !written->image_format.empty() &&
      !FindImageFormat(written->image_format, context.types()[content].item)) {
    context.Say(context.At(Code::kHlsl4035, variable.name)
                    .With("text", written->image_format)
                    .With("type", context.types().Text(content)));
  }
  // What lies in memory must have a form there.
  const bool holds = facts.shape == ObjectShape::kStructured || facts.shape == ObjectShape::kBlock;
  if (holds && !FitsMemory(context, content, {variable.name, variable.name + 1})) {
    DeclareFailed(context, variable.name);
    return false;
  }
  if (facts.shape == ObjectShape::kBlock && context.types()[content].kind != TypeKind::kStruct) {
    context.Say(context.At(Code::kHlsl2031, variable.name)
                    .With("what", std::string("content of '").append(facts.name) + "'")
                    .With("type", context.types().Text(content)));
    DeclareFailed(context, variable.name);
    return false;
  }
  return true;
}

// `register (c4)` of a loose variable is its place in $Globals (spec/hlsl 15.2).
// A register of class c counts 16 bytes.
void PlaceLoose(CheckContext& context, Global& global) {
  if (!global.attributes.valid()) {
    return;
  }
  Attributes& written = context.unit.attributes[global.attributes.value];
  const std::string_view name = written.register_name;
  uint32_t number = 0;
  const bool constant = !name.empty() && (name[0] == 'c' || name[0] == 'C');
  if (constant && written.offset == kNoRow &&
      std::from_chars(name.data() + 1, name.data() + name.size(), number).ec == std::errc{} &&
      number < (1u << 24)) {
    written.offset = 16 * number;
  }
}

// `[[vk::combinedImageSampler]]`: numbers make the pair, so there has to be one.
bool MayCombine(CheckContext& context, const syntax::Variable& variable, TypeId type,
                const Attributes& written) {
  const Type* const object = ObjectOf(context.types(), type);
  const bool sampler = object != nullptr && FactsOf(object->object).shape == ObjectShape::kSampler;
  const bool texture = object != nullptr && FactsOf(object->object).shape == ObjectShape::kImage &&
                       !FactsOf(object->object).writable &&
                       FactsOf(object->object).dim != ir::ImageDim::kBuffer;
  if (!sampler && !texture) {
    context.Say(context.At(Code::kHlsl1049, variable.name)
                    .With("name", "combinedImageSampler")
                    .With("what", "'" + context.types().Text(type) + "'"));
    return false;
  }
  if (written.binding == kNoRow && written.register_name.empty()) {
    context.Refuse({variable.name, variable.name + 1}, context.Text(variable.name),
                   "combined samplers without a binding");
    return false;
  }
  return true;
}

// `[[vk::constant_id]] const T name = value;`: without the value a module would have no default.
void CheckPipelineConstant(CheckContext& context, const syntax::Variable& variable, TypeId type,
                           uint32_t id) {
  if (variable.initialiser.empty()) {
    context.Say(
        context.At(Code::kHlsl2041, variable.name).With("name", context.Text(variable.name)));
    return DeclareFailed(context, variable.name);
  }
  CheckConstantId(context, id, variable, type,
                  CheckInitialiser(context, variable.initialiser, type));
}

// spec/hlsl 16.3: b blocks, t what is read, u what is written, s samplers. A loose variable is in a
// buffer that no register names.
char RegisterClassOf(CheckContext& context, const Global& global) {
  const Type* object = ObjectOf(context.types(), global.type);
  if (object == nullptr || FactsOf(object->object).shape == ObjectShape::kBlock) {
    return global.storage ? 't' : 'b';
  }
  const ObjectFacts& facts = FactsOf(object->object);
  return facts.shape == ObjectShape::kSampler ? 's' : facts.writable ? 'u' : 't';
}

// What the class of a register says must be so, or the number would be one of something else.
void CheckRegister(CheckContext& context, const Global& global) {
  const std::string_view name = global.attributes.valid()
                                    ? context.unit.attributes[global.attributes.value].register_name
                                    : std::string_view{};
  if (name.empty() || global.kind == GlobalKind::kLoose) {
    return;
  }
  const char written = name[0] >= 'a' ? name[0] : static_cast<char>(name[0] - 'A' + 'a');
  if (written != RegisterClassOf(context, global)) {
    context.Say(context.At(Code::kLay2004, global.at)
                    .With("name", global.name)
                    .With("class", std::string(1, written)));
  }
}

// The order of questions matters: what is refused as a whole comes before what is wrong in it.
void CheckExternal(CheckContext& context, const syntax::Variable& variable, TypeId type,
                   const Annotations& declared) {
  if (context.types().IsFailed(type)) {
    return DeclareFailed(context, variable.name);
  }
  const Attributes* written =
      declared.attributes.valid() ? &context.unit.attributes[declared.attributes.value] : nullptr;
  const bool pushed = written != nullptr && written->push_constant;
  const GlobalKind kind = KindOfExternal(context, type, pushed);
  if (written != nullptr && written->constant_id != kNoRow) {
    return CheckPipelineConstant(context, variable, type, written->constant_id);
  }
  if (written != nullptr && written->combined && !MayCombine(context, variable, type, *written)) {
    return DeclareFailed(context, variable.name);
  }
  WarnOfInitialiser(context, variable, kind == GlobalKind::kLoose ? "uniform" : "resource");
  Global global{.kind = kind,
                .name = context.Dotted(variable.name),
                .type = type,
                .at = {variable.name, variable.name + 1},
                .condition = declared.condition,
                .constant = kind != GlobalKind::kResource,
                .attributes = declared.attributes};
  const bool object = ObjectOf(context.types(), type) != nullptr;
  if (pushed && (context.types()[type].kind == TypeKind::kArray || kind != GlobalKind::kBlock ||
                 (!object && context.types()[type].kind != TypeKind::kStruct))) {
    return RefuseVariable(context, variable, "push constants that are no struct");
  }
  if (object) {
    if (!IsBuiltResource(context, variable, type, written)) {
      return;
    }
    global.storage = ObjectOf(context.types(), type)->object == ObjectKind::kTextureBuffer;
  } else if (context.types().HoldsObject(type)) {
    return RefuseVariable(context, variable, "resources in structs and blocks");
  } else if (!FitsMemory(context, type, global.at)) {
    return DeclareFailed(context, variable.name);
  }
  if (kind == GlobalKind::kLoose) {
    PlaceLoose(context, global);
  }
  CheckRegister(context, global);
  const GlobalId id = context.AddGlobal(std::move(global));
  Declare(context, variable.name, {.kind = SymbolKind::kGlobal, .id = id.value, .type = type});
}

}  // namespace

// The type of a variable with all its extents. An array without a number has as many items as
// its list has leaves (spec/hlsl 6.4): so the list is looked at before the type is known.
TypeId TypeOfVariable(CheckContext& context, const syntax::Variable& variable) {
  const std::string_view name = context.Text(variable.name);
  context.name_token = variable.name;
  const TypeId written = ResolveType(context, variable.type);
  const std::span<const uint32_t> extents = context.ast.List(variable.extents);
  uint32_t items = 0;
  const bool asks = extents.size() >= 2 && extents[1] == syntax::kNone;
  if (asks && IsList(context, variable.initialiser) && !context.types().IsFailed(written)) {
    uint64_t inner = context.types().LeavesOf(written);
    for (size_t i = 2; i + 1 < extents.size(); i += 2) {
      const syntax::ExprRange range{extents[i], extents[i + 1]};
      const auto size = range.empty() ? std::nullopt : ScalarOf(context, CheckExpr(context, range));
      inner *= size && !IsFloat(size->item) ? static_cast<uint64_t>(Integer(*size)) : 0;
    }
    uint64_t leaves = 0;
    for (const ExprId item : CheckList(context, variable.initialiser)) {
      leaves += context.types().LeavesOf(context.TypeOf(item));
    }
    items = inner == 0 ? 0 : static_cast<uint32_t>(leaves / inner);
  }
  const TypeId type = WithExtents(context, written, variable.extents, name, items);
  if (type == context.types().Void()) {
    context.Say(context.At(Code::kHlsl2031, variable.name)
                    .With("what", std::string("variable '").append(name) + "'")
                    .With("type", "void"));
    return context.types().Failed();
  }
  return type;
}

// It lives as long as the invocation, so it is a global under the name of its function. Its
// value must be known, since nobody would know whether it was stored before (spec/hlsl 7).
Symbol MakeStaticLocal(CheckContext& context, const syntax::Variable& variable, TypeId type) {
  ExprId value;
  if (!variable.initialiser.empty()) {
    value = CheckInitialiser(context, variable.initialiser, type);
    if (context.Get(value).rate == Rate::kRun && context.Get(value).kind != ExprKind::kFailed) {
      context.Refuse({variable.name, variable.name + 1}, context.Text(variable.name),
                     "static variables of functions that are computed");
    }
  }
  Global global = StaticOf(context, variable, type, value);
  global.name = context.unit[context.function].name + "." + global.name;
  const GlobalId id = context.AddGlobal(std::move(global));
  return {.kind = SymbolKind::kGlobal, .id = id.value, .type = type};
}

// A static member is a global that is found through its struct.
void CheckStaticMember(CheckContext& context, const syntax::Decl& decl,
                       const syntax::Variable& variable) {
  const TypeId type = TypeOfVariable(context, variable);
  context.name_token = variable.name;
  const Annotations declared = DeclaredOf(context, AttributePlace::kGlobal, decl, variable);
  if (!context.types().IsFailed(type)) {
    CheckStatic(context, variable, type, declared);
  }
}

// Each declarator by its storage class: spec/hlsl 7, from top to bottom.
void CheckGlobals(CheckContext& context, uint32_t decl) {
  const syntax::Decl& row = context.ast.decls[decl];
  for (uint32_t i = 0; i < row.items.count; ++i) {
    CheckStop();
    const syntax::Variable& variable = context.ast.variables[row.items.first + i];
    const syntax::Type& written = context.ast.types[variable.type];
    const TypeId type = TypeOfVariable(context, variable);
    WarnOfModifiers(context, written, context.Text(variable.name));
    context.name_token = variable.name;
    const Annotations declared = DeclaredOf(context, AttributePlace::kGlobal, row, variable);
    if (declared.option != nullptr && !written.Has(Modifier::kStatic)) {
      context.Say(
          context.At(Code::kHlsl6001, variable.name).With("name", context.Text(variable.name)));
      DeclareFailed(context, variable.name);
      continue;
    }
    if (written.Has(Modifier::kGroupShared)) {
      WarnOfInitialiser(context, variable, "groupshared");
      if (context.types().HoldsObject(type)) {
        RefuseVariable(context, variable, "resources as values");
        continue;
      }
      const GlobalId id = context.AddGlobal({.kind = GlobalKind::kShared,
                                             .name = context.Dotted(variable.name),
                                             .type = type,
                                             .at = {variable.name, variable.name + 1}});
      Declare(context, variable.name, {.kind = SymbolKind::kGlobal, .id = id.value, .type = type});
    } else if (written.Has(Modifier::kStatic)) {
      CheckStatic(context, variable, type, declared);
    } else {
      CheckExternal(context, variable, type, declared);
    }
  }
  // `struct S { … };` without variables: the type is declared.
  if (row.items.empty() && row.type != syntax::kNone) {
    ResolveType(context, row.type);
  }
}

// A block is a struct that nothing else is of; its members are names of the scope around. If it
// cannot be built, its members are declared as failed.
void CheckBlock(CheckContext& context, uint32_t decl) {
  const syntax::Decl& row = context.ast.decls[decl];
  const StructId id = context.types().AddStruct(context.Text(row.name), row.name);
  const MemberRows members = MembersOf(context, decl);
  context.types().Complete(id, members.rows);
  context.name_token = row.name;
  const Annotations declared = DeclaredOfFunction(context, row);
  if (members.failed || !FitsMemory(context, context.types().Of(id), {row.name, row.name + 1})) {
    for (const Member& member : members.rows) {
      DeclareFailed(context, member.token);
    }
    return;
  }
  const GlobalId block = context.AddGlobal({.kind = GlobalKind::kBlock,
                                            .name = context.Dotted(row.name),
                                            .type = context.types().Of(id),
                                            .at = {row.name, row.name + 1},
                                            .condition = declared.condition,
                                            .constant = true,
                                            .storage = row.Is(syntax::Decl::kTbuffer),
                                            .fields = true,
                                            .attributes = declared.attributes});
  CheckRegister(context, context.unit.globals[block.value]);
  for (uint32_t i = 0; i < members.rows.size(); ++i) {
    Declare(context, members.rows[i].token,
            {.kind = SymbolKind::kBlockMember,
             .id = block.value,
             .b = i,
             .type = members.rows[i].type});
  }
}

}  // namespace kiln::hlsl
