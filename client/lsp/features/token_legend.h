// SPDX-License-Identifier: MIT
// Types and modifiers of semantic tokens, as the legend of the protocol numbers them.
#pragma once

#include <cstdint>

#include "client/lsp/protocol/json.h"

namespace kiln::lsp {

enum class TokenType : uint32_t {
  kKeyword,
  kType,
  kStruct,
  kFunction,
  kParameter,
  kVariable,
  kProperty,
  kEnumMember,  // options and constants
  kString,
  kNumber,
  kOperator,
  kComment,
  kNamespace,  // containers, buffers and other blocks
};

// Bits.
enum class TokenModifier : uint32_t {
  kDeclaration = 1,
  kReadonly = 2,
  kDefaultLibrary = 4,
  kInactive = 8,  // not there in the variant that one looks at
};

// Of the five numbers of a token in an answer, with what a table that grows has in reserve.
inline constexpr uint64_t kTokenBytes = 160;

Json TokenLegend();

}  // namespace kiln::lsp
