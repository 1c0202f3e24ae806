// SPDX-License-Identifier: MIT
// Resources in expressions: a declaration, an item of an array of them, or a parameter that stands
// for one. And what is known of them, and of the objects of methods, when all functions are
// checked. See spec/hlsl 14.3
#pragma once

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// ConstantBuffer<T> or TextureBuffer<T>, whose value is a T.
bool IsBlock(const Types& types, TypeId type);
// What it holds, as a place that is not written. Requires: IsBlock.
ExprId ContentOf(CheckContext& context, ExprId block);

// A depth is compared with what the image holds.
void NoteCompared(CheckContext& context, ExprId image);

// A local that is a resource by another name: what it stands for is known where it is declared.
// What picks it from an array is computed once, in a variable whose declaration is added to `into`.
void DeclareHandle(CheckContext& context, const syntax::Variable& variable, TypeId type,
                   std::vector<StmtId>& into);

// After the last function: images that are handed on are compared if the parameter is; methods that
// write to their object take it as `inout`, and so do those that call them with it. Says HLSL2018
// where such an object cannot be written.
void Settle(CheckContext& context);

}  // namespace kiln::hlsl
