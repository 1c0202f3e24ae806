// SPDX-License-Identifier: MIT
// Environments of kiln as SPIRV-Tools names them. Private to compiler/recipe.
#pragma once

#include <spirv-tools/libspirv.h>

#include "compiler/target/target.h"

namespace kiln::recipe {

spv_target_env EnvironmentOf(target::Environment environment);

}  // namespace kiln::recipe
