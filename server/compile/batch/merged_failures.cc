// SPDX-License-Identifier: MIT
// Diagnostics of many variants become few (spec/daemon 3.1): equal ones are one, with the number of
// variants that have it and the shortest condition over the options under which it occurs. The
// condition is found by looking at the points that were tried, so it is exact for these and a guess
// for nothing.
#include "server/compile/batch/merged_failures.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/diag/diagnostic.h"
#include "compiler/driver/failure_condition.h"
#include "compiler/driver/option_text.h"

namespace kiln::compile {
namespace {

// Every option that a point sets is an axis, in order of declaration; values count in the order of
// first use. The table has a row for each point and a column for each axis, with the number of the
// value in the axis, or kNoValue where the point leaves the option at its default. Three passes:
// which options are set, their values, the table. A value is found by search, which is enough for
// the values of an axis that differ (at most 4,096).
driver::TriedVariants TriedOf(const BatchPoints& points, std::span<const std::string> declared) {
  std::set<std::string> is_set;
  for (size_t i = 0; i < points.points.size(); ++i) {
    for (const resolve::OptionSetting& setting : points.points.At(i).options) {
      is_set.insert(setting.name);
    }
  }
  driver::TriedVariants tried;
  std::map<std::string, size_t> axis_of;
  for (const std::string& name : declared) {
    if (is_set.contains(name)) {
      axis_of.emplace(name, tried.axes.size());
      tried.axes.push_back({.name = name});
    }
  }
  for (size_t i = 0; i < points.points.size(); ++i) {
    for (const resolve::OptionSetting& setting : points.points.At(i).options) {
      const auto [place, added] = axis_of.emplace(setting.name, tried.axes.size());
      if (added) {
        tried.axes.push_back({.name = setting.name});
      }
      driver::Axis& axis = tried.axes[place->second];
      // Both values of a flag are known even if only one was tried; conditions say `fog` or `!fog`.
      if (setting.kind == ir::OptionKind::kFlag && !axis.is_flag) {
        axis.is_flag = true;
        axis.values = {"false", "true"};
      }
      const std::string text = driver::ValueText(setting);
      if (std::ranges::find(axis.values, text) == axis.values.end()) {
        axis.values.push_back(text);
      }
    }
  }
  for (size_t i = 0; i < points.points.size(); ++i) {
    const size_t row = tried.values.size();
    tried.values.resize(row + tried.axes.size(), driver::kNoValue);
    for (const resolve::OptionSetting& setting : points.points.At(i).options) {
      const size_t axis = axis_of.find(setting.name)->second;
      const std::vector<std::string>& values = tried.axes[axis].values;
      const auto value = std::ranges::find(values, driver::ValueText(setting));
      tried.values[row + axis] = static_cast<uint32_t>(value - values.begin());
    }
  }
  return tried;
}

// Saturating sum.
uint64_t Served(const BatchPoints& points, const std::vector<size_t>& some) {
  uint64_t sum = 0;
  for (const size_t point : some) {
    const uint64_t served = points.points.ServedBy(point);
    sum = served > std::numeric_limits<uint64_t>::max() - sum ? std::numeric_limits<uint64_t>::max()
                                                              : sum + served;
  }
  return sum;
}

// For the conditions of one program together; messages that come later get no condition.
constexpr uint64_t kMostLooks = uint64_t{1} << 26;

// Each number once.
std::vector<size_t> Sorted(std::vector<size_t> points) {
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace

// Failures are equal if their whole diagnostic is, so the same mistake of many variants is one row
// with many points. Beyond the bound of diagnostics only the failing points are counted.
void MergedFailures::Add(size_t point, std::span<const PlacedDiagnostic> diagnostics) {
  for (const PlacedDiagnostic& diagnostic : diagnostics) {
    auto known = std::ranges::find(found_, diagnostic, &Occurrence::diagnostic);
    if (known == found_.end()) {
      if (found_.size() == kMaxDiagnostics) {
        continue;
      }
      known = found_.insert(known, {.diagnostic = diagnostic, .points = {}});
    }
    known->points.push_back(point);
  }
  failing_.push_back(point);
}

uint64_t MergedFailures::Failing(const BatchPoints& points) const {
  return Served(points, Sorted(failing_));
}

// Each message gets the shortest condition under which it occurs (spec/daemon 3.1). Finding it
// looks at every value at every point, so the looks are estimated first and all messages together
// have a budget: those that do not fit are told without a condition.
std::vector<MergedFailure> MergedFailures::Merge(const BatchPoints& points,
                                                 std::span<const std::string> declared) const {
  const driver::TriedVariants tried = TriedOf(points, declared);
  uint64_t looks = 0;  // of one condition: every value at every point
  for (const driver::Axis& axis : tried.axes) {
    looks += std::max<size_t>(axis.values.size(), 2) * points.points.size();
  }
  uint64_t left = kMostLooks;
  std::vector<MergedFailure> merged;
  for (const Occurrence& found : found_) {
    MergedFailure& one = merged.emplace_back(MergedFailure{.diagnostic = found.diagnostic});
    // With one point there is nothing to tell apart.
    if (points.points.size() < 2) {
      continue;
    }
    const std::vector<size_t> failing = Sorted(found.points);
    std::vector<bool> fails(points.points.size());
    for (const size_t point : failing) {
      fails[point] = true;
    }
    one.example = points.points.At(failing.front()).options;
    one.diagnostic.variants = PlacedVariants{.failing = std::to_string(Served(points, failing)),
                                             .total = std::to_string(points.variants),
                                             .condition = {},
                                             .example = {}};
    if (looks <= left) {
      left -= looks;
      one.diagnostic.variants->condition = driver::ShortestCondition(tried, fails);
    }
  }
  std::ranges::stable_sort(merged, ReadsBefore, &MergedFailure::diagnostic);
  return merged;
}

}  // namespace kiln::compile
