// SPDX-License-Identifier: MIT
// Attributes of entry points: stage, workgroup size, pipeline state. See spec/hlsl 8.6, 17.7
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// Diagnostics: HLSL1046, HLSL2028.
void ReadEntryAttributes(CheckContext& context, const syntax::Decl& decl, FunctionId id);

}  // namespace kiln::hlsl
