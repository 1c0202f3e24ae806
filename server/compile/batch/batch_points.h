// SPDX-License-Identifier: MIT
// What a batch builds of one program: one point for every assignment of the axes that the program
// mentions, with the number of allowed variants it stands for, counted and not walked.
// See spec/daemon 6.4, 6.5
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/driver/request.h"
#include "server/compile/rows/point_rows.h"
#include "server/project/space.h"

namespace kiln::compile {

class Exploration;

struct BatchPoints {
  PointRows points;       // explicit variants first, then in rank order
  uint64_t variants = 0;  // allowed ones and explicit ones; saturates
  // Not null: points has only the explicit variants, the others have to be discovered.
  std::shared_ptr<Exploration> exploration = nullptr;
};

// Adds a point and charges its memory (compiler/base/threads/stop).
void AddCharged(const BatchPoint& point, PointRows& points);

// Points of a space that can only be walked, at most.
inline constexpr uint64_t kMaxWalked = 4'000'000;
// Distinct results of a program that a request may ask for: also what it gets if it does not say.
inline constexpr uint64_t kMaxResults = 100'000;
// Of all programs of a batch together, each target counted: no more than a pack can hold.
inline constexpr uint64_t kMaxBatchResults = 1'000'000;
// Memory of the points of a batch.
inline constexpr uint64_t kMaxPointBytes = uint64_t{1} << 30;

// kInvalidArgument, SPACE_WRONG, with every message.
Error WrongSpace(const project::SpaceRequest& request, const std::vector<Diagnostic>& diagnostics);
// kResourceExhausted, LIMIT_VARIANTS.
Error TooManyToWalk(uint64_t combinations);
Error TooManyFound(const project::Space& space, uint64_t results);

// How large the space of one program may be; 0: no limit.
struct PointLimits {
  uint64_t results = kMaxResults;  // points that are built; no more than that in any case
  uint64_t variants = 0;           // allowed points
  uint64_t explore = 0;            // distinct results to discover where there may be more points
};

// Whether PointsOf would refuse the space, mostly without listing it. Errors: as PointsOf. Both ask
// CheckStop and charge what they keep (compiler/base/threads/stop).
Result<void> CheckPoints(const driver::LinkedProgram& program, const project::SpaceRequest& request,
                         const PointLimits& limits, Clock& clock);

// Errors: kInvalidArgument, SPACE_WRONG; kResourceExhausted, LIMIT_VARIANTS if there are more
// points than the limits allow and nothing may be explored, with the axes to cut first. An
// exploration refers to the program.
Result<BatchPoints> PointsOf(const driver::LinkedProgram& program,
                             const project::SpaceRequest& request, const PointLimits& limits,
                             Clock& clock);

}  // namespace kiln::compile
