// SPDX-License-Identifier: MIT
// Programs and points -> what a pack is made from: every distinct result once, found in the cache
// or built first. Order of points and threads do not change it. See spec/cache 10.4, 10.5
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/pack/contents.h"
#include "server/compile/batch/batch.h"
#include "server/compile/cached_build.h"

namespace kiln::compile {

struct PackPoint {
  std::vector<resolve::OptionSetting> options;
  std::optional<pack::Warm> warm;  // built before the first frame; its live key is not used
  std::vector<size_t> targets;     // of the program; empty: all
};

struct PackProgram {
  std::vector<std::shared_ptr<const PreparedProgram>> targets;
  std::vector<PackPoint> points;
};

// One of the variants that have a blob: numbers of a program, of its target and of its point.
struct PackOrigin {
  size_t program = 0;
  size_t target = 0;
  size_t point = 0;
};

struct PackPlan {
  pack::Contents contents;  // without info
  std::unordered_map<Hash128, PackOrigin, Hash128Hash> blobs;
  uint64_t bytes = 0;               // of them
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

// The content of a plan while its pack is written. What a full store did not take, or lost since,
// is made again from its sources (spec/cache 8.5). One thread at a time.
class PackContent {
 public:
  // Requires: all outlive this; `plan` was made from `programs`.
  PackContent(CachedBuild& builder, std::span<const PackProgram> programs, const PackPlan& plan)
      : builder_(builder), programs_(programs), plan_(plan) {}

  // Errors: kUnavailable, CONTENT_LOST, if it is gone and its sources no longer give it; those of
  // CachedBuild::Build.
  Result<cache::Blob> Read(const Digest& digest, const cache::Call& call);

 private:
  CachedBuild& builder_;
  std::span<const PackProgram> programs_;
  const PackPlan& plan_;
  Outcome again_;  // made last: what is lost has neighbours that are lost, too
};

// The programs of a batch with the points of their spaces. Errors: as Prepare and PointsOf.
Result<std::vector<PackProgram>> PackProgramsOf(CachedBuild& builder, const BatchRequest& request,
                                                Clock& clock, const cache::Call& call);

}  // namespace kiln::compile
