// SPDX-License-Identifier: MIT
// Makes rows of checked expressions: conversions are written out, what is constant is folded, and
// rates, places and effects follow from the operands. Whatever is made of a failed operand has
// failed, in silence.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// --- constants
// HLSL1007 if those of the module are too large together.
ExprId MakeConstant(CheckContext& context, TypeId type, std::span<const Scalar> scalars,
                    TokenRange at);
// `count` scalars of a constant from number `first` on, as one of `type`: nothing is copied.
ExprId MakePart(CheckContext& context, ExprId constant, TypeId type, ConstantRow part,
                TokenRange at);
// Counts what a constant or compile-time expression costs that is mentioned once more. False:
// HLSL1007.
bool SpendMention(CheckContext& context, ExprId id, TokenRange at);
ExprId MakeScalar(CheckContext& context, Scalar scalar, TokenRange at);
// The value of a constant scalar; nothing if it is none.
std::optional<Scalar> ScalarOf(const CheckContext& context, ExprId id);
// The items of the leaves of a type, in order. Requires: a shape that no option decides.
std::vector<Item> LeafItems(const Types& types, TypeId type);

// --- conversions
enum class ConversionUse : uint8_t { kImplicit, kCast };
// Diagnostics: HLSL2010, HLSL2011, HLSL2020.
ExprId ConvertTo(CheckContext& context, ExprId id, TypeId to, ConversionUse use, TokenRange at);
// Items alone; the shape stays. An enum becomes what it is made of.
ExprId ConvertItems(CheckContext& context, ExprId id, Item item);
// Literals, and what is made of them alone, become int, uint or float.
ExprId Natural(CheckContext& context, ExprId id);
// What `?:`, `if` and loops ask: a bool, or HLSL2016.
ExprId Condition(CheckContext& context, ExprId id, std::string_view what);
// Leaves of `sources`, one after another, as the leaves of `type`. Requires: as many.
ExprId MakeBuild(CheckContext& context, TypeId type, std::span<const ExprId> sources,
                 TokenRange at);

// A row whose flags and rate follow from its operands. `knowable`: whether it is known before it
// runs if they are: no; yes, but no compile-time expression of the IR says it; yes.
enum class Knowable : uint8_t { kNo, kFixed, kYes };
ExprId Combine(CheckContext& context, Expr expr, std::span<const ExprId> operands,
               Knowable knowable);

}  // namespace kiln::hlsl
