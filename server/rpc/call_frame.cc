// SPDX-License-Identifier: MIT
#include "server/rpc/call_frame.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "compiler/driver/fingerprint.h"

namespace kiln::rpc {
namespace {

constexpr Duration kInteractiveDeadline = std::chrono::seconds(30);  // daemon §9.1
constexpr Duration kLongest = std::chrono::hours(24 * 365);          // as good as none
constexpr uint32_t kRetryMs = 500;

// The trace of a W3C traceparent, or a new one.
std::string TraceOf(const grpc::CallbackServerContext& context, Clock& clock) {
  const auto found = context.client_metadata().find("traceparent");
  if (found != context.client_metadata().end() && found->second.length() == 55) {
    const std::string_view text(found->second.data(), found->second.length());
    if (const auto trace = ParseHash128(text.substr(3, 32)); trace.has_value()) {
      return trace->hex();
    }
  }
  static std::atomic<uint64_t> next{0};
  const std::array<uint64_t, 2> seed = {static_cast<uint64_t>(clock.UnixTime().count()),
                                        next.fetch_add(1)};
  return HashBytes(std::as_bytes(std::span(seed))).hex();
}

struct PublicReason {
  std::string_view internal;
  std::string_view shown;
};

// Words of the layers below -> words of proto/kiln/v1/README.md.
constexpr std::array<PublicReason, 5> kReasons = {{{"BATCH_UNKNOWN", "UNKNOWN_BATCH"},
                                                   {"PACK_LIMIT", "LIMIT_EXCEEDED"},
                                                   {"PACK_BASE_MISSING", "UNKNOWN_PACK"},
                                                   {"LANGUAGE_UNKNOWN", "MALFORMED_REQUEST"},
                                                   {"SPACE_WRONG", "BAD_EXPRESSION"}}};

std::string ReasonOf(const Error& error) {
  for (const PublicReason& reason : kReasons) {
    if (reason.internal == error.reason) {
      return std::string(reason.shown);
    }
  }
  if (!error.reason.empty()) {
    return error.reason;
  }
  switch (error.code) {
    case ErrorCode::kCancelled:
      return "CANCELLED";
    case ErrorCode::kDeadlineExceeded:
      return "DEADLINE";
    case ErrorCode::kInvalidArgument:
      return "MALFORMED_REQUEST";
    case ErrorCode::kNotFound:
      return "UNKNOWN_RESULT";
    case ErrorCode::kUnimplemented:
      return "NOT_BUILT_IN";
    case ErrorCode::kResourceExhausted:
      return "LIMIT_EXCEEDED";
    case ErrorCode::kDataLoss:
      return "DAMAGED";
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kAborted:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kInternal:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnauthenticated:
      break;
  }
  return "BUG";
}

bool IsWorthRetrying(const v1::ErrorDetail& detail) {
  return detail.reason() == "QUEUE_FULL" || detail.reason() == "DRAINING" ||
         detail.reason() == "STARTING";
}

}  // namespace

CallFrame::CallFrame(const Host& host, grpc::CallbackServerContext& context,
                     std::string_view method)
    : host_(host),
      context_(context),
      method_(method),
      start_(host.clock.Monotonic()),
      trace_(TraceOf(context, host.clock)) {
  host_.state.CallBegan();
  static const std::string server =
      fmt::format("{} {}", kVersion, driver::BackFingerprint().hex().substr(0, 12));
  context_.AddInitialMetadata("kiln-server", server);
  context_.AddInitialMetadata("kiln-trace", trace_);
}

CallFrame::~CallFrame() {
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(host_.clock.Monotonic() - start_);
  host_.log.Write(
      LogLevel::kInfo, "rpc", "call",
      {{"method", method_}, {"code", ended_as_}, {"trace", trace_}, {"ms", took.count()}});
  host_.state.CallEnded();
}

Result<void> CallFrame::Admit() const {
  if (host_.state.TakesWork()) {
    return {};
  }
  const bool starting = host_.state.Starting();
  return Error{.code = ErrorCode::kUnavailable,
               .context = starting ? "kilnd is starting" : "kilnd drains and is about to exit",
               .reason = starting ? "STARTING" : "DRAINING"};
}

cache::Deadline CallFrame::DeadlineOfCall(jobs::Lane lane) const {
  const auto left = context_.deadline() - std::chrono::system_clock::now();
  const Duration most = lane == jobs::Lane::kInteractive ? kInteractiveDeadline : kLongest;
  return host_.clock.Monotonic() + std::min(std::chrono::duration_cast<Duration>(left), most);
}

void CallFrame::Submit(Body body, std::function<void(Result<void>)> done, jobs::Lane lane) {
  auto finish = std::make_shared<std::function<void(Result<void>)>>(std::move(done));
  jobs::Job job{.lane = lane,
                .name = std::string(method_),
                .deadline = DeadlineOfCall(lane),
                .stop = stop_.get_token(),
                .run = nullptr};
  job.run = [body = std::move(body), finish](const cache::Call& call) {
    Result<void> result;
    try {
      result = call.stop.stop_requested()
                   ? Error{.code = ErrorCode::kCancelled, .context = "by the caller", .reason = {}}
                   : body(call);
    } catch (const InternalError& error) {  // costs this call; the client is told
      result = Error{.code = ErrorCode::kInternal, .context = error.what(), .reason = "BUG"};
    }
    (*finish)(std::move(result));
  };
  const Result<uint64_t> submitted = host_.queue.Submit(std::move(job));
  if (!submitted.ok()) {
    (*finish)(submitted.error());
  }
}

grpc::Status CallFrame::StatusOf(const Result<void>& result, v1::ErrorDetail detail) {
  if (result.ok()) {
    return grpc::Status::OK;
  }
  const Error& error = result.error();
  ended_as_ = std::string(ErrorCodeName(error.code));
  detail.set_reason(ReasonOf(error));
  detail.set_trace_id(trace_);
  if (IsWorthRetrying(detail)) {
    detail.set_retry_after_ms(kRetryMs);
    context_.AddTrailingMetadata("grpc-retry-pushback-ms", std::to_string(kRetryMs));
  }
  context_.AddTrailingMetadata("kiln-error-bin", detail.SerializeAsString());
  if (error.code == ErrorCode::kInternal) {
    host_.log.Write(LogLevel::kError, "rpc", error.context,
                    {{"method", method_}, {"trace", trace_}});
  }
  return {static_cast<grpc::StatusCode>(error.code), error.context};
}

UnaryCall::UnaryCall(const Host& host, grpc::CallbackServerContext& context,
                     std::string_view method, Needs needs, Body body)
    : frame_(host, context, method) {
  detail_.set_trace_id(frame_.trace());
  if (needs == Needs::kNothing) {
    const Result<void> result = body({}, detail_);
    Finish(frame_.StatusOf(result, std::move(detail_)));
    return;
  }
  if (const Result<void> admitted = frame_.Admit(); !admitted.ok()) {
    Finish(frame_.StatusOf(admitted));
    return;
  }
  frame_.Submit(
      [this, body = std::move(body)](const cache::Call& call) { return body(call, detail_); },
      [this](const Result<void>& result) {
        Finish(frame_.StatusOf(result, std::move(detail_)));  // may delete this
      });
}

}  // namespace kiln::rpc
