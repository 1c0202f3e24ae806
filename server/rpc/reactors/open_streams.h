// SPDX-License-Identifier: MIT
// Streams that are open, in either direction, looked at again and again: one whose client takes
// nothing, or sends nothing, holds memory, and ends. When the daemon goes all of them are told.
// See spec/daemon 9.6, 14.5
//
// Threads: Add and EndAll from any thread; streams are looked at in a thread of their own.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "compiler/base/threads/thread.h"

namespace kiln::rpc {

// What a stream ends with whose reader is dropped.
Error SlowReader();

// What a stream of requests ends with that was silent, or lasted, for longer than the limit says.
Error LateClient(std::string_view limit, Duration most);

// What calls end with that are open when the daemon goes.
Error Leaving();

// How long the end of a stream may wait for its reader, before the stream is cut.
inline constexpr Duration kSlowGrace = std::chrono::seconds(10);

class OpenStreams {
 public:
  class Stream {
   public:
    virtual ~Stream() = default;
    virtual void Look(Duration now) = 0;
    // Ends the call with an error, at once or when the job that works for it has returned; nothing
    // once it has ended. Returns without waiting.
    virtual void EndWith(const Error& error) = 0;
  };

  // Clock and log must outlive the object.
  OpenStreams(Clock& clock, LogSink& log);
  ~OpenStreams();
  OpenStreams(const OpenStreams&) = delete;
  OpenStreams& operator=(const OpenStreams&) = delete;

  // Until it is gone.
  void Add(const std::shared_ptr<Stream>& stream);
  // Ends those that are open now.
  void EndAll(const Error& error);

 private:
  void Loop(const std::stop_token& stop);
  std::vector<std::shared_ptr<Stream>> Open();

  Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::weak_ptr<Stream>> streams_ KILN_GUARDED_BY(mutex_);
  Thread thread_;  // last: it uses the rest
};

}  // namespace kiln::rpc
