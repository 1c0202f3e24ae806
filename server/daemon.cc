// SPDX-License-Identifier: MIT
// A daemon that runs: what it looks at now and then, and how it ends.
#include "server/daemon.h"

#include <chrono>
#include <thread>
#include <utility>

#include "server/daemon_parts.h"

namespace kiln::server {
namespace {

constexpr Duration kGrace = std::chrono::milliseconds(500);  // for replies on their way

}  // namespace

Result<ConfigChange> Daemon::Parts::Reload() {
  if (read_config == nullptr) {
    return ConfigChange{};
  }
  KILN_TRY(const Config read, read_config());
  if (tokens.has_value()) {
    KILN_TRY_VOID(tokens->Reload());
  }
  const MutexLock lock(mutex);
  ConfigChange change = Compare(current, read);
  current = read;
  drain_timeout = read.drain_timeout;
  idle_timeout = IdleTimeout(read);
  log.SetLevels(read.log_levels);
  queue->SetWeights(read.weights);
  return change;
}

void Daemon::Parts::WatchLoad() {
  uint32_t soft_percent = 0, hard_percent = 0;
  {
    const MutexLock lock(mutex);
    soft_percent = current.memory_soft_percent;
    hard_percent = current.memory_hard_percent;
  }
  load->Look({.soft = MemoryLimit(soft_percent), .hard = MemoryLimit(hard_percent)});
}

// Of several the nearest: others are asked only through it.
void Daemon::Parts::ShowUpstream() {
  if (!stack.upstreams.empty()) {
    server->SetUpstream(!stack.upstreams.front()->store().breaker().OpenSince().has_value());
  }
}

// From the outside in: nobody calls, nothing runs, nothing is stored any more. The members go in
// the order that their references need.
void Daemon::Parts::Ended() {
  state.Drain();
  if (attempts != nullptr) {
    attempts->Leave();
  }
  http.reset();
  if (server != nullptr) {
    server->SetServing(false);
    server->StopAccepting();
  }
  if (batches.has_value()) {
    batches->CancelAll();
  }
  if (watches.has_value()) {
    watches->Drain();
    watches->CancelAll();
  }
  if (server != nullptr) {
    server->Shutdown(kGrace);
    server.reset();
  }
  services.clear();
  if (queue.has_value()) {
    queue->Close();
  }
  batches.reset();
  watches.reset();
  workers.reset();
  state.Stop();
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Daemon::~Daemon() { parts_->Ended(); }

const std::string& Daemon::socket() const { return parts_->listener->path(); }

std::string Daemon::metrics() const {
  return parts_->http == nullptr ? std::string() : parts_->http->Address();
}

std::string Daemon::tcp() const {
  return parts_->tcp.has_value() ? parts_->tcp->Address() : std::string();
}

Result<ConfigChange> Daemon::Reload() { return parts_->Reload(); }

Daemon::Ask Daemon::Wait(Duration timeout) {
  Duration idle_timeout{};
  {
    const MutexLock lock(parts_->mutex);
    if (parts_->asked == Ask::kNothing) {
      (void)parts_->asked_changed.WaitFor(parts_->mutex, timeout);
    }
    if (parts_->asked != Ask::kNothing) {
      return parts_->asked;
    }
    idle_timeout = parts_->idle_timeout;
  }
  parts_->WatchLoad();
  parts_->ShowUpstream();
  const jobs::QueueStatus queue = parts_->queue->Status();
  const bool busy = queue.running[0] + queue.running[1] + queue.waiting[0] + queue.waiting[1] != 0;
  const bool idle =
      idle_timeout != Duration::zero() && !busy && parts_->state.IdleFor() >= idle_timeout;
  return idle ? Ask::kDrain : Ask::kNothing;
}

void Daemon::RequestStop(Ask ask) {
  const MutexLock lock(parts_->mutex);
  parts_->asked = std::max(parts_->asked, ask);
  parts_->asked_changed.NotifyAll();
}

void Daemon::GiveUp() {
  if (parts_->attempts != nullptr) {
    parts_->attempts->Leave();
  }
}

void Daemon::Drain() {
  parts_->state.Drain();
  parts_->server->SetServing(false);
  parts_->watches->Drain();
  parts_->log.Write(LogLevel::kInfo, "daemon", "draining");
  parts_->batches->Halt();
  Duration end{};
  {
    const MutexLock lock(parts_->mutex);
    end = parts_->clock.Monotonic() + parts_->drain_timeout;
  }
  while (parts_->clock.Monotonic() < end) {
    const jobs::QueueStatus queue = parts_->queue->Status();
    if (queue.running[0] + queue.running[1] + queue.waiting[0] + queue.waiting[1] == 0) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace kiln::server
