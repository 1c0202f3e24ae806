// SPDX-License-Identifier: MIT
// What a look at the generic instructions of a block tells before they are specialised: which of
// them have an effect, and which places must be read at their turn because an effect stands between
// them and their user. It depends on no option, so it is done once per program and block.
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

// Surveys the block and what is nested in it; true if anything in it has an effect.
bool SurveyBlock(RegionBuilder& region, ir::BlockId block);

}  // namespace kiln::resolve
