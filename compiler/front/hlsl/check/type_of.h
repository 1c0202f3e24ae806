// SPDX-License-Identifier: MIT
// Types as written -> rows of Types. See spec/hlsl 6
#pragma once

#include <string_view>
#include <vector>

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// The type of a row of Ast::types, with extents that a cast or alias gave it.
TypeId ResolveType(CheckContext& context, uint32_t type);
// Arrays of it by the extents of a declarator (outermost first); `[]` needs `items`, the number
// that the initialiser has, or is HLSL2027. Diagnostics: HLSL2027, HLSL2028.
TypeId WithExtents(CheckContext& context, TypeId type, uint32_t extents, std::string_view name,
                   uint32_t items = 0);
// The members of a kRecord or kBlock; names in it are declared in the current scope.
struct MemberRows {
  std::vector<Member> rows;
  bool failed = false;  // an error was said: nothing more is said of the type
};
MemberRows MembersOf(CheckContext& context, uint32_t decl);
// A kRecord, kEnum or kAlias as a declaration of the current scope, once.
TypeId DeclareRecord(CheckContext& context, uint32_t decl);
void DeclareEnum(CheckContext& context, uint32_t decl);
void DeclareAlias(CheckContext& context, uint32_t decl);

}  // namespace kiln::hlsl
