// SPDX-License-Identifier: MIT
#include "server/rpc/slow_readers.h"

#include <chrono>

namespace kiln::rpc {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(250);

}  // namespace

Error SlowReader() {
  return {.code = ErrorCode::kDeadlineExceeded,
          .context = "the client reads less than 1 KiB/s of what waits for it",
          .reason = "SLOW_READER"};
}

SlowReaders::SlowReaders(Clock& clock)
    : clock_(clock), thread_([this](const std::stop_token& stop) { Loop(stop); }) {}

SlowReaders::~SlowReaders() {
  const MutexLock lock(mutex_);
  thread_.request_stop();
  changed_.NotifyAll();
}

void SlowReaders::Add(const std::shared_ptr<Reader>& reader) {
  const MutexLock lock(mutex_);
  readers_.push_back(reader);
}

// Those that are there still.
std::vector<std::shared_ptr<SlowReaders::Reader>> SlowReaders::Open() {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Reader>> open;
  std::erase_if(readers_, [&](const std::weak_ptr<Reader>& reader) {
    open.push_back(reader.lock());
    return open.back() == nullptr;
  });
  std::erase(open, nullptr);
  return open;
}

void SlowReaders::Loop(const std::stop_token& stop) {
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
    for (const std::shared_ptr<Reader>& reader : Open()) {
      reader->Look(clock_.Monotonic());
    }
  }
}

}  // namespace kiln::rpc
