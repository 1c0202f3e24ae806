// SPDX-License-Identifier: MIT
// Counting without enumeration (spec/daemon 6.4): the number of points that no exclusion drops, the
// point of a rank, and the assignments of live axes. All three ask one recursive count, memoised by
// the conditions that are left. Used by one thread; the memo grows with use and is dropped when it
// is too large.
#include "server/project/counter.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::project {
namespace {

using driver::Residuals;

// No axis: the option has one value everywhere.
constexpr uint32_t kNoAxis = 0xffffffffu;
// About what a node of a map and its bookkeeping take.
constexpr uint64_t kEntryBytes = 96;  // of a remembered count, beside its conditions

// Counts stop at the greatest number. A count that wraps would make a huge space look small, and a
// batch would begin it.
PointCount Product(PointCount a, PointCount b) {
  return b != 0 && a > kManyPoints / b ? kManyPoints : a * b;
}
PointCount Sum(PointCount a, PointCount b) { return a > kManyPoints - b ? kManyPoints : a + b; }

}  // namespace

// The type has 128 bits, for which the library has no text.
std::string TextOf(PointCount count) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(count % 10)));
    count /= 10;
  } while (count != 0);
  return text;
}

// Requires: exclusions are over axes alone. An exclusion that is always true drops every point.
Counter::Counter(const resolve::Program& program, std::vector<CountedAxis> axes,
                 driver::Residuals residuals, const std::vector<Residuals::Number>& exclusions)
    : program_(program),
      axes_(std::move(axes)),
      residuals_(std::move(residuals)),
      axis_of_(program.option_count(), kNoAxis) {
  for (uint32_t i = 0; i < axes_.size(); ++i) {
    axis_of_[axes_[i].option.value] = i;
  }
  // Conditions are numbers of residuals, equal ones have one number. So sets of them are sorted
  // lists of numbers, which is what makes them quick to compare and to remember.
  for (const Residuals::Number exclusion : exclusions) {
    drops_all_ = drops_all_ || exclusion == Residuals::kTrue;
    if (exclusion != Residuals::kFalse) {
      exclusions_.push_back(exclusion);
    }
  }
  std::ranges::sort(exclusions_);
  exclusions_.erase(std::unique(exclusions_.begin(), exclusions_.end()), exclusions_.end());
}

