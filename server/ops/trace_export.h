// SPDX-License-Identifier: MIT
// Spans of finished calls for a trace collector: one ExportTraceServiceRequest of OTLP/JSON per
// line of a file, which the otlpjsonfile receiver of the OpenTelemetry collector reads. A thread of
// its own writes; a call never waits for it, and what it cannot keep up with is dropped and
// counted. See spec/daemon 13.4
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "compiler/base/threads/thread.h"
#include "server/ops/rotated_file.h"
#include "server/ops/trace_ring.h"

namespace kiln::ops {

// What every line says of the daemon.
struct TraceResource {
  std::string version, build_id, instance;
};

// One call as a line without its end: a span for the call, and below it those of the call. `number`
// tells calls of one trace apart.
std::string OtlpLine(const TraceResource& resource, const CallTrace& trace, uint64_t number);

// Safe from any thread.
class TraceExport {
 public:
  struct Limits {
    RotatedFile::Limits file = {.max_bytes = uint64_t{64} << 20, .files = 4};
    size_t waiting = 4096;  // calls; more are dropped
  };

  // The log must outlive it. Errors: FileError.
  static Result<std::unique_ptr<TraceExport>> Open(const std::string& path, TraceResource resource,
                                                   LogSink& log, const Limits& limits);
  static Result<std::unique_ptr<TraceExport>> Open(const std::string& path, TraceResource resource,
                                                   LogSink& log) {
    return Open(path, std::move(resource), log, Limits{});
  }
  // What waits is written.
  ~TraceExport();
  TraceExport(const TraceExport&) = delete;
  TraceExport& operator=(const TraceExport&) = delete;

  // Returns at once. What does not fit is told to the log once, and again after something did.
  void Add(const CallTrace& trace);
  uint64_t dropped();

 private:
  TraceExport(std::unique_ptr<RotatedFile> file, TraceResource resource, LogSink& log,
              const Limits& limits);
  void Write();

  const std::unique_ptr<RotatedFile> file_;  // of the thread
  const TraceResource resource_;
  LogSink& log_;
  const size_t max_waiting_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<CallTrace> waiting_ KILN_GUARDED_BY(mutex_);
  uint64_t dropped_ KILN_GUARDED_BY(mutex_) = 0;
  bool dropping_ KILN_GUARDED_BY(mutex_) = false;
  bool stopping_ KILN_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace kiln::ops
