// SPDX-License-Identifier: MIT
// When what changed on disk is pushed: the first event after quiet nearly at once, a burst when it
// is over. Times in, times out; nothing waits. See spec/daemon 8.2.3
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "compiler/base/clock.h"

namespace kiln::project {

class Debounce {
 public:
  static constexpr Duration kCalm = std::chrono::milliseconds(250);     // before an eager push
  static constexpr Duration kGather = std::chrono::milliseconds(2);     // of an eager push
  static constexpr Duration kLongest = std::chrono::milliseconds(250);  // a burst is held

  explicit Debounce(Duration quiet) : quiet_(quiet) {}

  // kPart: the file is about to change again, as one that was just deleted or created.
  enum class ChangeKind : uint8_t { kWhole, kPart };
  void Touch(Duration now, ChangeKind what) {
    if (!first_.has_value()) {
      first_ = now;
      eager_ = !last_.has_value() || now - *last_ >= kCalm;
      due_ = now + kLongest;
    }
    last_ = now;
    const bool at_once = eager_ && what == ChangeKind::kWhole;
    due_ = std::min({gathering_ ? due_ : now + (at_once ? kGather : quiet_), *first_ + kLongest});
    gathering_ = gathering_ || at_once;
  }

  // When to push; nothing: there is nothing to push.
  std::optional<Duration> Due() const {
    return first_.has_value() ? std::optional(due_) : std::nullopt;
  }

  void Pushed() {
    first_.reset();
    gathering_ = false;
  }

 private:
  const Duration quiet_;
  std::optional<Duration> last_;   // event ever
  std::optional<Duration> first_;  // event that waits
  Duration due_{};
  bool eager_ = false;
  bool gathering_ = false;  // an eager push is on its way
};

}  // namespace kiln::project
