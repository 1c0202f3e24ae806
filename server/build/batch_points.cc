// SPDX-License-Identifier: MIT
#include "server/build/batch_points.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace kiln::build {
namespace {

constexpr size_t kAdvisedAxes = 5;

uint64_t Saturated(project::PointCount count) {
  return count > std::numeric_limits<uint64_t>::max() ? std::numeric_limits<uint64_t>::max()
                                                      : static_cast<uint64_t>(count);
}

// "fog (2 values)", the axes with most values first.
std::string AxesToCut(const project::Space& space, const std::vector<bool>& live) {
  const std::vector<std::string> names = space.AxisNames();
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

Error TooMany(const project::Space& space, const std::vector<bool>& live, const std::string& bound,
              uint64_t limit) {
  return {
      .code = ErrorCode::kResourceExhausted,
      .context = fmt::format("up to {} distinct results, the budget is {}; exclude more, or cut "
                             "axes, first {}",
                             bound, limit, AxesToCut(space, live)),
      .reason = "LIMIT_VARIANTS"};
}

// Adds what the axes give to the explicit variants.
Result<void> AddCounted(const project::Space& space, project::Counter& counter,
                        project::PointCount all, uint64_t max_results, BatchPoints& points) {
  const std::vector<bool> live = space.LiveAxes();
  const project::PointCount bound = counter.LiveBound(live);
  const auto found = bound > max_results && !counter.MentionsDead(live)
                         ? std::nullopt
                         : counter.LivePoints(live, max_results);
  if (!found.has_value()) {
    return TooMany(space, live, project::TextOf(std::min(bound, all)), max_results);
  }
  for (const project::Counter::LivePoint& point : *found) {
    points.points.push_back(
        {.options = space.SettingsOf(point.values), .served = Saturated(point.served)});
  }
  points.variants = Saturated(project::PointCount{points.variants} + all);
  return {};
}

Result<void> AddWalked(project::Space& space, BatchPoints& points) {
  if (space.combinations() > kMaxWalked) {
    return TooManyToWalk(space.combinations());
  }
  Diagnosed<project::Space::Page> page = space.List(0, kMaxWalked);
  if (!page.ok()) {
    return WrongSpace(page.diagnostics);
  }
  points.variants += page.value->points.size();
  for (std::vector<resolve::OptionSetting>& options : page.value->points) {
    points.points.push_back({.options = std::move(options)});
  }
  return {};
}

}  // namespace

Error WrongSpace(const std::vector<Diagnostic>& diagnostics) {
  std::string text = "the option space is wrong";
  for (const Diagnostic& diagnostic : diagnostics) {
    text += "; " + Message(diagnostic) + " [" + std::string(CodeText(diagnostic.code)) + "]";
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

Result<BatchPoints> PointsOf(const driver::LinkedProgram& program,
                             const project::SpaceRequest& request, uint64_t max_results,
                             Clock& clock) {
  Diagnosed<project::Space> space = project::Space::Make(program, request);
  if (!space.ok()) {
    return WrongSpace(space.diagnostics);
  }
  BatchPoints points;
  for (const std::vector<resolve::OptionSetting>& options : space.value->explicit_variants()) {
    points.points.push_back({.options = options});
  }
  points.variants = points.points.size();
  if (request.only_explicit) {
    return points;
  }
  std::optional<project::Counter> counter = space.value->MakeCounter();
  project::Counter::Count all;
  if (counter.has_value()) {
    all = counter->All({}, clock);
  }
  KILN_TRY_VOID(counter.has_value() && all.exact
                    ? AddCounted(*space.value, *counter, all.points, max_results, points)
                    : AddWalked(*space.value, points));
  return points;
}

}  // namespace kiln::build
