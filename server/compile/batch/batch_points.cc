// SPDX-License-Identifier: MIT
// From the space of a program to the list of what a batch builds for it (spec/daemon 6.5, 6.6).
// Three ways, tried in this order: counting, where the conditions allow it, gives one point for
// each assignment of live axes with the number of variants that it serves; exploring discovers the
// points while they are built, where there are too many to list; walking tries every combination,
// where conditions cannot be counted. Explicit variants come before all of them.
#include "server/compile/batch/batch_points.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"
#include "server/compile/batch/exploration.h"

namespace kiln::compile {
namespace {

// As many as fit a sentence.
constexpr size_t kAdvisedAxes = 5;

uint64_t Saturated(project::PointCount count) {
  return count > std::numeric_limits<uint64_t>::max() ? std::numeric_limits<uint64_t>::max()
                                                      : static_cast<uint64_t>(count);
}

// "fog (2 values)", the axes with most values first.
std::string AxesToCut(const project::Space& space, const std::vector<bool>& live) {
  const std::vector<std::string> names = space.AxisNames();
  // Axes with one value cannot be cut, dead ones bring no results.
  const std::vector<size_t> sizes = space.AxisSizes();
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < names.size(); ++axis) {
    if (live[axis] && sizes[axis] > 1) {
      axes.push_back(axis);
    }
  }
  std::ranges::stable_sort(axes, [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  std::string text;
  for (size_t i = 0; i < std::min(axes.size(), kAdvisedAxes); ++i) {
    text += fmt::format("{}'{}' ({} values)", i == 0 ? "" : ", ", names[axes[i]], sizes[axes[i]]);
  }
  return text;
}

// The bound is told in full, though it may have more digits than anybody counts.
Error TooMany(const project::Space& space, const std::vector<bool>& live, const std::string& bound,
              uint64_t limit) {
  return {
      .code = ErrorCode::kResourceExhausted,
      .context = fmt::format("up to {} distinct results, the budget is {}; exclude more, or cut "
                             "axes, first {}",
                             bound, limit, AxesToCut(space, live)),
      .reason = "LIMIT_VARIANTS"};
}

// `limits.variants` is 0 where nobody set a budget; only then are variants unbounded
// (spec/daemon 6.5.3).
Result<void> CheckVariants(project::PointCount all, const PointLimits& limits) {
  if (limits.variants != 0 && all > limits.variants) {
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = fmt::format("{} variants, the budget is {}; exclude more, or cut axes",
                                        project::TextOf(all), limits.variants),
                 .reason = "LIMIT_VARIANTS"};
  }
  return {};
}

// The points of the axes, if there are not too many.
Result<std::vector<project::Counter::LivePoint>> Counted(const project::Space& space,
                                                         project::Counter& counter,
                                                         project::PointCount all,
                                                         uint64_t max_results) {
  max_results = std::min(max_results, kMaxResults);
  const std::vector<bool> live = space.LiveAxes();
  const project::PointCount bound = counter.LiveBound(live);
  // The bound counts assignments of live axes, some of which may be excluded as a whole. Whether
  // that brings it below the budget is found by listing, which costs what the counter's diagram
  // has, and is not tried where no exclusion mentions a dead axis: then the bound is exact.
  auto found = bound > max_results && !counter.MentionsDead(live)
                   ? std::nullopt
                   : counter.LivePoints(live, max_results);
  if (!found.has_value()) {
    return TooMany(space, live, project::TextOf(std::min(bound, all)), max_results);
  }
  return std::move(*found);
}

// Adds the points of the axes to the explicit variants, or an exploration that discovers them.
Result<void> AddCounted(project::Space& space, project::Counter& counter, project::PointCount all,
                        const PointLimits& limits, BatchPoints& points) {
  // Rejected by the budget unless the request allows to explore, where building finds out how many
  // distinct results there are (spec/daemon 6.5.3).
  const Result<std::vector<project::Counter::LivePoint>> found =
      Counted(space, counter, all, limits.results);
  if (!found.ok() && limits.explore == 0) {
    return found.error();
  }
  points.variants = Saturated(project::PointCount{points.variants} + all);
  if (!found.ok()) {
    const uint64_t bound = Saturated(std::min(counter.LiveBound(space.LiveAxes()), all));
    points.exploration = std::make_shared<Exploration>(
        std::move(space), std::move(counter), std::min(limits.explore, kMaxResults), bound);
    return {};
  }
  for (const project::Counter::LivePoint& point : *found) {
    AddCharged({.options = space.SettingsOf(point.values), .served = Saturated(point.served)},
               points.points);
  }
  points.points.Shrink();
  return {};
}

// Spaces whose conditions are beyond the counter's budget are walked, combination by combination.
// That is bounded twice: by what is walked and by what the limits of the batch allow.
Result<void> AddWalked(project::Space& space, const project::SpaceRequest& request,
                       BatchPoints& points) {
  if (space.combinations() > kMaxWalked) {
    return TooManyToWalk(space.combinations());
  }
  Diagnosed<project::Space::Page> page = space.List(0, kMaxWalked);
  if (!page.ok()) {
    return WrongSpace(request, page.diagnostics);
  }
  points.variants += page.value->points.size();
  for (std::vector<resolve::OptionSetting>& options : page.value->points) {
    points.points.Add({.options = std::move(options)});
  }
  return {};
}

}  // namespace

// The list grows by what the sender of the space chose, so it counts as memory of the call.
void AddCharged(const BatchPoint& point, PointRows& points) {
  const uint64_t before = points.bytes();
  points.Add(point);
  ChargeMemory(points.bytes() - before);
}

// All mistakes in one sentence each, with their places in the manifest: whoever sees the error may
// have no other output.
Error WrongSpace(const project::SpaceRequest& request, const std::vector<Diagnostic>& diagnostics) {
  std::string text = "the option space is wrong";
  for (const Diagnostic& diagnostic : diagnostics) {
    const PlacedDiagnostic placed = project::PlaceIn(request, diagnostic);
    text +=
        fmt::format("; {}{} [{}]",
                    placed.primary.known() ? fmt::format("{}:{}:{}: ", placed.primary.path,
                                                         placed.primary.line, placed.primary.column)
                                           : std::string(),
                    placed.message, placed.code);
  }
  return {.code = ErrorCode::kInvalidArgument, .context = text, .reason = "SPACE_WRONG"};
}

Error TooManyToWalk(uint64_t combinations) {
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("the axes span {} combinations that can only be walked, the "
                                 "limit is {}; cut an axis or exclude more",
                                 combinations, kMaxWalked),
          .reason = "LIMIT_VARIANTS"};
}

