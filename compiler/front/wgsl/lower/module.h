// SPDX-License-Identifier: MIT
// A checked module as a typed module of the IR. The face of this folder.
#pragma once

#include "compiler/base/digest.h"
#include "compiler/front/wgsl/check/tree.h"
#include "compiler/front/wgsl/token.h"
#include "compiler/ir/module.h"

namespace kiln::wgsl::front {

// Requires: `unit` was checked without errors, from that stream.
ir::Module Lower(const Unit& unit, const TokenStream& stream, const Hash128& fingerprint);

}  // namespace kiln::wgsl::front
