// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

LowerContext::LowerContext(const Unit& checked, const TokenStream& token_stream)
    : unit(checked),
      stream(token_stream),
      types(checked.types),
      builder({.language = ir::Language::kWgsl, .version = 1, .typed = 1, .rules = 0}),
      structs(checked.types.struct_count()),
      globals(checked.globals.size()),
      is_wrapped(checked.globals.size()),
      functions(checked.functions.size()),
      locals(checked.locals.size()),
      values(checked.locals.size()),
      pointers(checked.locals.size()) {}

// Most instructions follow one that has the same range, so the last span is used again.
ir::SpanId LowerContext::SpanOf(TokenRange range) {
  if (range.begin != last_range_.begin || range.end != last_range_.end) {
    last_range_ = range;
    last_span_ = builder.AddSpan(stream.SpanOf(range));
  }
  return last_span_;
}

}  // namespace kiln::wgsl::front
