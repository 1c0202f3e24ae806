// SPDX-License-Identifier: MIT
// The record of one option that a build consulted: its value, and what it decided.
#pragma once

#include "compiler/emit/metadata/wire.h"
#include "compiler/ir/specialised.h"

namespace kiln::metadata {

void WriteInfluence(const ir::Pool& pool, const ir::OptionUse& use, WireWriter& out);

}  // namespace kiln::metadata
