// SPDX-License-Identifier: MIT
// Spans are made as instructions are: most of them share the span of their neighbour, so one is
// kept. Tables by row of the checked module make each mapping one array access.
#include "compiler/front/hlsl/lower/context.h"

#include <algorithm>

namespace kiln::hlsl {

// Vectors have a row for each row of the checked module, so that ids are found by number.
LowerContext::LowerContext(const Unit& checked, const TokenStream& token_stream,
                           const Settings& module_settings)
    : unit(checked),
      stream(token_stream),
      ordered_not_equal(module_settings.float_not_equal == FloatNotEqual::kOrdered),
      settings(module_settings),
      row_major(module_settings.matrix_order == MatrixOrder::kRow),
      builder({.language = ir::Language::kHlsl,
               .version = module_settings.version == Version::k2018 ? 2018u : 2021u,
               .typed = 1,
               .rules = 0}),
      globals(checked.globals.size()),
      global_member(checked.globals.size(), kNoRow),
      functions(checked.functions.size()),
      locals(checked.locals.size()),
      parameters(checked.locals.size()) {}

// Most instructions have the range of the one before: its span is used again.
ir::SpanId LowerContext::SpanOf(TokenRange range) {
  if (range.begin == last_range_.begin && range.end == last_range_.end) {
    return last_span_;
  }
  last_range_ = range;
  last_span_ = builder.AddSpan(WrittenAt(range));
  return last_span_;
}

// Ranges of tokens to bytes; across files the innermost that holds both ends.
Span LowerContext::WrittenAt(TokenRange range) const {
  const auto last = static_cast<uint32_t>(stream.tokens.size() - 1);
  const uint32_t begin = std::min(range.begin, last);
  const uint32_t end = std::clamp(range.end == 0 ? 0 : range.end - 1, begin, last);
  return stream.origins.Cover(stream.tokens[begin].origin, stream.tokens[end].origin);
}

}  // namespace kiln::hlsl
