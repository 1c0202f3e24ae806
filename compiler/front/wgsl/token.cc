// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/token.h"

#include <algorithm>

namespace kiln::wgsl::front {

// The text of a kind is its spelling if it has only one, else the name of its class, which
// messages say instead ("identifier"). Rows stand in the order of the enumeration: both come
// from one table.
std::string_view TokenText(TokenKind kind) {
  static constexpr std::string_view kTexts[] = {
#define KILN_WGSL_TOKEN(enumerator, text) text,
#define KILN_WGSL_KEYWORD(enumerator, text) text,
#define KILN_WGSL_PUNCTUATOR(enumerator, text) text,
#include "compiler/front/wgsl/tokens.def"
  };
  return kTexts[static_cast<size_t>(kind)];
}

// Of an empty range, and of one behind the last token, the span of one token: a location always
// has bytes that an editor can show. The last token is the end of the file, so there is one.
Span TokenStream::SpanOf(TokenRange range) const {
  const auto last = static_cast<uint32_t>(tokens.size() - 1);
  const uint32_t begin = std::min(range.begin, last);
  const uint32_t end = std::clamp(range.end == 0 ? 0 : range.end - 1, begin, last);
  return {tokens[begin].span.begin, tokens[end].span.end};
}

}  // namespace kiln::wgsl::front
