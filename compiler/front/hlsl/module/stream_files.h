// SPDX-License-Identifier: MIT
// The files of a token stream as an image stores them.
#pragma once

#include "compiler/front/hlsl/token_stream.h"
#include "compiler/ir/module_files.h"

namespace kiln::hlsl {

ir::ModuleFiles FilesOf(const TokenStream& stream);

}  // namespace kiln::hlsl
