// SPDX-License-Identifier: MIT
// Programs and points -> what a pack is made from: every distinct result once, found in the cache
// or built first. Order of points and threads do not change it. Spec: cache §10.4, §10.5
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/pack/contents.h"
#include "server/build/batch.h"
#include "server/build/cached_build.h"

namespace kiln::build {

struct PackPoint {
  std::vector<resolve::OptionSetting> options;
  std::optional<pack::Warm> warm;  // built before the first frame; its live key is not used
  std::vector<size_t> targets;     // of the program; empty: all
};

struct PackProgram {
  std::vector<std::shared_ptr<const PreparedProgram>> targets;
  std::vector<PackPoint> points;
};

struct PackPlan {
  pack::Contents contents;          // without info
  uint64_t blobs = 0;               // distinct
  uint64_t pipelines = 0;           // distinct states
  uint64_t failed = 0;              // points without artifact, because their source is wrong
  std::vector<cache::Key> records;  // of all results
};

// `done` of `total` points were looked up.
using PackProgress = std::function<void(uint64_t done, uint64_t total)>;

// Programs of equal names must be one program. Errors: kInvalidArgument, MALFORMED_REQUEST, if they
// are not; kResourceExhausted, LIMIT_EXCEEDED, for more than a pack may have; those of
// CachedBuild::Build and of storing.
Result<PackPlan> PlanPack(CachedBuild& builder, cache::BlobStore& store,
                          std::span<const PackProgram> programs, const PackProgress& progress,
                          const cache::Call& call);

// The programs of a batch with the points of their spaces. Errors: as Prepare and PointsOf.
Result<std::vector<PackProgram>> PackProgramsOf(CachedBuild& builder, const BatchRequest& request,
                                                Clock& clock, const cache::Call& call);

}  // namespace kiln::build
