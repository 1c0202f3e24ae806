// SPDX-License-Identifier: MIT
// Expansion by signature (spec/daemon 6.6.1): a list of disjoint boxes that together hold all
// points not served yet. One mutex guards it; chunks take boxes from the front and give back what
// splitting them left. It ends when the list is empty and nothing is taken, or when a bound is met,
// and then says which.
#include "server/compile/batch/exploration.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"
#include "server/compile/batch/batch_points.h"

namespace kiln::compile {

// Options that any target read, since a point is built for all targets (spec/daemon 6.6.1).
// `trace.live_options` is sorted, and so is the union. The hash of the signatures counts distinct
// results.
void Exploration::Reading::Add(const BuildTrace& trace) {
  std::vector<std::string> both;
  std::ranges::set_union(live_, trace.live_options, std::back_inserter(both));
  live_ = std::move(both);
  results_.Update(AsBytes(trace.signature.hex()));
}

// Boxes that are left are a queue; the first is the whole space, with its lowest-ranked allowed
// point.
Exploration::Exploration(project::Space space, project::Counter counter, uint64_t results,
                         uint64_t bound)
    : space_(std::move(space)),
      axes_(space_.AxisNames()),
      axis_values_(counter.AxisValues()),
      results_(results),
      bound_(bound),
      counter_(std::move(counter)) {
  project::Counter::Held all(axes_.size());
  if (std::optional<std::vector<uint32_t>> first = counter_.First(all); first.has_value()) {
    left_.push_back({.held = std::move(all), .values = std::move(*first)});
  }
}

// Nothing is taken any more once a bound was met, so chunks that work now are the last.
std::optional<Exploration::Node> Exploration::Take() {
  const MutexLock lock(mutex_);
  if (left_.empty() || OverLocked()) {
    return std::nullopt;
  }
  // A child keeps the values of its parent for the axes before it and has another one for this
  // axis, so the boxes of one node are disjoint and cover everything but what the node serves.
  // Boxes without an allowed point are dropped by First. At most (values - 1) boxes an axis; their
  // bytes are counted, because a hostile space may make millions of them.
  Node node = std::move(left_.front());
  left_.pop_front();
  ++taken_;
  return node;
}

// A node serves every point that agrees with it on all options that it read. Other points differ
// first in one of these options; for each option, they agree on those before it.
uint64_t Exploration::Expand(const Node& node, Reading read) {
  const MutexLock lock(mutex_);
  --taken_;
  found_.insert(read.results_.Finish().id);
  given_up_ = true;  // unless it is done below
  const uint64_t bytes_of_node = sizeof(Node) + sizeof(BatchPoint) +
                                 axes_.size() * (sizeof(project::Counter::Held::value_type) +
                                                 sizeof(uint32_t) + sizeof(resolve::OptionSetting));
  project::Counter::Held held = node.held;
  // Axes that the box holds already have one value in it; axes that were not read do not matter for
  // the result.
  for (size_t axis = 0; axis < axes_.size(); ++axis) {
    if (held[axis].has_value() || !std::ranges::binary_search(read.live_, axes_[axis])) {
      continue;
    }
    for (const uint32_t value : axis_values_[axis]) {
      if (value != node.values[axis]) {
        held[axis] = value;
        CheckStop();
        if (std::optional<std::vector<uint32_t>> first = counter_.First(held); first.has_value()) {
          left_.push_back({.held = held, .values = std::move(*first)});
          bytes_ += bytes_of_node;
          if (bytes_ > kMaxPointBytes) {
            return 0;
          }
        }
      }
    }
    held[axis] = node.values[axis];
  }
  const project::PointCount served = counter_.CountOf(held);
  given_up_ = false;
  return served > std::numeric_limits<uint64_t>::max() ? std::numeric_limits<uint64_t>::max()
                                                       : static_cast<uint64_t>(served);
}

// A node that could not be built serves nothing, and its box is not split: the batch tells what it
// did not build.
void Exploration::Abandon() {
  const MutexLock lock(mutex_);
  --taken_;
}

bool Exploration::Over() {
  const MutexLock lock(mutex_);
  return OverLocked();
}

// Nodes that are taken may still bring new ones, so an empty list alone is no end.
bool Exploration::Done() {
  const MutexLock lock(mutex_);
  return taken_ == 0 && (left_.empty() || OverLocked());
}

// Two bounds: how many results may be found, and how much may be left to look at.
Error Exploration::TooMany() {
  const MutexLock lock(mutex_);
  if (found_.size() > results_) {
    return TooManyFound(space_, results_);
  }
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("after {} distinct results too much is left to look at; exclude "
                                 "more, or cut axes",
                                 found_.size()),
          .reason = "LIMIT_VARIANTS"};
}

}  // namespace kiln::compile
