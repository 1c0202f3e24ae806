// SPDX-License-Identifier: MIT
// A look-up gives a symbol, and a symbol becomes a row of the expression: the value itself if
// it is known, else the variable, option or member. Names are symbols of the token stream, so
// comparing them is comparing numbers.
#include "compiler/front/hlsl/check/name.h"

#include "compiler/base/check.h"
#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"

namespace kiln::hlsl {
namespace {

// The scope that a symbol opens for `::`; invalid if it opens none.
// Namespaces, structs and enums. An alias of a type leads nowhere (kNoRow).
ScopeId ScopeOf(const Symbol& symbol) {
  if (symbol.kind == SymbolKind::kNamespace) {
    return ScopeId{symbol.id};
  }
  return symbol.kind == SymbolKind::kType ? ScopeId{symbol.b} : ScopeId{};
}

// One of the two is set: the symbol, or what was looked for in vain.
struct PathTarget {
  const Symbol* symbol = nullptr;
  uint32_t missing = syntax::kNone;  // token that was not found
};

// `A::B::name`, each step in the scope that the last one opened. The first name is looked for
// from the current scope outwards, unless a `::` is in front.
PathTarget FindPath(CheckContext& context, uint32_t name, uint32_t path, bool global) {
  const std::span<const uint32_t> tokens = context.ast.List(path);
  ScopeId scope = global ? context.scopes.global() : context.scopes.current();
  bool within = global;
  const auto step = [&](uint32_t token) {
    const uint32_t text = context.NameOf(token);
    return within ? context.scopes.FindIn(scope, text) : context.scopes.Find(scope, text);
  };
  for (const uint32_t token : tokens) {
    const Symbol* found = step(token);
    if (found == nullptr) {
      return {nullptr, token};
    }
    context.NoteMention(token, found->token);
    scope = ScopeOf(*found);
    if (!scope.valid()) {
      return {nullptr, token};
    }
    within = true;
  }
  const Symbol* found = step(name);
  // Which of several functions is meant is known when the arguments are (CallOverloads).
  if (found != nullptr && found->kind != SymbolKind::kFunctions) {
    context.NoteMention(name, found->token);
  }
  return {found, found == nullptr ? name : syntax::kNone};
}

// What is known when compiling stands for itself, at the place where it is named.
// Constants have no storage: their name is their value, with the place where it is named.
ExprId Known(CheckContext& context, ExprId value, TokenRange at) {
  Expr expr = context.Get(value);
  if (expr.kind == ExprKind::kFailed) {
    return value;
  }
  if (!SpendMention(context, value, at)) {
    return context.Failed(at);
  }
  expr.at = at;
  return context.Add(expr);
}

// Loose variables and members of blocks are read only; resources are handles and no places.
ExprId OfGlobal(CheckContext& context, const Symbol& symbol, TokenRange at) {
  const GlobalId id{symbol.id};
  const Global& global = context.unit[id];
  if (global.kind == GlobalKind::kConstant) {
    return Known(context, global.initialiser, at);
  }
  const bool object = context.types().IsObject(global.type);
  const bool read_only =
      global.constant || global.kind == GlobalKind::kLoose || global.kind == GlobalKind::kBlock;
  return context.Add({.kind = ExprKind::kGlobal,
                      .flags = static_cast<uint8_t>(object      ? 0
                                                    : read_only ? Expr::kPlace | Expr::kConst
                                                                : Expr::kPlace),
                      .type = global.type,
                      .a = id.value,
                      .at = at});
}

// A parameter or variable is a place; what was known when it was declared is that.
ExprId OfLocal(CheckContext& context, const Symbol& symbol, TokenRange at) {
  const Local& local = context.unit[LocalId{symbol.id}];
  if (local.known.valid()) {
    return Known(context, local.known, at);
  }
  if (context.types().IsObject(local.type)) {
    return context.Add({.kind = ExprKind::kLocal, .type = local.type, .a = symbol.id, .at = at});
  }
  return context.Add(
      {.kind = ExprKind::kLocal,
       .flags = static_cast<uint8_t>(local.constant ? Expr::kPlace | Expr::kConst : Expr::kPlace),
       .type = local.type,
       .a = symbol.id,
       .at = at});
}

// A member of a block is a row of two: the block, and its member.
ExprId OfBlockMember(CheckContext& context, const Symbol& symbol, TokenRange at) {
  const Global& block = context.unit[GlobalId{symbol.id}];
  const TypeId type = context.types().MemberOf(block.type, symbol.b).type;
  if (context.types().IsFailed(type)) {
    return context.Failed(at);
  }
  const ExprId owner = context.Add({.kind = ExprKind::kGlobal,
                                    .flags = Expr::kPlace | Expr::kConst,
                                    .type = block.type,
                                    .a = symbol.id,
                                    .at = at});
  return context.Add({.kind = ExprKind::kMember,
                      .flags = Expr::kPlace | Expr::kConst,
                      .type = type,
                      .a = owner.value,
                      .b = symbol.b,
                      .at = at});
}

}  // namespace

// As HLSL2004 says what a name is.
std::string_view KindText(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::kLocal:
    case SymbolKind::kGlobal:
    case SymbolKind::kBlockMember:
    case SymbolKind::kMember:
      return "variable";
    case SymbolKind::kFunctions:
      return "function";
    case SymbolKind::kType:
      return "type";
    case SymbolKind::kNamespace:
      return "namespace";
    case SymbolKind::kOption:
      return "option";
    case SymbolKind::kEnumerator:
      return "enumerator";
  }
  KILN_UNREACHABLE();
}

