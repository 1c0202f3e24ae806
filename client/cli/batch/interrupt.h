// SPDX-License-Identifier: MIT
// Ctrl-C while a batch is followed, and behind it. The first one cancels the batch, and the command
// goes on to its summary as soon as the daemon has said so. Where that takes longer than a second,
// the command ends without it, whatever its other threads wait for; and so does a second Ctrl-C,
// and one behind the batch, while results are fetched and written. The exit code is 130 each time.
// See spec/cli 4.2
#pragma once

#include <chrono>
#include <functional>

#include "client/cli/global.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cli {

// One at a time.
class BatchInterrupt {
 public:
  // `cancel` is called by a thread of its own, once, and may take as long as it likes.
  BatchInterrupt(const Global& global, std::function<void()> cancel);
  // Waits until `cancel` is done.
  ~BatchInterrupt();
  BatchInterrupt(const BatchInterrupt&) = delete;
  BatchInterrupt& operator=(const BatchInterrupt&) = delete;

  // Since the process began.
  static bool Happened();

 private:
  static constexpr auto kPatience = std::chrono::seconds(1);

  void EndInTime() KILN_EXCLUDES(mutex_);

  const Global& global_;
  Mutex mutex_;
  CondVar changed_;
  bool over_ KILN_GUARDED_BY(mutex_) = false;
  Thread cancels_, ends_;
};

}  // namespace kiln::cli
