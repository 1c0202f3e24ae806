// SPDX-License-Identifier: MIT
// All streams that are open, looked at by one thread: it ends those whose clients are too slow or
// late (spec/daemon 9.3), and all of them when the daemon drains. The mutex guards the list alone.
#include "server/rpc/reactors/open_streams.h"

#include <string>

namespace kiln::rpc {
namespace {

// Four looks a second: the shortest time that is measured here is ten seconds.
constexpr Duration kTick = std::chrono::milliseconds(250);

}  // namespace

Error SlowReader() {
  return {.code = ErrorCode::kDeadlineExceeded,
          .context = "the client reads less than 1 KiB/s of what waits for it",
          .reason = "SLOW_READER"};
}

Error LateClient(std::string_view limit, Duration most) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(most).count();
  return {.code = ErrorCode::kDeadlineExceeded,
          .context = std::string(limit) + ": more than " + std::to_string(ms) + " ms",
          .reason = "DEADLINE"};
}

Error Leaving() {
  return {.code = ErrorCode::kUnavailable,
          .context = "kilnd drains and is about to exit",
          .reason = "DRAINING"};
}

OpenStreams::OpenStreams(Clock& clock, LogSink& log)
    : clock_(clock),
      thread_({.name = "open streams", .log = &log},
              [this](const std::stop_token& stop) { Loop(stop); }) {}

OpenStreams::~OpenStreams() {
  const MutexLock lock(mutex_);
  thread_.request_stop();
  changed_.NotifyAll();
}

void OpenStreams::Add(const std::shared_ptr<Stream>& stream) {
  const MutexLock lock(mutex_);
  streams_.push_back(stream);
}

// Streams are asked outside of the mutex, because ending one may run code that comes back to this
// object.
void OpenStreams::EndAll(const Error& error) {
  for (const std::shared_ptr<Stream>& stream : Open()) {
    (void)CatchAll([&] { stream->EndWith(error); });  // one costs no other its end
  }
}

// Those that are there still.
std::vector<std::shared_ptr<OpenStreams::Stream>> OpenStreams::Open() {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Stream>> open;
  open.reserve(streams_.size());
  // Streams are held weakly and swept here, so that a call that ends need not look for itself in
  // the list.
  std::erase_if(streams_, [&](const std::weak_ptr<Stream>& stream) {
    std::shared_ptr<Stream> alive = stream.lock();
    if (alive == nullptr) {
      return true;
    }
    open.push_back(std::move(alive));
    return false;
  });
  return open;
}

void OpenStreams::Loop(const std::stop_token& stop) {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (!stop.stop_requested()) {
        (void)changed_.WaitFor(mutex_, kTick);
      }
      if (stop.stop_requested()) {
        return;
      }
    }
    for (const std::shared_ptr<Stream>& stream : Open()) {
      (void)CatchAll([&] { stream->Look(clock_.Monotonic()); });  // it is looked at again
    }
  }
}

}  // namespace kiln::rpc
