// SPDX-License-Identifier: MIT
// What every service needs of the daemon that it runs in.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cache/store.h"
#include "compiler/base/cache_usage.h"
#include "compiler/base/clock.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/log.h"
#include "server/jobs/queue.h"
#include "server/ops/access.h"
#include "server/ops/line_log.h"
#include "server/ops/metrics.h"
#include "server/ops/party_log.h"
#include "server/ops/service_state.h"
#include "server/ops/trace_export.h"
#include "server/ops/trace_ring.h"
#include "server/rpc/reactors/byte_room.h"
#include "server/rpc/reactors/open_streams.h"
#include "server/rpc/service_limits.h"
#include "server/rpc/transport/connections.h"

namespace kiln::rpc {

// Keys of the configuration that changed.
struct ReloadReport {
  std::vector<std::string> at_once;
  std::vector<std::string> at_restart;
};

// A worker process.
struct WorkerRow {
  uint64_t pid = 0;
  std::string job;  // empty: idle
  uint64_t jobs_done = 0;
  uint64_t memory = 0;  // bytes
};

// Another daemon that is asked for what is not here.
struct UpstreamRow {
  std::string url;
  bool writes = false;
  bool asked = false;   // anybody has got an answer, or none, so far
  std::string cause;    // why it does not answer; empty: it does
  int64_t since_s = 0;  // Unix: since when it does not
  Duration latency{};   // of the last answer to a look at it; zero: none
};

// What worker processes may take of the machine for one job.
struct JobLimits {
  Duration worker_cpu{};
  Duration worker_wall{};
  uint64_t worker_memory = 0;  // bytes
  uint64_t worker_attempts = 0;
};

struct Host {
  jobs::JobQueue& queue;
  ops::ServiceState& state;
  ops::Access& access;
  Connections& connections;
  ops::AuditLog* audit = nullptr;
  ops::Metrics& metrics;
  ops::TraceRing& traces;
  ops::TraceExport* otlp = nullptr;  // null: spans are not exported
  OpenStreams& streams;
  ByteRoom& uploads;  // what uploads hold
  ByteRoom& readers;  // blobs of which a reader has not taken all
  Clock& clock;
  LogSink& log;
  ops::PartyLog& party_log;                                 // what callers cause
  std::function<std::vector<ops::KeptWarning>()> warnings;  // the last ones
  std::function<void(Duration timeout)> drain;              // returns at once; zero: as configured
  std::function<void()> shut_down;                          // returns at once
  std::function<Result<ReloadReport>()> reload;
  std::function<void(const std::string& component, LogLevel level)> set_log_level;
  std::string socket;
  std::string tcp;          // HOST:PORT, empty without
  std::string config_file;  // that was read, or empty
  std::string tokens_file;  // of clients by TCP, or empty
  std::string started_by;   // autostart, serve, systemd
  ServiceLimits limits = {};
  JobLimits job_limits = {};
  LanguageLimits language_limits = {};
  std::function<std::string()> slowed_by;  // what batch work makes way for, or empty
  std::function<std::vector<WorkerRow>()> worker_rows;
  // `check`: each is asked first, which takes some time. Once Ready.
  std::function<std::vector<UpstreamRow>(bool check, const cache::Call& call)> upstreams;
  std::function<std::string()> last_crash;  // report of the run before, or empty; once Ready
  std::function<std::vector<CacheUsage>()> caches;  // in memory; once Ready
  uint64_t memory_soft = 0, memory_hard = 0;        // bytes
  // Called before whatever is done for a call; null but in tests, which make it throw and hang.
  std::function<void(std::string_view method)> fault = nullptr;
};

}  // namespace kiln::rpc
