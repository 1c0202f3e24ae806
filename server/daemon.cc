// SPDX-License-Identifier: MIT
#include "server/daemon.h"

#include <chrono>
#include <thread>
#include <utility>

#include "compiler/base/files/own_folder.h"
#include "server/daemon_parts.h"
#include "server/rpc/batch_service.h"

namespace kiln::server {

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

// Errors end the start; the destructor takes down what is there. `failure` says it for people and
// for the command that started kilnd.
Result<std::unique_ptr<Daemon>> Daemon::Start(const Options& options, Clock& clock,
                                              ops::LineLog& log, StartFailure& failure) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::make_unique<Parts>(options, clock, log)));
  Parts& parts = *daemon->parts_;
  const auto failed = [&](std::string component, const Error& error, std::string hint) {
    failure = {.component = std::move(component), .what = error.context, .hint = std::move(hint)};
    return error;
  };
  // The order of spec/daemon 14.1. The socket comes first, because its lock tells whether another
  // daemon is there, and because clients that connect meanwhile wait instead of failing.
  if (const Result<void> listening = parts.entrance.Listen(options.passed); !listening.ok()) {
    const Error& error = listening.error();
    return error.reason == "TLS" || error.reason == "FILE"
               ? failed("tls", error, "name the files with tls.cert, tls.key and tls.client_ca")
           : error.reason == "ROOT"
               ? failed("security", error, "choose a user without rights for kilnd")
               : failed("socket", error, "choose another with --listen.unix or --listen.tcp");
  }
  if (const Result<void> guarded = parts.entrance.Guard(); !guarded.ok()) {
    return failed("security", guarded.error(),
                  "repair security.tokens or security.audit_log, or name others");
  }
  parts.ExportTraces();
  parts.MakeQueue();
  parts.MakeHost();
  // From here on calls are answered, most of them with STARTING. Opening a store may take seconds.
  if (const Result<void> answers = parts.Answer(); !answers.ok()) {
    return failed("rpc", answers.error(), "this is a bug of kiln; please report it");
  }
  if (const Result<void> shown = parts.ServeMetrics(options.passed.metrics); !shown.ok()) {
    return failed("metrics", shown.error(), "choose another address with --metrics.listen");
  }
  const Result<void> opened = parts.OpenStore();
  if (!opened.ok() && opened.error().reason == kNotOwn) {
    return failed("cache", opened.error(),
                  "chown it or chmod go-w it, or choose another directory with --cache.dir");
  }
  if (!opened.ok()) {
    return failed("store", opened.error(),
                  "stop that process, or choose another directory with --cache.dir");
  }
  parts.engine->Make(parts.deferred);
  parts.ReadMetrics();
  // Resumed batches are in the queue before there are workers, so the first of these finds them in
  // their order.
  rpc::RestoreBatches(parts.deferred.engine());
  parts.Serve();
  log.Write(LogLevel::kInfo, "daemon", "serving",
            {{"socket", options.config.socket},
             {"cache", options.config.cache_dir.string()},
             {"workers", options.config.workers}});
  return daemon;
}

// An exception here ends the process all the same: its members go.
Daemon::~Daemon() {
  (void)CatchAll([this] { parts_->Ended(); });
}

const std::string& Daemon::socket() const { return parts_->entrance.listener->path(); }

std::string Daemon::metrics() const {
  return parts_->http == nullptr ? std::string() : parts_->http->Address();
}

std::string Daemon::tcp() const {
  return parts_->entrance.tcp.has_value() ? parts_->entrance.tcp->Address() : std::string();
}

Result<ConfigChange> Daemon::Reload() { return parts_->Reload(); }

// Returns after `timeout` at the latest, so that idleness and load are looked at.
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
  // The main thread looks after the process here, twice a second, so these looks need no thread of
  // their own.
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
  // The clock starts with the request and not with the main thread's next look, which may hang
  // itself.
  parts_->EndWithin(parts_->current.drain_timeout);
  parts_->asked = std::max(parts_->asked, ask);
  parts_->asked_changed.NotifyAll();
}

void Daemon::Wake() {
  const MutexLock lock(parts_->mutex);
  parts_->woken = true;
  parts_->asked_changed.NotifyAll();
}

void Daemon::GiveUp() { parts_->GiveUp(); }

void Daemon::Drain() {
  // New work is refused from here on, and load balancers are told. Batches are halted, their rows
  // saved; what runs may go on until the time is over.
  parts_->state.Drain();
  parts_->server->SetServing(false);
  parts_->engine->watches->Drain();
  parts_->log.Write(LogLevel::kInfo, "daemon", "draining");
  parts_->engine->batches->Halt();
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
