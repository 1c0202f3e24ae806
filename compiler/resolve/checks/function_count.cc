// SPDX-License-Identifier: MIT
#include "compiler/resolve/checks/function_count.h"

namespace kiln::resolve {

std::optional<Diagnostic> CheckFunctionCount(std::span<const ir::ModuleView> modules,
                                             const LanguageLimits& limits) {
  size_t count = 0;
  // All modules count together, in their order.
  for (uint32_t m = 0; m < modules.size(); ++m) {
    const ir::ModuleView& view = modules[m];
    for (size_t row = 0; row < view.decls.size(); ++row) {
      if (view.decls[row].kind != ir::DeclKind::kFunction || ++count <= limits.functions) {
        continue;
      }
      // The message stands at the first function that is too many.
      const ir::SpanId span = view.decl_spans.empty() ? ir::SpanId{} : view.decl_spans[row].name;
      const Location where{.module = m, .span_number = span.value, .bytes = view.SpanOf(span)};
      return Make(Code::kLim1001, where)
          .With("what", "program")
          .With("parts", "functions")
          .With("limit", limits.functions);
    }
  }
  return std::nullopt;
}

}  // namespace kiln::resolve
