// SPDX-License-Identifier: MIT
// The faces of the checks. A variant is checked function by function; what is known around a region
// are the names of the regions it is nested in, so those are gathered along its parents.
#include "compiler/ir/verify/verify.h"

#include <string>

#include "compiler/ir/verify/image_rows.h"
#include "compiler/ir/verify/verify_body.h"
#include "compiler/ir/verify/verify_decl.h"
#include "compiler/ir/verify/verify_generic.h"
#include "compiler/ir/verify/verify_specialised.h"

namespace kiln::ir {
namespace {

// Regions of one function, each with the names of those around it.
Result<void> VerifyFunction(const FunctionRef& function, const Pool& pool,
                            Surroundings& surroundings) {
  surroundings.signature = function.signature;
  // Parameters belong to no region, so their types are checked here once for the function.
  for (const SpecialisedMember& parameter : function.signature->members) {
    if (const std::string_view wrong = UnloweredType(pool, parameter.type); !wrong.empty()) {
      return Error{.code = ErrorCode::kInternal, .context = "a parameter: " + std::string(wrong)};
    }
  }
  for (size_t i = 0; i < function.regions.size(); ++i) {
    const RegionRef& region = function.regions[i];
    surroundings.locals.Clear();
    // Parents come first. So the loop below walks towards the body with strictly smaller numbers,
    // and it ends.
    if (i != 0 && region.parent >= i) {
      return Error{.code = ErrorCode::kInternal, .context = "a region comes before its parent"};
    }
    // Names of all regions around are visible, those of regions beside it are not.
    for (size_t outer = i; outer != 0;) {
      outer = function.regions[outer].parent;
      for (const SpecialisedLocal& local : function.regions[outer].specialised->locals) {
        surroundings.locals.Insert(local.local.value, &local);
      }
    }
    KILN_TRY_VOID(RegionVerifier(*region.specialised, pool, &surroundings).Run());
  }
  return {};
}

}  // namespace

// Tables before bodies: the walk over bodies follows ids into the tables without checking them
// again.
Result<void> VerifyIds(const ModuleView& module) {
  ImageRows rows(module);
  TableVerifier(rows).Run();
  BodyVerifier(rows).Run();
  return rows.Finish();
}

Result<void> Verify(const SpecialisedRegion& region, const Pool& pool) {
  return RegionVerifier(region, pool, nullptr).Run();
}

Result<void> Verify(const SpecialisedProgram& variant) {
  Surroundings surroundings;
  // Declarations come before entries, because functions refer to them.
  for (const SpecialisedDecl* decl : variant.interface) {
    surroundings.decls.Insert(decl->decl.value, decl);
    KILN_TRY_VOID(VerifyDecl(*decl, *variant.pool));
  }
  for (const EntryRef& entry : variant.entries) {
    KILN_TRY_VOID(VerifyEntry(entry, *variant.pool));
    surroundings.stage = entry.stage;
    // All functions of the entry are known before the first of them is verified, as a call may
    // stand in a function before the one it calls.
    for (const FunctionRef* function : entry.functions) {
      surroundings.decls[function->function.value] = function->signature;
    }
    for (const FunctionRef* function : entry.functions) {
      // Only the function of the entry itself may use the rows of its interface.
      surroundings.entry = function->function == entry.function ? &entry : nullptr;
      KILN_TRY_VOID(VerifyFunction(*function, *variant.pool, surroundings));
    }
  }
  return {};
}

}  // namespace kiln::ir