Error TooManyFound(const project::Space& space, uint64_t results) {
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("more than {} distinct results were found, which is what may be "
                                 "explored; allow more, exclude more, or cut axes, first {}",
                                 results, AxesToCut(space, space.LiveAxes())),
          .reason = "LIMIT_VARIANTS"};
}

// Without a counter the space can only be walked.
namespace {

// A space and how many points it has, if that can be told without walking.
struct SpaceMeasure {
  project::Space space;
  std::optional<project::Counter> counter;
  project::Counter::Count all;

  bool counted() const { return counter.has_value() && all.exact; }
};

Result<SpaceMeasure> Measure(const driver::LinkedProgram& program,
                             const project::SpaceRequest& request, Clock& clock) {
  CheckStop();
  Diagnosed<project::Space> space = project::Space::Make(program, request);
  if (!space.ok()) {
    return WrongSpace(request, space.diagnostics);
  }
  std::optional<project::Counter> counter =
      request.only_explicit ? std::nullopt : space.value->MakeCounter();
  SpaceMeasure measured{.space = std::move(*space.value), .counter = std::move(counter), .all = {}};
  // The counter's own budget of memory and time (spec/daemon 6.4.2) decides whether `all` is exact.
  if (measured.counter.has_value()) {
    measured.all = measured.counter->All({}, clock);
  }
  return measured;
}

}  // namespace

// What StartBatch answers with before it accepts a batch: the same decisions as PointsOf, without
// making the list where the bound is below the budget.
Result<void> CheckPoints(const driver::LinkedProgram& program, const project::SpaceRequest& request,
                         const PointLimits& limits, Clock& clock) {
  KILN_TRY(SpaceMeasure measured, Measure(program, request, clock));
  if (request.only_explicit) {
    return CheckVariants(request.variants.size(), limits);
  }
  if (!measured.counted()) {
    return measured.space.combinations() > kMaxWalked
               ? Result<void>(TooManyToWalk(measured.space.combinations()))
               : Result<void>();
  }
  KILN_TRY_VOID(CheckVariants(measured.all.points + request.variants.size(), limits));
  if (limits.explore != 0 ||
      measured.counter->LiveBound(measured.space.LiveAxes()) <= limits.results) {
    return {};
  }
  const Result<std::vector<project::Counter::LivePoint>> points =
      Counted(measured.space, *measured.counter, measured.all.points, limits.results);
  return points.ok() ? Result<void>() : Result<void>(points.error());
}

Result<BatchPoints> PointsOf(const driver::LinkedProgram& program,
                             const project::SpaceRequest& request, const PointLimits& limits,
                             Clock& clock) {
  KILN_TRY(SpaceMeasure measured, Measure(program, request, clock));
  // Explicit variants come first and are looked up one by one (spec/daemon 6.6.4), warm ones before
  // all others (spec/daemon 6.2).
  BatchPoints points;
  const std::vector<std::vector<resolve::OptionSetting>>& variants =
      measured.space.explicit_variants();
  for (const bool warm : {true, false}) {  // warm ones first
    for (size_t i = 0; i < variants.size(); ++i) {
      if ((i < request.warm.size() && request.warm[i]) == warm) {
        AddCharged({.options = variants[i],
                    .targets = i < request.variant_targets.size() ? request.variant_targets[i]
                                                                  : std::vector<uint32_t>(),
                    .warm = warm},
                   points.points);
      }
    }
  }
  points.variants = points.points.size();
  if (!request.only_explicit) {
    KILN_TRY_VOID(measured.counted() ? AddCounted(measured.space, *measured.counter,
                                                  measured.all.points, limits, points)
                                     : AddWalked(measured.space, request, points));
  }
  KILN_TRY_VOID(CheckVariants(points.variants, limits));
  return points;
}

}  // namespace kiln::compile
