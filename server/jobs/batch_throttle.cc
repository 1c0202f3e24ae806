// SPDX-License-Identifier: MIT
#include "server/jobs/batch_throttle.h"

#include <algorithm>
#include <array>

namespace kiln::jobs {
namespace {

constexpr double kTooMuch = 0.40;
constexpr double kLittle = 0.20;
constexpr uint32_t kLooksBetween = 5;

}  // namespace

void BatchThrottle::Look(const PressureSample& seen) {
  struct Resource {
    std::string_view name;
    double waited;
  };
  const std::array<Resource, 3> resources = {
      {{"memory", seen.memory_is_tight ? 1 : seen.memory}, {"io", seen.io}, {"cpu", seen.cpu}}};
  const Resource& worst = *std::ranges::max_element(resources, {}, &Resource::waited);
  if (looks_until_change_ != 0) {
    --looks_until_change_;
    return;
  }
  if (worst.waited > kTooMuch && most_ > 1) {
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
