// SPDX-License-Identifier: MIT
// A checked module as a typed module of the IR. The face of this folder.
#pragma once

#include "compiler/base/digest.h"
#include "compiler/front/hlsl/check/tree.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/token_stream.h"
#include "compiler/ir/module.h"

namespace kiln::hlsl {

// Requires: `unit` was checked without errors, from that stream.
ir::Module Lower(const Unit& unit, const TokenStream& stream, const Settings& settings,
                 const Hash128& fingerprint);

}  // namespace kiln::hlsl
