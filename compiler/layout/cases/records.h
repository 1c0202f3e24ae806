// SPDX-License-Identifier: MIT
// Parts that answers have in common, and checked access to what a case says.
#pragma once

#include <optional>
#include <string>

#include "compiler/base/result.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/layout/bytes.h"
#include "compiler/layout/cases/case_types.h"
#include "compiler/layout/program_layout.h"

namespace kiln::layout {

// {"code", "names", "place"}: names are those the message mentions, the later declaration first.
Json DescribeError(const Diagnostic& diagnostic);
// {"error": [...]} of the errors of a layout.
Json DescribeErrors(const ProgramLayout& layout);
// Every member recursively, as sections `layout` and `globals_layout` have it.
Json DescribeMembers(ByteLayouts& bytes, TypeId block, Rules rules);
// "set0.1", "t0,space0 s0,space0": all places of a leaf.
std::string PlacesText(Platform platform, const PlacedLeaf& leaf);

// Member `key` of an object. Errors: kInvalidArgument if there is none.
Result<const Json*> PartOf(const Json& object, const std::string& key);
Result<const std::string*> TextOf(const Json& object, const std::string& key);
Result<const Json*> ListOf(const Json& object, const std::string& key);
bool Has(const Json& object, const std::string& key);  // and it is not null
// Nothing if there is no such member. Errors: kInvalidArgument if it is no such number.
Result<std::optional<uint32_t>> NumberOf(const Json& object, const std::string& key);

}  // namespace kiln::layout
