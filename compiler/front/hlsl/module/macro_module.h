// SPDX-License-Identifier: MIT
// The macros of a program as a module of their own, which declares an option for each and nothing
// else. It is linked behind the sources, so everything that knows options knows macros; a source
// stays the same module whichever macros a program lists for it.
#pragma once

#include <span>

#include "compiler/base/digest.h"
#include "compiler/front/hlsl/macro_axis.h"
#include "compiler/ir/module.h"

namespace kiln::hlsl {

// Options in the order of the axes; nothing in it has a place. `fingerprint`: as of Parse.
ir::Module MacroModule(std::span<const MacroAxis> axes, const Hash128& fingerprint);

}  // namespace kiln::hlsl
