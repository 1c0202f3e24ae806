// SPDX-License-Identifier: MIT
// Finished calls as spans in a file of OTLP/JSON, one request a line, which a collector tails
// (spec/daemon 13). Calls put their trace into a bounded queue; a thread of its own writes.
#include "server/ops/trace_export.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/base/digest.h"

namespace kiln::ops {
namespace {

using Json = nlohmann::ordered_json;

// Numbers of the OTLP protocol.
constexpr int kInternal = 1;
constexpr int kServer = 2;
constexpr int kStatusOk = 1;
constexpr int kStatusError = 2;
constexpr size_t kSpanDigits = 16;
constexpr size_t kLinesAtOnce = 256;

Json Attribute(const char* key, std::string_view value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

// 64-bit numbers are decimal strings.
std::string Nanoseconds(Duration time) { return std::to_string(time.count()); }

// Ids are a hash of what names the span. So they need no random numbers, and a test can foresee
// them; `call` tells calls that share a trace id apart.
std::string SpanId(std::string_view trace, uint64_t call, uint64_t span) {
  return HashBytes(AsBytes(fmt::format("{}/{}/{}", trace, call, span)))
      .hex()
      .substr(0, kSpanDigits);
}

Json SpanOf(const CallTrace& trace, std::string id, std::string parent, std::string_view name,
            Duration start, Duration length) {
  Json span{{"traceId", trace.id}, {"spanId", std::move(id)}};
  if (!parent.empty()) {
    span["parentSpanId"] = std::move(parent);
  }
  span["name"] = name;
  span["kind"] = kInternal;
  span["startTimeUnixNano"] = Nanoseconds(trace.at + start);
  span["endTimeUnixNano"] = Nanoseconds(trace.at + start + length);
  return span;
}

}  // namespace

// `number` counts the calls of this process.
std::string OtlpLine(const TraceResource& resource, const CallTrace& trace, uint64_t number) {
  // The first span is the call itself, below the span of the caller if it named one; what the
  // daemon did is below the call. The nesting is that of the OTLP schema: resource, scope, spans.
  const std::string root = SpanId(trace.id, number, 0);
  Json call = SpanOf(trace, root, trace.parent, trace.method, {}, trace.length);
  call["kind"] = kServer;
  call["attributes"] =
      Json::array({Attribute("rpc.system", "grpc"), Attribute("rpc.method", trace.method),
                   Attribute("kiln.code", trace.code)});
  call["status"] = trace.code == "OK" ? Json{{"code", kStatusOk}}
                                      : Json{{"code", kStatusError}, {"message", trace.code}};
  Json spans = Json::array({std::move(call)});
  for (size_t i = 0; i < trace.spans.size(); ++i) {
    const TraceSpan& span = trace.spans[i];
    spans.push_back(
        SpanOf(trace, SpanId(trace.id, number, i + 1), root, span.name, span.start, span.length));
  }
  const Json scope{{"name", "kilnd"}, {"version", resource.version}};
  const Json attributes = Json::array({Attribute("service.name", "kilnd"),
                                       Attribute("service.version", resource.version),
                                       Attribute("service.instance.id", resource.instance),
                                       Attribute("kiln.build_id", resource.build_id)});
  const Json scoped{{"scope", scope}, {"spans", std::move(spans)}};
  const Json of_resource{{"resource", {{"attributes", attributes}}},
                         {"scopeSpans", Json::array({scoped})}};
  const Json request{{"resourceSpans", Json::array({of_resource})}};
  // A method or an id with bytes that are no UTF-8 must not throw in this thread.
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TraceExport::TraceExport(std::unique_ptr<RotatedFile> file, TraceResource resource, LogSink& log,
                         const Limits& limits)
    : file_(std::move(file)),
      resource_(std::move(resource)),
      log_(log),
      max_waiting_(limits.waiting),
      thread_({.name = "trace export", .log = &log_}, [this](const std::stop_token&) { Write(); }) {
}

Result<std::unique_ptr<TraceExport>> TraceExport::Open(const std::string& path,
                                                       TraceResource resource, LogSink& log,
                                                       const Limits& limits) {
  KILN_TRY(std::unique_ptr<RotatedFile> file, RotatedFile::Open(path, limits.file));
  return std::unique_ptr<TraceExport>(
      new TraceExport(std::move(file), std::move(resource), log, limits));
}

// Write empties the queue before it ends, so the traces of the last calls are on disk.
TraceExport::~TraceExport() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

// Whoever ends a call never waits for a disk: what does not fit is dropped and counted, and the log
// says so once until things go well again.
void TraceExport::Add(const CallTrace& trace) {
  bool tell = false;
  {
    const MutexLock lock(mutex_);
    const bool fits = waiting_.size() < max_waiting_;
    if (fits) {
      waiting_.push_back(trace);
      changed_.NotifyAll();
    }
    tell = !fits && !dropping_;
    dropping_ = !fits;
    dropped_ += fits ? 0 : 1;
  }
  if (tell) {
    log_.Write(LogLevel::kWarning, "trace", "traces are dropped: their file is too slow",
               {{"file", file_->path()}});
  }
}

uint64_t TraceExport::dropped() {
  const MutexLock lock(mutex_);
  return dropped_;
}

// Runs until the destructor asks for the end and the queue is empty.
void TraceExport::Write() {
  bool failing = false;
  for (uint64_t number = 0;;) {
    std::deque<CallTrace> taken;
    {
      const MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) {
        changed_.Wait(mutex_);
      }
      if (waiting_.empty()) {
        return;
      }
      // Taken in lots and written outside of the mutex: calls can add to the queue while the disk
      // works.
      while (!waiting_.empty() && taken.size() < kLinesAtOnce) {
        taken.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
    }
    for (const CallTrace& trace : taken) {
      const Result<void> written = file_->Append(OtlpLine(resource_, trace, number++) + "\n");
      if (!written.ok() && !failing) {
        log_.Write(LogLevel::kWarning, "trace", "traces cannot be written",
                   {{"file", file_->path()}, {"cause", written.error().context}});
      }
      failing = !written.ok();
    }
  }
}

}  // namespace kiln::ops
