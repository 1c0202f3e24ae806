// SPDX-License-Identifier: MIT
// Places of tokens for messages: spans in the row of all files, and the chain of macros and
// includes that led to a token, as labels from the inside out.
#include "compiler/front/hlsl/token_stream.h"

#include <algorithm>
#include <utility>

namespace kiln::hlsl {
namespace {

constexpr uint32_t kMaxExpansions = 4;  // that a diagnostic shows (spec/hlsl 4.6)

}  // namespace

// Files lie one behind another in one row of offsets, ascending; spec/hlsl 4.6.
uint32_t TokenStream::FileAt(uint32_t offset) const {
  const auto behind = std::ranges::upper_bound(files, offset, {}, &ModuleFile::first);
  return static_cast<uint32_t>(behind - files.begin()) - 1;
}

// The order that the last pragma before a token set. `otherwise`, the setting, if there was
// none.
MatrixOrder TokenStream::OrderAt(uint32_t token, MatrixOrder otherwise) const {
  const auto behind = std::ranges::upper_bound(pack_matrix, token, {}, &PackMatrix::first_token);
  return behind == pack_matrix.begin() ? otherwise : std::prev(behind)->order;
}

Location TokenStream::Where(uint32_t first, uint32_t last) const {
  return {.module = module, .bytes = origins.Cover(first, last)};
}

// The location is where both ends meet; labels lead from there out to the root.
Diagnostic TokenStream::MakeAt(Code code, uint32_t first, uint32_t last) const {
  const auto [a, b] = origins.Meet(first, last);
  Diagnostic made = Make(code, Where(a, b));
  AddChain(origins.ContextOf(a), made);
  return made;
}

// One label for each context on the way out: the macro that was used, or the include that
// asked. Macros in each other may be as many as a source likes, so only the innermost four are
// shown, and includes have the limit of labels.
void TokenStream::AddChain(uint32_t number, Diagnostic& diagnostic) const {
  uint32_t expansions = 0;
  while (number != 0 && diagnostic.labels.size() < kMaxLabels) {
    const Context& context = origins.context(number);
    const Location where{.module = module, .bytes = origins.WrittenAt(context.cause)};
    number = origins.ContextOf(context.cause);
    if (where ==
        (diagnostic.labels.empty() ? diagnostic.primary : diagnostic.labels.back().where)) {
      continue;  // a file that includes itself
    }
    if (context.kind == Context::Kind::kFile) {
      diagnostic.labels.push_back({.kind = LabelKind::kIncludedHere,
                                   .where = where,
                                   .arguments = {{"path", files[context.what].path}}});
    } else if (++expansions <= kMaxExpansions) {
      diagnostic.labels.push_back({.kind = LabelKind::kExpandedHere,
                                   .where = where,
                                   .arguments = {{"name", Quoted(symbols.Text(context.what))}}});
    }
  }
}

}  // namespace kiln::hlsl
