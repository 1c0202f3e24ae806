// SPDX-License-Identifier: MIT
// Attributes of declarations: WGSL1004 where one does not belong, WGSL1005 for words that nothing
// is.
#pragma once

#include <initializer_list>
#include <string_view>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// Says WGSL1004 of each that is not in `allowed`, and of each that stands twice. `where` is for the
// message: "a parameter".
void AllowAttributes(CheckContext& context, syntax::ListId list,
                     std::initializer_list<std::string_view> allowed, std::string_view where);
const syntax::Attribute* FindAttribute(const CheckContext& context, syntax::ListId list,
                                       std::string_view name);
// The number that an attribute has as its argument; kNoRow after an error.
uint32_t NumberOf(CheckContext& context, const syntax::Attribute& attribute, uint32_t most);

// What interfaces need: a row of the unit, or kNoRow if there is none.
uint32_t CheckInterface(CheckContext& context, syntax::ListId list);
// @align and @size of a member.
void CheckPlacing(CheckContext& context, syntax::ListId list, StructMember& member);

}  // namespace kiln::wgsl::front
