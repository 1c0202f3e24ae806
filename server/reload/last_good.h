// SPDX-License-Identifier: MIT
// The last good artifacts of a program whose sources are broken and that this process has not seen
// well: explain records that the same watch session left name the results, the cache may still have
// them.
// See spec/daemon 8.3.2, spec/cache 11
#pragma once

#include <span>
#include <vector>

#include "cache/explain/explain_ring.h"
#include "server/compile/batch/batch.h"
#include "server/compile/cached_build.h"
#include "server/reload/generation.h"

namespace kiln::reload {

// By target, then latest first; one for each variant of the space or of `interest`.
std::vector<BuiltVariant> FindLastGood(const compile::BatchProgram& program,
                                       std::span<const Interest> interest, const WorkOwner& whose,
                                       cache::ExplainRing& explains, compile::CachedBuild& builder,
                                       const cache::Call& call);

}  // namespace kiln::reload
