// SPDX-License-Identifier: MIT
#include "server/compile/batch/exploration.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"
#include "server/compile/batch/batch_points.h"

namespace kiln::compile {

void Exploration::Reading::Add(const BuildTrace& trace) {
  std::vector<std::string> both;
  std::ranges::set_union(live_, trace.live_options, std::back_inserter(both));
  live_ = std::move(both);
  results_.Update(AsBytes(trace.signature.hex()));
}

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

std::optional<Exploration::Node> Exploration::Take() {
  const MutexLock lock(mutex_);
  if (left_.empty() || OverLocked()) {
    return std::nullopt;
  }
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

void Exploration::Abandon() {
  const MutexLock lock(mutex_);
  --taken_;
}

bool Exploration::Over() {
  const MutexLock lock(mutex_);
  return OverLocked();
}

bool Exploration::Done() {
  const MutexLock lock(mutex_);
  return taken_ == 0 && (left_.empty() || OverLocked());
}

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
