// SPDX-License-Identifier: MIT
// Records that a damaged store lost -> the same records again: from an upstream, or compiled from
// sources that are here, as the explain records name them. See spec/cache 6.7, 9
#pragma once

#include <set>

#include "server/rpc/calls/compile_calls.h"

namespace kiln::rpc {

struct RestoreReport {
  uint64_t refetched = 0;
  uint64_t recompiled = 0;
};

// The request that left the record; its sources are named, and have no text.
v1::Variant VariantOf(const cache::ExplainRecord& record);

// What can be had neither way stays a miss: the next request makes it. Errors: kCancelled.
Result<RestoreReport> RestoreLost(Engine& engine, const std::set<cache::Key>& lost,
                                  const cache::Call& call);

}  // namespace kiln::rpc