// Without a message, for callers that have one of their own.
const Symbol* Find(CheckContext& context, uint32_t name, uint32_t path, bool global) {
  return FindPath(context, name, path, global).symbol;
}

// HLSL2001 points at the first name of the path that is not there.
const Symbol* LookUp(CheckContext& context, uint32_t name, uint32_t path, bool global) {
  const PathTarget found = FindPath(context, name, path, global);
  if (found.symbol == nullptr) {
    context.Say(
        context.At(Code::kHlsl2001, found.missing).With("name", context.Text(found.missing)));
  }
  return found.symbol;
}

// `this` outside of a method is a name that is not declared.
ExprId MakeThis(CheckContext& context, TokenRange at) {
  if (!context.self.valid()) {
    context.Say(context.At(Code::kHlsl2001, at).With("name", "this"));
    return context.Failed(at);
  }
  return OfLocal(context, {.kind = SymbolKind::kLocal, .id = context.self.value}, at);
}

// What a name means where a value is expected. Each kind of symbol has its row.
ExprId MakeName(CheckContext& context, const syntax::Expr& row) {
  const TokenRange at{row.begin, row.end};
  const Symbol* symbol =
      LookUp(context, row.token, row.a, (row.flags & syntax::Expr::kGlobal) != 0);
  if (symbol == nullptr) {
    return context.Failed(at);
  }
  const bool variable = symbol->kind == SymbolKind::kLocal || symbol->kind == SymbolKind::kGlobal;
  if (variable && symbol->type.valid() && context.types().IsFailed(symbol->type)) {
    return context.Failed(at);
  }
  switch (symbol->kind) {
    case SymbolKind::kLocal:
      return OfLocal(context, *symbol, at);
    case SymbolKind::kGlobal:
      return OfGlobal(context, *symbol, at);
    case SymbolKind::kBlockMember:
      return OfBlockMember(context, *symbol, at);
    // In a method the members of its struct are names; in a static one they have no object.
    case SymbolKind::kMember:
      if (context.self.valid() && context.unit[context.self].type == symbol->type) {
        return MakeMember(context, MakeThis(context, at), row.token, at);
      }
      break;
    case SymbolKind::kOption: {
      // The number of an enum option is a choice by its text, as long as there are enumerators.
      const Type type = context.types()[symbol->type];
      const uint32_t weight =
          type.kind == TypeKind::kEnum ? 5 * context.types()[EnumId{type.element}].count : 1;
      // The value of a specialisation constant comes with the pipeline: no variant knows it.
      const bool specialised = context.unit.options[symbol->id].row.specialize != 0;
      const ExprId made = context.Add({.kind = ExprKind::kOption,
                                       .rate = specialised ? Rate::kRun : Rate::kOption,
                                       .type = symbol->type,
                                       .a = symbol->id,
                                       .at = at,
                                       .weight = weight});
      return SpendMention(context, made, at) ? made : context.Failed(at);
    }
    // An enumerator is a constant of its enum.
    case SymbolKind::kEnumerator: {
      const EnumId owner{context.types()[symbol->type].element};
      const Scalar value{context.types()[owner].item,
                         context.types().EnumeratorOf(owner, symbol->id).value};
      return MakeConstant(context, symbol->type, std::span(&value, 1), at);
    }
    case SymbolKind::kFunctions:
    case SymbolKind::kType:
    case SymbolKind::kNamespace:
      break;
  }
  context.Say(context.At(Code::kHlsl2004, at)
                  .With("name", context.Text(at))
                  .With("kind", KindText(symbol->kind))
                  .With("expected", "a value"));
  return context.Failed(at);
}

// HLSL2002 with the place of the first declaration. False then: the symbol that is there stays.
bool Declare(CheckContext& context, uint32_t token, const Symbol& symbol) {
  Symbol row = symbol;
  row.token = token;
  const Symbol* taken = context.scopes.Declare(context.NameOf(token), row);
  if (taken == nullptr) {
    return true;
  }
  Diagnostic said = context.At(Code::kHlsl2002, token).With("name", context.Text(token));
  if (taken->token != kNoRow) {
    std::move(said).Label(LabelKind::kFirstHere, context.LocationOf(taken->token));
  }
  context.Say(std::move(said));
  return false;
}

}  // namespace kiln::hlsl
