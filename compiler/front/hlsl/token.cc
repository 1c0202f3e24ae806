// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/token.h"

#include <array>

namespace kiln::hlsl {
namespace {

// In the order of TokenKind, for both come from one table.
constexpr auto kTokenTexts = std::to_array<std::string_view>({
#define KILN_TOKEN(enumerator, text) text,
#include "compiler/front/hlsl/tokens.def"
});
static_assert(kTokenTexts.size() == kTokenKinds);

}  // namespace

std::string_view TokenKindText(TokenKind kind) { return kTokenTexts[static_cast<size_t>(kind)]; }

}  // namespace kiln::hlsl
