// SPDX-License-Identifier: MIT
// A running daemon: what it checks periodically, and how it ends.
#include "server/daemon.h"

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "server/daemon_parts.h"

namespace kiln::server {
namespace {

constexpr Duration kGrace = std::chrono::milliseconds(500);  // for replies on their way
// For jobs that were asked to stop, which takes milliseconds unless they hang: two seconds in all.
constexpr std::chrono::milliseconds kBetweenLooks{5};
constexpr int kLooks = 400;

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

// The nearest of several upstreams: the others are asked only through it.
void Daemon::Parts::ShowUpstream() {
  if (!stack.upstreams.empty()) {
    server->SetUpstream(!stack.upstreams.front()->store().breaker().OpenSince().has_value());
  }
}

void Daemon::Parts::EndWithin(Duration time) {
  drain_until = std::min(drain_until, clock.Monotonic() + time);
  if (watchdog != nullptr) {
    watchdog->Arm(time + StopWatchdog::kMargin);
  }
}

void Daemon::Parts::EndInTime() {
  const MutexLock lock(mutex);
  if (drain_until == Duration::max()) {
    EndWithin(current.drain_timeout);
  }
}

void Daemon::Parts::WaitsFor(std::string_view what) {
  if (watchdog != nullptr) {
    watchdog->WaitsFor(what);
  }
}

// For the log of a daemon that does not end.
std::vector<std::string> Daemon::Parts::WhatRuns() {
  std::vector<std::string> lines;
  for (const jobs::JobRow& job : queue->List()) {
    const auto seconds = [](Duration time) {
      return std::chrono::duration_cast<std::chrono::seconds>(time).count();
    };
    lines.push_back(fmt::format("job {} '{}': {} for {} s, {} s of CPU", job.id, job.name,
                                job.running ? "runs" : "waits", seconds(job.age),
                                seconds(job.cpu)));
  }
  return lines;
}

// A call whose job stops in time ends with what all calls end with that are open now
// (CallContext::JobOf). One that does not is left to gRPC, which says less: what its job works on
// is the call's.
void Daemon::Parts::StopJobs() {
  for (int look = 0; look < kLooks; ++look) {
    const std::vector<jobs::JobRow> jobs = queue->List();
    if (jobs.empty()) {
      return;
    }
    for (const jobs::JobRow& job : jobs) {
      (void)queue->Kill(job.id);  // or it has returned
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

// Takes the parts down from the outside in: first calls, then jobs, then the store. Members go in
// the order that their references need.
void Daemon::Parts::Ended() {
  state.Drain();
  EndInTime();
  if (attempts != nullptr) {
    attempts->Leave();
  }
  http.reset();
  if (server != nullptr) {
    server->SetServing(false);
    server->StopAccepting();
  }
  WaitsFor("batches");
  if (batches.has_value()) {
    batches->CancelAll();
  }
  WaitsFor("watch sessions");
  if (watches.has_value()) {
    watches->Drain();
    watches->CancelAll();
  }
  WaitsFor("calls");
  streams.EndAll(rpc::Leaving());
  if (queue.has_value()) {
    (void)CatchAll([this] { StopJobs(); });
  }
  if (server != nullptr) {
    server->Shutdown(kGrace);
    server.reset();
  }
  services.clear();
  WaitsFor("jobs");
  if (queue.has_value()) {
    queue->Close();
  }
  batches.reset();
  watches.reset();
  workers.reset();
  if (watchdog != nullptr) {
    watchdog->Observe(nullptr);  // the queue goes
  }
  WaitsFor("the store");
  state.Stop();
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

// An exception here ends the process all the same: its members go.
Daemon::~Daemon() {
  (void)CatchAll([this] { parts_->Ended(); });
}

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
    if (parts_->asked == Ask::kNothing && !parts_->woken) {
      (void)parts_->asked_changed.WaitFor(parts_->mutex, timeout);
    }
    parts_->woken = false;
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
  parts_->EndWithin(parts_->current.drain_timeout);
  parts_->asked = std::max(parts_->asked, ask);
  parts_->asked_changed.NotifyAll();
}

void Daemon::Wake() {
  const MutexLock lock(parts_->mutex);
  parts_->woken = true;
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
  parts_->EndInTime();
  for (;;) {
    {
      const MutexLock lock(parts_->mutex);
      if (parts_->clock.Monotonic() >= parts_->drain_until) {
        return;
      }
    }
    const jobs::QueueStatus queue = parts_->queue->Status();
    if (queue.running[0] + queue.running[1] + queue.waiting[0] + queue.waiting[1] == 0) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace kiln::server
