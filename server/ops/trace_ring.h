// SPDX-License-Identifier: MIT
// What the last calls did and for how long, by trace id: the last 10,000. See spec/daemon 13.4
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"

namespace kiln::ops {

struct TraceSpan {
  std::string_view name;  // queue, run
  Duration start{};       // since the call began
  Duration length{};
};

struct CallTrace {
  std::string id;
  std::string parent = {};  // span of the caller, 16 hex digits; empty if it told none
  std::string_view method;  // a literal
  std::string code;
  Duration at{};  // Unix time
  Duration length{};
  std::vector<TraceSpan> spans;
};

// Safe from any thread.
class TraceRing {
 public:
  static constexpr size_t kKept = 10'000;

  void Add(CallTrace trace);
  std::vector<CallTrace> Find(std::string_view id);  // oldest first; a client may use an id twice

 private:
  Mutex mutex_;
  std::deque<CallTrace> traces_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::ops
