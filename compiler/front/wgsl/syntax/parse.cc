// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/syntax/parse.h"

#include <utility>

#include "compiler/front/wgsl/syntax/parser/parse_context.h"
#include "compiler/front/wgsl/syntax/parser/parse_decl.h"

namespace kiln::wgsl::front::syntax {

// Errors and the tree are both returned: what an editor needs of a source with an error is in
// the tree, and the caller stops before it checks.
ParseResult Parse(const TokenStream& stream, uint32_t module, const LanguageLimits& limits) {
  ParseContext context(stream, module, limits);
  ParseModule(context);
  return {.ast = std::move(context.ast), .diagnostics = std::move(context.diagnostics)};
}

}  // namespace kiln::wgsl::front::syntax
