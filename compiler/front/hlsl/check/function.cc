// SPDX-License-Identifier: MIT
// A function is one row, whether it is declared once or several times: declarations of one name in
// one scope whose parameters have the same types are the same function.
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

Passing PassingOf(const syntax::Type& type) {
  const bool in = type.Has(Modifier::kIn);
  const bool out = type.Has(Modifier::kOut);
  return out ? (in ? Passing::kInOut : Passing::kOut) : Passing::kIn;
}

void ReadParameter(CheckContext& context, const syntax::Decl& decl,
                   const syntax::Variable& variable, Head& head) {
  const bool named = variable.name != syntax::kNone;
  const std::string_view name = named ? context.Text(variable.name) : std::string_view{};
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
  if (context.types().HoldsObject(type)) {
    context.Refuse({token, token + 1}, name, "resources as values");
    head.failed = true;
  }
  head.failed = head.failed || context.types().IsFailed(type);
  const Declared declared = DeclaredOf(context, AttributePlace::kParameter, decl, variable);
  const Passing passing = PassingOf(written);
  ExprId value;
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

Head ReadHead(CheckContext& context, const syntax::Decl& decl) {
  Head head;
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

FunctionId RowOf(CheckContext& context, const syntax::Decl& decl, const Head& head) {
  std::vector<FunctionId>* set = SetOf(context, decl.name);
  if (set == nullptr) {
    return {};
  }
  FunctionId id = SameFunction(context, *set, head);
  if (!id.valid()) {
    id = FunctionId{static_cast<uint32_t>(context.unit.functions.size())};
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
  for (size_t i = 0; i < head.defaults.size(); ++i) {
    if (head.defaults[i].valid()) {
      function.defaults[i] = head.defaults[i];
      function.parameter_types[i].optional = true;
    }
  }
  return id;
}

void CheckDefinition(CheckContext& context, const syntax::Decl& decl, FunctionId id, Head& head) {
  context.scopes.Enter();
  context.function = id;
  context.unit[id].at = {decl.name, decl.name + 1};
  context.unit[id].parameters.clear();
  for (Local& parameter : head.parameters) {
    const LocalId local{static_cast<uint32_t>(context.unit.locals.size())};
    const uint32_t token = parameter.at.begin;
    const bool named = !parameter.name.empty();
    context.unit.locals.push_back(std::move(parameter));
    context.unit[id].parameters.push_back(local);
    if (named) {
      Declare(context, token,
              {.kind = SymbolKind::kLocal, .id = local.value, .type = context.unit[local].type});
    }
  }
  const CheckedBody body = CheckBody(context, decl.body);
  Function& function = context.unit[id];
  function.body = body.block;
  if (!body.ends && function.result != context.types().Void() &&
      !context.types().IsFailed(function.result)) {
    context.Say(context.At(Code::kHlsl3006, decl.name).With("name", function.name));
  }
  context.function = {};
  context.scopes.Leave();
}

}  // namespace

void CheckFunction(CheckContext& context, uint32_t row) {
  const syntax::Decl& decl = context.ast.decls[row];
  if (decl.path != syntax::kNone) {
    return context.Refuse({decl.name, decl.name + 1}, context.Text(decl.name),
                          "methods of structs");
  }
  Head head = ReadHead(context, decl);
  const Declared declared = DeclaredOfFunction(context, decl);
  const FunctionId id = RowOf(context, decl, head);
  if (!id.valid()) {
    return;
  }
  Function& function = context.unit[id];
  if (declared.attributes.valid()) {
    function.attributes = declared.attributes;
  }
  if (declared.condition.valid()) {
    function.condition = declared.condition;
  }
  ReadEntryAttributes(context, decl, id);
  if (decl.body != syntax::kNone) {
    CheckDefinition(context, decl, id, head);
  }
}

}  // namespace kiln::hlsl