// Sorted and distinct, since the callers search and merge these lists.
std::vector<uint32_t> Counter::AxesOf(const Conditions& conditions) const {
  std::vector<uint32_t> axes;
  for (const Residuals::Number condition : conditions) {
    CheckStop();
    for (const uint32_t option : residuals_.OptionsOf(condition)) {
      KILN_CHECK(axis_of_[option] != kNoAxis, "option {} is no axis and was not given", option);
      axes.push_back(axis_of_[option]);
    }
  }
  std::ranges::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

// All points over the axes, as if nothing were excluded.
PointCount Counter::SizeOf(const std::vector<uint32_t>& axes,
                           const std::vector<uint32_t>& without) const {
  PointCount size = 1;
  for (const uint32_t axis : axes) {
    if (!std::ranges::binary_search(without, axis)) {
      size = Product(size, axes_[axis].values.size());
    }
  }
  return size;
}

// What is left of the conditions when an axis has a value. Nothing if the branch has no points;
// `failed_` is set where a condition cannot be evaluated.
std::optional<Counter::Conditions> Counter::Given(const Conditions& conditions, uint32_t axis,
                                                  uint32_t value) {
  Conditions left;
  for (const Residuals::Number condition : conditions) {
    CheckStop();
    const std::optional<Residuals::Number> rest =
        residuals_.With(condition, program_, axes_[axis].option, value);
    failed_ = failed_ || !rest.has_value();
    // An exclusion that holds drops all points of this branch. One that can no longer hold is left
    // out.
    if (!rest.has_value() || *rest == Residuals::kTrue) {
      return std::nullopt;
    }
    if (*rest != Residuals::kFalse) {
      left.push_back(*rest);
    }
  }
  std::ranges::sort(left);
  left.erase(std::unique(left.begin(), left.end()), left.end());
  return left;
}

// Conditions that share no axis, not even through others, are independent: what they allow
// multiplies. Groups are the connected components of that relation, found by merging. O(n²) sets
// for n conditions, of which a manifest has a few dozen.
std::vector<Counter::Conditions> Counter::Groups(const Conditions& conditions) const {
  std::vector<std::pair<std::vector<uint32_t>, Conditions>> groups;  // axes, conditions
  for (const Residuals::Number condition : conditions) {
    std::pair<std::vector<uint32_t>, Conditions> merged(AxesOf({condition}), {condition});
    for (auto group = groups.begin(); group != groups.end();) {
      CheckStop();
      std::vector<uint32_t> shared;
      std::ranges::set_intersection(group->first, merged.first, std::back_inserter(shared));
      if (shared.empty()) {
        ++group;
        continue;
      }
      std::vector<uint32_t> axes;
      std::ranges::set_union(group->first, merged.first, std::back_inserter(axes));
      merged.first = std::move(axes);
      merged.second.insert(merged.second.end(), group->second.begin(), group->second.end());
      group = groups.erase(group);
    }
    std::ranges::sort(merged.second);
    groups.push_back(std::move(merged));
  }
  std::vector<Conditions> result;
  result.reserve(groups.size());
  for (auto& [axes, group] : groups) {
    result.push_back(std::move(group));
  }
  return result;
}

// Counts the points over the axes of the conditions, and of these only, that none of them drops.
// This is counting the models of a formula, which nobody can do fast for all formulas. Three things
// make it fast for those that people write: independent groups multiply; a group that was met
// before is remembered, by the numbers of its conditions; and conditions are residuals, so that
// branches which leave the same conditions are the same group, whatever was chosen on the way.
// Nothing: the limits are used up.
std::optional<PointCount> Counter::Allowed(const Conditions& conditions) {
  PointCount points = 1;
  for (const Conditions& group : Groups(conditions)) {
    const auto known = known_.find(group);
    std::optional<PointCount> count;
    if (known != known_.end()) {
      count = known->second;
    } else if (MayGoOn()) {
      count = AllowedByBranching(group);
    }
    if (!count.has_value()) {
      return std::nullopt;
    }
    if (known == known_.end()) {
      const uint64_t bytes = kEntryBytes + group.size() * sizeof(Residuals::Number);
      ChargeMemory(bytes);
      known_bytes_ += bytes;
    }
    // Asked again and not by iterator: branching on this group has remembered others meanwhile.
    known_.insert_or_assign(group, *count);
    points = Product(points, *count);
  }
  return points;
}

// Asked before each group that has to be counted. A count that is given up is still an answer: an
// upper bound.
bool Counter::MayGoOn() const {
  return known_.size() < limits_.entries &&
         known_bytes_ + residuals_.bytes_used() < limits_.bytes && clock_->Monotonic() < end_;
}

// On the axis that occurs in most conditions, since that simplifies most of them and splits the
// group soonest. As deep as there are axes.
std::optional<PointCount> Counter::AllowedByBranching(const Conditions& conditions) {
  const std::vector<uint32_t> axes = AxesOf(conditions);
  std::map<uint32_t, uint32_t> mentions;
  for (const Residuals::Number condition : conditions) {
    for (const uint32_t option : residuals_.OptionsOf(condition)) {
      ++mentions[axis_of_[option]];
    }
  }
  const uint32_t axis = std::ranges::max_element(mentions, {}, [](const auto& mention) {
                          return mention.second;
                        })->first;
  std::vector<uint32_t> others = axes;
  std::erase(others, axis);
  PointCount points = 0;
  for (const uint32_t value : axes_[axis].values) {
    const std::optional<Conditions> left = Given(conditions, axis, value);
    if (!left.has_value()) {
      continue;
    }
    const std::optional<PointCount> count = Over(others, *left);
    if (!count.has_value()) {
      return std::nullopt;
    }
    points = Sum(points, *count);
  }
  return points;
}

std::optional<PointCount> Counter::Over(const std::vector<uint32_t>& axes,
                                        const Conditions& conditions) {
  const std::optional<PointCount> count = Allowed(conditions);
  if (!count.has_value()) {
    return std::nullopt;
  }
  // Axes that no condition mentions are free: all of their values are allowed with each point of
  // the others.
  return Product(SizeOf(axes, AxesOf(conditions)), *count);
}

// Counts the whole space within limits (spec/daemon 6.4.2). All other functions count without,
// since they are called only for spaces that were counted.
Counter::Count Counter::All(const Limits& limits, Clock& clock) {
  limits_ = limits;
  clock_ = &clock;
  end_ = clock.Monotonic() + limits.time;
  if (drops_all_) {
    return {.points = 0, .exact = true};
  }
  std::vector<uint32_t> axes(axes_.size());
  for (uint32_t i = 0; i < axes.size(); ++i) {
    axes[i] = i;
  }
  const std::optional<PointCount> count = Over(axes, exclusions_);
  // Not exact: the product of the sizes is an upper bound all the same.
  if (!count.has_value() || failed_) {
    return {.points = SizeOf(axes, {}), .exact = false};
  }
  return {.points = *count, .exact = true};
}

// The point of a rank, in the order in which the last axis varies fastest: axis by axis, each value
// has a count of points behind it, and those before the right one are skipped. So page 10,000 of a
// list costs as much as the first. Counts come from what is remembered.
std::vector<uint32_t> Counter::Unrank(PointCount rank) {
  const ChargedMemory charged;
  std::vector<uint32_t> point;
  Conditions conditions = exclusions_;
  std::vector<uint32_t> rest(axes_.size());
  for (uint32_t i = 0; i < rest.size(); ++i) {
    rest[i] = i;
  }
  Unlimited();
  for (uint32_t axis = 0; axis < axes_.size(); ++axis) {
    rest.erase(rest.begin());
    bool found = false;
    for (const uint32_t value : axes_[axis].values) {
      std::optional<Conditions> left = Given(conditions, axis, value);
      const PointCount count = left.has_value() ? *Over(rest, *left) : 0;
      if (rank < count) {
        point.push_back(value);
        conditions = std::move(*left);
        found = true;
        break;
      }
      rank -= count;
    }
    KILN_CHECK(found, "no allowed point has this rank");
  }
  return point;
}

// Exclusions with some axes held, as an exploration's boxes have them.
std::optional<Counter::Conditions> Counter::Given(const Held& held) {
  std::optional<Conditions> left = drops_all_ ? std::nullopt : std::optional(exclusions_);
  for (uint32_t axis = 0; axis < held.size() && left.has_value(); ++axis) {
    if (held[axis].has_value()) {
      left = Given(*left, axis, *held[axis]);
    }
  }
  return left;
}

std::vector<uint32_t> Counter::Free(const Held& held) {
  std::vector<uint32_t> axes;
  for (uint32_t axis = 0; axis < held.size(); ++axis) {
    if (!held[axis].has_value()) {
      axes.push_back(axis);
    }
  }
  return axes;
}

PointCount Counter::CountOf(const Held& held) {
  Unlimited();
  const std::optional<Conditions> left = Given(held);
  return left.has_value() ? *Over(Free(held), *left) : 0;
}

// The first one in the order of ranks: on each axis the first value that has a point behind it.
std::optional<std::vector<uint32_t>> Counter::First(const Held& held) {
  Unlimited();
  std::optional<Conditions> conditions = Given(held);
  std::vector<uint32_t> rest = Free(held);
  if (!conditions.has_value() || *Over(rest, *conditions) == 0) {
    return std::nullopt;
  }
  std::vector<uint32_t> point;
  for (uint32_t axis = 0; axis < axes_.size(); ++axis) {
    if (held[axis].has_value()) {
      point.push_back(*held[axis]);
      continue;
    }
    rest.erase(rest.begin());
    for (const uint32_t value : axes_[axis].values) {
      std::optional<Conditions> left = Given(*conditions, axis, value);
      if (left.has_value() && *Over(rest, *left) != 0) {
        point.push_back(value);
        conditions = std::move(left);
        break;
      }
    }
    KILN_CHECK(point.size() == axis + 1, "no value of an axis is allowed where one must be");
  }
  return point;
}

std::vector<std::vector<uint32_t>> Counter::AxisValues() const {
  std::vector<std::vector<uint32_t>> values;
  for (const CountedAxis& axis : axes_) {
    values.push_back(axis.values);
  }
  return values;
}

// What is remembered stays bounded: it is cheaper to count again than to fill the memory.
void Counter::Unlimited() {
  if (known_.size() > Limits{}.entries) {
    known_.clear();
    known_bytes_ = 0;
  }
  limits_ = {.entries = SIZE_MAX, .time = Duration::max(), .bytes = UINT64_MAX};
  end_ = Duration::max();
}

// Nothing if there are more than `limit`, which is told before more than that were made.
std::optional<std::vector<Counter::LivePoint>> Counter::LivePoints(const std::vector<bool>& live,
                                                                   size_t limit) {
  Unlimited();
  std::vector<uint32_t> order;
  // Live axes first. AddLivePoints relies on that.
  for (const bool wanted : {true, false}) {
    for (uint32_t axis = 0; axis < axes_.size(); ++axis) {
      if (live[axis] == wanted) {
        order.push_back(axis);
      }
    }
  }
  ChargeMemory(uint64_t{order.size()} * order.size() * sizeof(uint32_t));  // of the recursion
  std::vector<LivePoint> points;
  LivePoint point{.values = std::vector<uint32_t>(axes_.size()), .served = 0};
  const auto live_count = static_cast<size_t>(std::ranges::count(live, true));
  if (drops_all_ || AddLivePoints(order, 0, live_count, exclusions_, point, limit, points)) {
    return points;
  }
  return std::nullopt;
}

// An upper bound of distinct results (spec/daemon 6.5.2), in one count.
PointCount Counter::LiveBound(const std::vector<bool>& live) {
  Unlimited();
  std::vector<uint32_t> axes;
  for (uint32_t axis = 0; axis < axes_.size(); ++axis) {
    if (live[axis]) {
      axes.push_back(axis);
    }
  }
  Conditions conditions;
  for (const driver::Residuals::Number exclusion : exclusions_) {
    const std::vector<uint32_t> mentioned = AxesOf({exclusion});
    // Conditions over other axes are left out: they may drop every point of a live combination or
    // none. Without them the number is an upper bound.
    if (std::ranges::all_of(mentioned, [&](uint32_t axis) { return live[axis]; })) {
      conditions.push_back(exclusion);
    }
  }
  return drops_all_ ? 0 : *Over(axes, conditions);
}

// Otherwise the bound is exact.
bool Counter::MentionsDead(const std::vector<bool>& live) const {
  return std::ranges::any_of(AxesOf(exclusions_), [&](uint32_t axis) { return !live[axis]; });
}

// Axes that nothing reads come last in the order. Up to them every allowed value is tried; what is
// left then is how many points share the result, and any one of these stands for all. As deep as
// there are axes. Every branch that is entered holds a point, so no work is done for nothing.
bool Counter::AddLivePoints(const std::vector<uint32_t>& order, size_t next, size_t live_count,
                            const Conditions& conditions, LivePoint& point, size_t limit,
                            std::vector<LivePoint>& points) {
  CheckStop();
  const std::vector<uint32_t> rest(order.begin() + static_cast<ptrdiff_t>(next), order.end());
  const auto count_of = [&](std::vector<uint32_t> axes, const Conditions& of) {
    std::ranges::sort(axes);
    return *Over(axes, of);
  };
  if (next == live_count) {
    point.served = count_of(rest, conditions);
    if (point.served == 0) {
      return true;
    }
  }
  if (next == order.size()) {
    ChargeMemory(sizeof(LivePoint) + point.values.size() * sizeof(uint32_t));
    points.push_back(point);
    return points.size() <= limit;
  }
  const std::vector<uint32_t> behind(rest.begin() + 1, rest.end());
  for (const uint32_t value : axes_[order[next]].values) {
    const std::optional<Conditions> left = Given(conditions, order[next], value);
    if (!left.has_value() || count_of(behind, *left) == 0) {
      continue;
    }
    point.values[order[next]] = value;
    if (!AddLivePoints(order, next + 1, live_count, *left, point, limit, points)) {
      return false;
    }
    if (next >= live_count) {
      return true;  // one completion is enough
    }
  }
  return true;
}

}  // namespace kiln::project
