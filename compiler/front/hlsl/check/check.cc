// SPDX-License-Identifier: MIT
// Declarations are checked in the order of the source, since HLSL declares before it uses; the
// tree is in pre-order, so a loop with `next` visits those of one level. What only the whole
// module can tell, which parameters are written and which images are compared with, is settled
// at the end.
#include "compiler/front/hlsl/check/check.h"

#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/context.h"
#include "compiler/front/hlsl/check/function.h"
#include "compiler/front/hlsl/check/global.h"
#include "compiler/front/hlsl/check/name.h"
#include "compiler/front/hlsl/check/resources/handle.h"
#include "compiler/front/hlsl/check/type_of.h"

namespace kiln::hlsl {
namespace {

void CheckRows(CheckContext& context, uint32_t first, uint32_t end);

// Opens the namespace, again if it is there.
// Its scope goes on where it was, so names of both parts are seen in both.
void CheckNamespace(CheckContext& context, uint32_t row) {
  const syntax::Decl& decl = context.ast.decls[row];
  const Symbol* known = context.scopes.FindIn(context.scopes.current(), context.NameOf(decl.name));
  ScopeId scope;
  if (known != nullptr && known->kind == SymbolKind::kNamespace) {
    scope = ScopeId{known->id};
  } else {
    scope = context.scopes.NewScope(context.scopes.current());
    if (!Declare(context, decl.name, {.kind = SymbolKind::kNamespace, .id = scope.value})) {
      return;
    }
  }
  const ScopeId outer = context.scopes.current();
  context.scopes.Enter(scope);
  // Names of what is declared inside begin with those of the namespaces around, with dots.
  context.path.push_back(decl.name);
  CheckRows(context, row + 1, decl.next);
  context.path.pop_back();
  context.scopes.Enter(outer);
}

// Namespaces nest as deep as the parser allows.
// Declarations in the order of the source, each by its kind. Local ones are rows of this table,
// too, and belong to statements.
void CheckRows(CheckContext& context, uint32_t first, uint32_t end) {
  for (uint32_t row = first; row < end; row = context.ast.decls[row].next) {
    CheckStop();
    const syntax::Decl& decl = context.ast.decls[row];
    if (decl.Is(syntax::Decl::kLocal)) {
      continue;
    }
    switch (decl.kind) {
      case syntax::DeclKind::kNamespace:
        CheckNamespace(context, row);
        break;
      case syntax::DeclKind::kRecord:
        DeclareRecord(context, row);
        break;
      case syntax::DeclKind::kEnum:
        DeclareEnum(context, row);
        break;
      case syntax::DeclKind::kAlias:
        DeclareAlias(context, row);
        break;
      case syntax::DeclKind::kBlock:
        CheckBlock(context, row);
        break;
      case syntax::DeclKind::kFunction:
        CheckFunction(context, row);
        break;
      case syntax::DeclKind::kVariables:
        CheckGlobals(context, row);
        break;
    }
  }
}

}  // namespace

// Settle comes last: what functions do with resources they are handed is known when all bodies
// are.
CheckResult Check(const TokenStream& stream, const syntax::Ast& ast, const Settings& settings,
                  const LanguageLimits& limits, std::vector<front::Mention>* mentions) {
  CheckContext context(stream, ast, settings, limits);
  context.mentions = mentions;
  CheckRows(context, 0, static_cast<uint32_t>(ast.decls.size()));
  Settle(context);
  SortAndMerge(context.diagnostics);
  return {std::move(context.unit), std::move(context.diagnostics)};
}

}  // namespace kiln::hlsl
