// SPDX-License-Identifier: MIT
#include "server/jobs/batch_throttle.h"

#include <algorithm>
#include <array>

namespace kiln::jobs {
namespace {

// The shares of time at which batch work is halved and restored, and the looks (one a second) that
// a change has to show itself: spec/daemon 5.5. Between the two bounds nothing happens, or the
// number would swing.
constexpr double kTooMuch = 0.40;
constexpr double kLittle = 0.20;
constexpr uint32_t kLooksBetween = 5;

}  // namespace

void BatchThrottle::Look(const PressureSample& seen) {
  struct Resource {
    std::string_view name;
    double waited;
  };
  // Tight memory of this process counts as memory that all wait for: at the soft limit of
  // spec/daemon 9.5 the kernel may not stall anybody yet.
  const std::array<Resource, 3> resources = {
      {{"memory", seen.memory_is_tight ? 1 : seen.memory}, {"io", seen.io}, {"cpu", seen.cpu}}};
  const Resource& worst = *std::ranges::max_element(resources, {}, &Resource::waited);
  // The kernel's figures are means over ten seconds, so right after a change they still tell of the
  // time before it. Acting on them would halve again and again.
  if (looks_until_change_ != 0) {
    --looks_until_change_;
    return;
  }
  if (worst.waited > kTooMuch && most_ > 1) {
    // Halving gets out of trouble in a few steps, and going up by one finds the edge without
    // falling over it again. One job always runs.
    most_ /= 2;
    slowed_by_ = worst.name;
  } else if (worst.waited < kLittle && most_ < workers_) {
    ++most_;
    slowed_by_ = most_ == workers_ ? std::string_view() : slowed_by_;
  } else {
    return;
  }
  looks_until_change_ = kLooksBetween - 1;
}

}  // namespace kiln::jobs
