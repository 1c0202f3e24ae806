// SPDX-License-Identifier: MIT
// What declarations and types of a specialised variant may be: what the IR can say and no stage
// behind it can make is refused here, with a reason. See docs/IR.md, "Types".
#pragma once

#include <string_view>

#include "compiler/base/result.h"
#include "compiler/ir/specialised.h"

namespace kiln::ir {

// Why values, variables and parameters of this type cannot be made, or nothing.
std::string_view UnloweredType(const Pool& pool, TypeId type);

// One declaration of the interface. Errors: kInternal.
Result<void> VerifyDecl(const SpecialisedDecl& decl, const Pool& pool);
// The interface rows of an entry point. Errors: kInternal.
Result<void> VerifyEntry(const EntryRef& entry, const Pool& pool);

}  // namespace kiln::ir
