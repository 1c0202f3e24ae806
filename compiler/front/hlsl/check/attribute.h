// SPDX-License-Identifier: MIT
// Attributes, modifiers, semantics and registers of a declaration -> one row of Unit::attributes.
// See spec/hlsl 15.2, 16.2, 17, 20
#pragma once

#include <optional>
#include <string_view>

#include "compiler/front/hlsl/check/context.h"
#include "compiler/ir/insts.h"

namespace kiln::hlsl {

enum class AttributePlace : uint8_t { kMember, kGlobal, kBlock, kParameter, kFunction };

struct Annotations {
  AttributesId attributes;  // invalid: nothing stands there
  ExprId condition;         // of kiln::conditional; invalid: none
  const syntax::Attribute* option = nullptr;
};
// Says what is malformed or misplaced: HLSL1046, HLSL1049, HLSL4014, HLSL4021, HLSL6009.
Annotations DeclaredOf(CheckContext& context, AttributePlace place, const syntax::Decl& decl,
                       const syntax::Variable& variable);
// Of what a function returns.
Annotations DeclaredOfFunction(CheckContext& context, const syntax::Decl& decl);

// --- arguments
size_t ArgumentCount(const CheckContext& context, const syntax::Attribute& attribute);
syntax::ExprRange ArgumentAt(const CheckContext& context, const syntax::Attribute& attribute,
                             size_t i);
// A name or string as it stands; nothing if it is neither.
std::optional<std::string_view> WordArgument(const CheckContext& context,
                                             const syntax::Attribute& attribute, size_t i);
// A compile-time number without options, at least 0; says HLSL1046.
std::optional<uint32_t> NumberArgument(CheckContext& context, const syntax::Attribute& attribute,
                                       size_t i);
void SayNeeds(CheckContext& context, const syntax::Attribute& attribute, std::string_view expected);
void SayMisplaced(CheckContext& context, const syntax::Attribute& attribute, std::string_view what);

// --- of statements. Others than these are HLSL1049
void SayNoAttributes(CheckContext& context, const syntax::Stmt& row);
ir::BranchHint BranchHintOf(CheckContext& context, const syntax::Stmt& row);
void ReadLoopHint(CheckContext& context, const syntax::Stmt& row, Stmt& loop);

}  // namespace kiln::hlsl
