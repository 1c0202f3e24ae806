// SPDX-License-Identifier: MIT
// Names in expressions and types, with the namespaces and enumerations in front of them.
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// What `[::] { path :: } name` denotes; null after HLSL2001, or HLSL2004 for a path through what is
// no scope. `path` is a list of tokens or syntax::kNone.
const Symbol* LookUp(CheckContext& context, uint32_t name, uint32_t path, bool global);
// The same without a message.
const Symbol* Find(CheckContext& context, uint32_t name, uint32_t path, bool global);
// "function", "type", …
std::string_view KindText(SymbolKind kind);

// The value or place that a name is. Diagnostics: HLSL2001, HLSL2004.
ExprId MakeName(CheckContext& context, const syntax::Expr& row);

// The object of the method that is checked; HLSL2001 outside of one.
ExprId MakeThis(CheckContext& context, TokenRange at);

// Declares a name here; says HLSL2002 if it is taken.
bool Declare(CheckContext& context, uint32_t token, const Symbol& symbol);

}  // namespace kiln::hlsl
