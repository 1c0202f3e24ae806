// SPDX-License-Identifier: MIT
// A function is one row, whether it is declared once or several times: declarations of one name in
// one scope whose parameters have the same types are the same function.
// A head is read with its types, attributes and default values before anybody knows whether the
// function was declared earlier; then it is matched against the overloads of its name. Only a
// body makes locals. The order matters for methods: all heads of a struct come before the first
// body.
#include "compiler/front/hlsl/check/function.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/attribute.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/expression.h"
#include "compiler/front/hlsl/check/global.h"
#include "compiler/front/hlsl/check/name.h"
#include "compiler/front/hlsl/check/setting.h"
#include "compiler/front/hlsl/check/statement.h"
#include "compiler/front/hlsl/check/type_of.h"

namespace kiln::hlsl {
namespace {

using syntax::Modifier;

constexpr uint32_t kMaxParameters = 255;  // of SPIR-V

// The head of one declaration, before it is known whether the function has a row.
struct Head {
  TypeId result;
  std::vector<Local> parameters;
  std::vector<ParameterType> types;
  std::vector<ExprId> defaults;
  bool failed = false;
};

// `in` alone is what a parameter is without a word.
Passing PassingOf(const syntax::Type& type) {
  const bool in = type.Has(Modifier::kIn);
  const bool out = type.Has(Modifier::kOut);
  return out ? (in ? Passing::kInOut : Passing::kOut) : Passing::kIn;
}

// A resource stands for what the caller names, so nothing comes back through it.
bool IsParameter(const CheckContext& context, TypeId type, Passing passing) {
  const Types& types = context.unit.types;
  return !types.HoldsObject(type) || (types.IsObject(type) && passing == Passing::kIn);
}

// One parameter: its type with extents, its attributes, its default value. The head goes on
// behind an error, so that all parameters are reported.
void ReadParameter(CheckContext& context, const syntax::Decl& decl,
                   const syntax::Variable& variable, Head& head) {
  const bool named = variable.name != syntax::kNone;
  const std::string_view name = named ? context.Text(variable.name) : std::string_view{};
  // Without a name messages point to its type.
  const uint32_t token = named ? variable.name : variable.begin;
  const syntax::Type& written = context.ast.types[variable.type];
  context.name_token = token;
  const TypeId type =
      WithExtents(context, ResolveType(context, variable.type), variable.extents, name);
  if (type == context.types().Void()) {
    context.Say(context.At(Code::kHlsl2031, token)
                    .With("what", std::string("parameter '").append(name) + "'")
                    .With("type", "void"));
    head.failed = true;
  }
  if (!IsParameter(context, type, PassingOf(written))) {
    context.Refuse({token, token + 1}, name, "resources as values");
    head.failed = true;
  }
  head.failed = head.failed || context.types().IsFailed(type);
  const Annotations declared = DeclaredOf(context, AttributePlace::kParameter, decl, variable);
  const Passing passing = PassingOf(written);
  ExprId value;
  // Default values are evaluated in the scope of the declaration, before the function has one
  // of its own.
  if (!variable.initialiser.empty()) {
    value = CheckInitialiser(context, variable.initialiser, type);
  }
  head.types.push_back({.type = type, .passing = passing, .optional = value.valid()});
  head.defaults.push_back(value);
  head.parameters.push_back({.name = name,
                             .type = type,
                             .at = {token, token + 1},
                             .passing = passing,
                             .parameter = true,
                             .constant = written.Has(Modifier::kConst),
                             .condition = declared.condition,
                             .attributes = declared.attributes});
}

// `self` is a first parameter that no source writes: the object. It is passed in until its
// method is found to write it.
Head ReadHead(CheckContext& context, const syntax::Decl& decl, TypeId self) {
  Head head;
  if (self.valid()) {
    head.types.push_back({.type = self, .passing = Passing::kIn});
    head.defaults.emplace_back();
    head.parameters.push_back(
        {.name = "this", .type = self, .at = {decl.name, decl.name + 1}, .parameter = true});
  }
  context.name_token = decl.name;
  head.result = ResolveType(context, decl.type);
  head.failed = context.types().IsFailed(head.result);
  if (context.types().HoldsObject(head.result)) {
    context.Refuse({decl.name, decl.name + 1}, context.Text(decl.name), "resources as values");
    head.failed = true;
  }
  if (decl.items.count > kMaxParameters) {
    context.Say(context.At(Code::kHlsl1007, decl.name)
                    .With("what", std::string("function '").append(context.Text(decl.name)) + "'")
                    .With("size", std::to_string(decl.items.count) + " parameters")
                    .With("limit", kMaxParameters));
    head.failed = true;
  }
  for (uint32_t i = 0; i < decl.items.count; ++i) {
    CheckStop();
    ReadParameter(context, decl, context.ast.variables[decl.items.first + i], head);
  }
  return head;
}

// The function of the set that has these parameters; invalid if there is none.
// Types and passing decide, not the result and not the names (spec/hlsl 9.4).
FunctionId SameFunction(const CheckContext& context, std::span<const FunctionId> set,
                        const Head& head) {
  const auto same = [&](FunctionId id) {
    return std::ranges::equal(context.unit[id].parameter_types, head.types,
                              [](const ParameterType& a, const ParameterType& b) {
                                return a.type == b.type && a.passing == b.passing;
                              });
  };
  const auto found = std::ranges::find_if(set, same);
  return found == set.end() ? FunctionId{} : *found;
}

// The overloads of a name in the current scope; nothing after HLSL2002.
// All functions of one name in one scope share one symbol.
std::vector<FunctionId>* SetOf(CheckContext& context, uint32_t name) {
  const auto row = static_cast<uint32_t>(context.scopes.overloads.size());
  const Symbol symbol{.kind = SymbolKind::kFunctions, .id = row, .token = name};
  const Symbol* taken = context.scopes.Declare(context.NameOf(name), symbol);
  if (taken == nullptr) {
    context.scopes.overloads.emplace_back();
    return &context.scopes.overloads.back();
  }
  if (taken->kind == SymbolKind::kFunctions) {
    return &context.scopes.overloads[taken->id];
  }
  Declare(context, name, symbol);  // says that it is taken
  return nullptr;
}

// Returns the row of an earlier declaration, or a new one. HLSL2002 for a second body, or
// another result.
FunctionId RowOf(CheckContext& context, const syntax::Decl& decl, const Head& head) {
  std::vector<FunctionId>* set = SetOf(context, decl.name);
  if (set == nullptr) {
    return {};
  }
  FunctionId id = SameFunction(context, *set, head);
  if (!id.valid()) {
    id = FunctionId{static_cast<uint32_t>(context.unit.functions.size())};
    ChargeMemory(sizeof(Function) +
                 head.types.size() * (sizeof(ParameterType) + sizeof(ExprId) + sizeof(LocalId)));
    context.unit.functions.push_back({.name = context.Dotted(decl.name),
                                      .result = head.result,
                                      .at = {decl.name, decl.name + 1},
                                      .parameter_types = head.types,
                                      .defaults = head.defaults});
    set->push_back(id);
    return id;
  }
  Function& function = context.unit[id];
  const bool twice = function.body.valid() && decl.body != syntax::kNone;
  if (twice || function.result != head.result) {
    context.Say(context.At(Code::kHlsl2002, decl.name)
                    .With("name", context.Text(decl.name))
                    .Label(LabelKind::kFirstHere, context.LocationOf(function.at.begin)));
    return {};
  }
  // Default values may come with any of the declarations.
  for (size_t i = 0; i < head.defaults.size(); ++i) {
    if (head.defaults[i].valid()) {
      function.defaults[i] = head.defaults[i];
      function.parameter_types[i].optional = true;
    }
  }
  return id;
}

// Parameters become locals in a scope around that of the body. The row is not kept by reference
// while the body is checked: rows may be added.
void CheckDefinition(CheckContext& context, const syntax::Decl& decl, FunctionId id, Head& head) {
  const FunctionId outer = context.function;  // a struct of a function may have methods
  const LocalId outer_self = context.self;
  context.scopes.Enter();
  context.function = id;
  context.self = {};
  context.unit[id].at = {decl.name, decl.name + 1};
  context.unit[id].parameters.clear();
  for (Local& parameter : head.parameters) {
    const uint32_t token = parameter.at.begin;
    const bool named = !parameter.name.empty();
    const bool self = context.unit[id].method && context.unit[id].parameters.empty();
    const LocalId local = context.AddLocal(std::move(parameter));
    context.unit[id].parameters.push_back(local);
    if (self) {
      context.self = local;
    } else if (named) {
      Declare(context, token,
              {.kind = SymbolKind::kLocal, .id = local.value, .type = context.unit[local].type});
    }
  }
  const CheckedBody body = CheckBody(context, decl.body);
  Function& function = context.unit[id];
  function.body = body.block;
  // HLSL3006, unless the result failed: then nothing is known of it.
  if (!body.ends && function.result != context.types().Void() &&
      !context.types().IsFailed(function.result)) {
    context.Say(context.At(Code::kHlsl3006, decl.name).With("name", function.name));
  }
  context.function = outer;
  context.self = outer_self;
  context.scopes.Leave();
}

// Head and body are apart, since methods see each other's heads before any body is checked.
struct Declaration {
  uint32_t decl = 0;
  FunctionId id;
  Head head;
};

// The head of a function; invalid after an error. `self`: the object of a method.
// Attributes and conditions may stand at any declaration; the last one that has some counts.
Declaration DeclareFunction(CheckContext& context, uint32_t row, TypeId self) {
  const syntax::Decl& decl = context.ast.decls[row];
  Head head = ReadHead(context, decl, self);
  const Annotations declared = DeclaredOfFunction(context, decl);
  const FunctionId id = RowOf(context, decl, head);
  if (!id.valid()) {
    return {};
  }
  Function& function = context.unit[id];
  function.method = self.valid();
  if (declared.attributes.valid()) {
    function.attributes = declared.attributes;
  }
  if (declared.condition.valid()) {
    function.condition = declared.condition;
  }
  ReadEntryAttributes(context, decl, id);
  return {row, id, std::move(head)};
}

// A prototype ends here.
void DefineFunction(CheckContext& context, Declaration& declaration) {
  const syntax::Decl& decl = context.ast.decls[declaration.decl];
  if (!declaration.id.valid() || decl.body == syntax::kNone) {
    return;
  }
  const Function& function = context.unit[declaration.id];
  if (function.body.valid()) {  // of two methods both heads stand before the first body
    context.Say(context.At(Code::kHlsl2002, decl.name)
                    .With("name", context.Text(decl.name))
                    .Label(LabelKind::kFirstHere, context.LocationOf(function.at.begin)));
  } else {
    CheckDefinition(context, decl, declaration.id, declaration.head);
  }
}

// The object of a method; none if it is static.
// A static method has no object and is a function in the scope of its struct.
TypeId SelfOf(const CheckContext& context, const syntax::Decl& decl, TypeId record) {
  const bool is_static =
      decl.type != syntax::kNone && context.ast.types[decl.type].Has(Modifier::kStatic);
  return is_static ? TypeId{} : record;
}

// `void S::f () { … }`
// The path must lead to a struct that declares the method. Its body sees the struct's names.
void CheckOutside(CheckContext& context, uint32_t row) {
  const syntax::Decl& decl = context.ast.decls[row];
  std::vector<uint32_t> before;
  for (const uint32_t token : context.ast.List(decl.path)) {
    before.push_back(token);
  }
  const uint32_t owner = before.back();
  before.pop_back();
  const uint32_t path = syntax::kNone;
  const Symbol* symbol = before.empty() ? LookUp(context, owner, path, false) : nullptr;
  if (!before.empty()) {
    return context.Refuse({decl.name, decl.name + 1}, context.Text(decl.name),
                          "methods that are defined through name spaces");
  }
  if (symbol == nullptr ||
      (symbol->kind == SymbolKind::kType && context.types().IsFailed(symbol->type))) {
    return;
  }
  if (symbol->kind != SymbolKind::kType ||
      context.types()[symbol->type].kind != TypeKind::kStruct) {
    context.Say(context.At(Code::kHlsl2004, owner)
                    .With("name", context.Text(owner))
                    .With("kind", KindText(symbol->kind))
                    .With("expected", "a struct"));
    return;
  }
  // Checked in the scope of the struct, and named after it.
  const TypeId record = symbol->type;
  const ScopeId inner{symbol->b};
  if (context.scopes.FindIn(inner, context.NameOf(decl.name)) == nullptr) {
    context.Say(context.At(Code::kHlsl2005, decl.name)
                    .With("type", context.types().Text(record))
                    .With("name", context.Text(decl.name)));
    return;
  }
  const ScopeId outer = context.scopes.current();
  context.scopes.Enter(inner);
  context.path.push_back(owner);
  Declaration declaration = DeclareFunction(context, row, SelfOf(context, decl, record));
  DefineFunction(context, declaration);
  context.path.pop_back();
  context.scopes.Enter(outer);
}

}  // namespace

void CheckFunction(CheckContext& context, uint32_t row) {
  if (context.ast.decls[row].path != syntax::kNone) {
    return CheckOutside(context, row);
  }
  Declaration declaration = DeclareFunction(context, row, {});
  DefineFunction(context, declaration);
}

// Heads first, then bodies: spec/hlsl 5.3, members see each other.
void CheckMethods(CheckContext& context, uint32_t record, TypeId type) {
  const syntax::Decl& owner = context.ast.decls[record];
  std::vector<Declaration> methods;
  context.path.push_back(owner.name == syntax::kNone ? owner.begin : owner.name);
  for (uint32_t child = record + 1; child < owner.next; child = context.ast.decls[child].next) {
    const syntax::Decl& decl = context.ast.decls[child];
    if (decl.kind == syntax::DeclKind::kFunction && !decl.Is(syntax::Decl::kLocal)) {
      methods.push_back(DeclareFunction(context, child, SelfOf(context, decl, type)));
    }
  }
  for (Declaration& method : methods) {
    DefineFunction(context, method);
  }
  context.path.pop_back();
}

}  // namespace kiln::hlsl
