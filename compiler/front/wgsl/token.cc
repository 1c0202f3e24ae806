// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/token.h"

#include <algorithm>

namespace kiln::wgsl::front {

std::string_view TokenText(TokenKind kind) {
  static constexpr std::string_view kTexts[] = {
#define KILN_WGSL_TOKEN(enumerator, text) text,
#define KILN_WGSL_KEYWORD(enumerator, text) text,
#define KILN_WGSL_PUNCTUATOR(enumerator, text) text,
#include "compiler/front/wgsl/tokens.def"
  };
  return kTexts[static_cast<size_t>(kind)];
}

Span TokenStream::SpanOf(TokenRange range) const {
  const auto last = static_cast<uint32_t>(tokens.size() - 1);
  const uint32_t begin = std::min(range.begin, last);
  const uint32_t end = std::clamp(range.end == 0 ? 0 : range.end - 1, begin, last);
  return {tokens[begin].span.begin, tokens[end].span.end};
}

}  // namespace kiln::wgsl::front
