// SPDX-License-Identifier: MIT
// Writes a generic expression as its author would: messages quote it, and the IR has no source
// text.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/module.h"

namespace kiln::resolve {

// "view.clip * f4 {leaf.position, 1.0}"; cut with "..." beyond about 40 characters.
std::string OpenText(const ir::ModuleView& module, ir::InstId expression);

// "f4", "gust_t", "f1[...]": a type as written.
std::string OpenTypeText(const ir::ModuleView& module, ir::TypeId id);

// "+", "==", "&&": operators as messages spell them.
std::string_view OperatorText(ir::BinaryOp op);
std::string_view OperatorText(ir::UnaryOp op);
std::string_view OperatorText(ir::LogicalOp op);

// "sin_f3": an inbuilt function of type `t` (open or void) as RPL spells it.
std::string BuiltinText(ir::Builtin builtin, std::string_view type);

}  // namespace kiln::resolve
