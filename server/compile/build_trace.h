// SPDX-License-Identifier: MIT
// What happened to one request on its way through CachedBuild, for whoever explains it.
// See spec/cache 11.2
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/explain/explain.h"
#include "cache/name_list.h"
#include "compiler/base/clock.h"

namespace kiln::compile {

struct BuildTrace {
  cache::ExplainResult result = cache::ExplainResult::kMiss;
  std::string level;  // that was reached: options, module, variant, live
  std::optional<cache::NameList> mask;
  cache::NameList live_options;
  Hash128 signature;             // zero if there is none
  uint64_t bytes = 0;            // of the products
  uint64_t regions_lowered = 0;  // for this build; what was known already costs none
  std::vector<std::pair<std::string, uint64_t>> stage_us;
  cache::Cause cause = cache::Cause::kNone;  // if it is known already
  std::string detail;
  std::vector<cache::NamedText> options;  // all, in order of declaration
};

// Adds what passed since the last lap as a stage of the trace, if there is one.
class StageWatch {
 public:
  // Both must outlive the watch.
  StageWatch(Clock& clock, BuildTrace* trace)
      : clock_(clock), trace_(trace), last_(trace == nullptr ? Duration{} : clock.Monotonic()) {}

  void Lap(const char* stage) {
    if (trace_ != nullptr) {
      const Duration now = clock_.Monotonic();
      trace_->stage_us.emplace_back(
          stage, std::chrono::duration_cast<std::chrono::microseconds>(now - last_).count());
      last_ = now;
    }
  }

 private:
  Clock& clock_;
  BuildTrace* const trace_;
  Duration last_;
};

}  // namespace kiln::compile
