// SPDX-License-Identifier: MIT
// Streams of replies that are open, looked at again and again: one whose reader takes nothing of
// what waits for it holds memory, and ends. Spec: daemon §9.6
//
// Threads: Add from any thread; readers are looked at in a thread of their own.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"

namespace kiln::rpc {

// What a stream that is dropped ends with.
Error SlowReader();

// How long the end of a stream may wait for its reader, before the stream is cut.
inline constexpr Duration kSlowGrace = std::chrono::seconds(10);

class SlowReaders {
 public:
  class Reader {
   public:
    virtual ~Reader() = default;
    virtual void Look(Duration now) = 0;
  };

  // The clock must outlive the object.
  explicit SlowReaders(Clock& clock);
  ~SlowReaders();
  SlowReaders(const SlowReaders&) = delete;
  SlowReaders& operator=(const SlowReaders&) = delete;

  // Until it is gone.
  void Add(const std::shared_ptr<Reader>& reader);

 private:
  void Loop(const std::stop_token& stop);
  std::vector<std::shared_ptr<Reader>> Open();

  Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::weak_ptr<Reader>> readers_ KILN_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace kiln::rpc
