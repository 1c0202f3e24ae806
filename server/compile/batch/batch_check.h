// SPDX-License-Identifier: MIT
// What StartBatch refuses at once, so that nobody waits for a batch that cannot be right.
#pragma once

#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "server/compile/batch/batch_points.h"
#include "server/compile/batch/batch_request.h"
#include "server/compile/batch/former_results.h"
#include "server/compile/cached_build.h"

namespace kiln::compile {

// Of one program of the request.
PointLimits LimitsOf(const BatchRequest& request, const BatchProgram& program);

// What can be told before anything is built: the budget, and the family rule at the values that
// every program fixes or defaults to. Programs with wrong sources pass: they fail as results. What
// former results stand for was told before, and was right.
// Errors: kResourceExhausted, LIMIT_VARIANTS; kInvalidArgument, SPACE_WRONG; kFailedPrecondition,
// FAMILY_MISMATCH; as CachedBuild::Prepare.
Result<void> CheckBatch(CachedBuild& builder, cache::BlobStore& store, const BatchRequest& request,
                        Clock& clock, const cache::Call& call, const FormerResults& former = {});

}  // namespace kiln::compile
