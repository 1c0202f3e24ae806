// SPDX-License-Identifier: MIT
// How messages call a kind of thing.
#pragma once

#include <string_view>

#include "compiler/ir/closed.h"
#include "compiler/ir/decls.h"

namespace kiln::resolve {

std::string_view DeclKindText(const ir::Decl& decl);       // "uniform buffer", "state container"
std::string_view LocalKindText(ir::LocalKind kind);        // "argument", "alias", "variable"
std::string_view StageText(ir::Stage stage);               // "vertex"
std::string_view PipelineText(ir::PipelineType pipeline);  // "graphics_classic"

}  // namespace kiln::resolve
