// SPDX-License-Identifier: MIT
// Checking in five steps: directives, because an extension decides what may be written; the
// order of declarations, which also finds cycles and names that are declared twice;
// declarations in that order; aliases and uniformity, for which all functions must be known. Behind
// an error the next declaration is checked, so a source gets all its errors at once, but nothing
// that mentions a failed name says anything.
#include "compiler/front/wgsl/check/check.h"

#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/check/alias.h"
#include "compiler/front/wgsl/check/context.h"
#include "compiler/front/wgsl/check/declaration.h"
#include "compiler/front/wgsl/check/directive.h"
#include "compiler/front/wgsl/check/function.h"
#include "compiler/front/wgsl/check/order.h"
#include "compiler/front/wgsl/check/uniformity/uniformity.h"

namespace kiln::wgsl::front {

// Declarations are checked callees first, so a name is always known where it is mentioned, and
// no declaration is looked at twice. Behind an error the next declaration goes on.
CheckResult Check(const TokenStream& stream, const syntax::Ast& ast, uint32_t module,
                  const LanguageLimits& limits, std::vector<kiln::front::Mention>* mentions) {
  CheckContext context(stream, ast, module, limits);
  context.mentions = mentions;
  // By row of the syntax tree, so that an operand is found by its number.
  context.rows.resize(ast.exprs.size());
  CheckDirectives(context);
  const std::vector<uint32_t> order = OrderOf(context);
  std::vector<bool> checked(ast.decls.size());
  for (const uint32_t number : order) {
    checked[number] = true;
  }
  // What was left out is known and wrong: mentions of it are silent.
  // Part of a cycle, or a second declaration of its name.
  for (uint32_t i = 0; i < ast.decls.size(); ++i) {
    if (!checked[i]) {
      DeclareFailed(context, ast.decls[i].token);
    }
  }
  for (const uint32_t number : order) {
    CheckStop();
    const syntax::Decl& decl = ast.decls[number];
    if (decl.kind == syntax::DeclKind::kFunction) {
      // The limit counts functions, not calls. Behind it the rest would only report names that
      // are missing.
      if (context.unit.functions.size() >= limits.functions) {
        context.Say(context.At(Code::kWgsl1007, decl.token)
                        .With("what", "functions of a module")
                        .With("limit", limits.functions));
        break;
      }
      CheckFunction(context, decl);
    } else {
      CheckDeclaration(context, decl);
    }
  }
  // Aliases are a question about whole functions; parts that failed would give wrong answers.
  if (!HasErrors(context.diagnostics)) {
    CheckAliases(context);
  }
  // Pointers that alias would be followed to the wrong variable.
  if (!HasErrors(context.diagnostics)) {
    CheckUniformity(context);
  }
  return {.unit = std::move(context.unit), .diagnostics = std::move(context.diagnostics)};
}

}  // namespace kiln::wgsl::front
