// SPDX-License-Identifier: MIT
// How messages call a kind of thing.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/closed.h"
#include "compiler/ir/decls.h"

namespace kiln::resolve {

std::string_view DeclKindText(const ir::Decl& decl);  // "uniform buffer", "state container"
std::string_view LocalKindText(ir::LocalKind kind);   // "argument", "alias", "variable"

// The text of a type in version 2, where the boolean has a name.
std::string BooleanText(const ir::Pool& pool, ir::TypeId type);

}  // namespace kiln::resolve
