// SPDX-License-Identifier: MIT
// What a stream of tokens says, as an id: lists of defines that leave the same tokens are one
// module, however they differ (docs/hlsl).
#pragma once

#include "compiler/base/digest.h"
#include "compiler/front/hlsl/token_stream.h"

namespace kiln::hlsl {

// Equal for streams of which the stages behind the preprocessor make the same, places and labels of
// messages included. Numbers of symbols and origins do not matter; what they stand for does.
Hash128 StreamIdOf(const TokenStream& stream);

}  // namespace kiln::hlsl
