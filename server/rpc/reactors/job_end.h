// SPDX-License-Identifier: MIT
// What follows a job, exactly once, whatever becomes of the job: whoever has it tells how it ended,
// and if nobody does, because the job was dropped, the last one that lets go of it.
//
// Threads: Tell by one, which the job's own order sees to; letting go by any.
#pragma once

#include <functional>
#include <utility>

#include "compiler/base/result.h"
#include "compiler/base/threads/thread.h"

namespace kiln::rpc {

class JobEnd {
 public:
  using Done = std::function<void(const Result<void>&)>;

  // `dropped`: what a job ends with that nobody ran.
  JobEnd(std::function<Error()> dropped, Done done)
      : dropped_(std::move(dropped)), done_(std::move(done)) {}
  ~JobEnd() {
    if (!told_) {
      (void)CatchAll([this] { Tell(dropped_()); });
    }
  }
  JobEnd(const JobEnd&) = delete;
  JobEnd& operator=(const JobEnd&) = delete;

  // Nothing after the first time.
  void Tell(const Result<void>& result) {
    if (!std::exchange(told_, true)) {
      done_(result);
    }
  }

 private:
  const std::function<Error()> dropped_;
  const Done done_;
  bool told_ = false;
};

}  // namespace kiln::rpc
