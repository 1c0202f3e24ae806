// SPDX-License-Identifier: MIT
// The frame of a call: who calls, what he may do, when it ends, how it is told (spec/daemon 2,
// 11.4, 13). Every call of every service has one, from its request to its status. gRPC and the job
// of the call use it one after the other; only stop and cancellation come from other threads.
#include "server/rpc/reactors/call_context.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cache/call_bounds.h"
#include "cache/decorators/memory_store.h"
#include "cache/leases/on_behalf.h"
#include "compiler/base/reasons.h"
#include "compiler/base/version.h"
#include "compiler/diag/quoted.h"
#include "compiler/driver/fingerprint.h"
#include "server/ops/crash_report.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/messages/request_error.h"
#include "server/rpc/transport/caller.h"
#include "server/rpc/transport/method_table.h"

namespace kiln::rpc {
namespace {

constexpr Duration kLongestDeadline = std::chrono::hours(24 * 365);  // as good as none
constexpr std::chrono::seconds kLongCall{1};                         // is told, however it ends
constexpr uint32_t kRetryMs = 500;                                   // while it drains
constexpr uint32_t kFirstStartingMs = 25;
constexpr uint32_t kLeastRetryMs = 50;
constexpr uint32_t kMostRetryMs = 5'000;
// Bytes of what an error says. It is sent as a header, percent-encoded, and may quote names of the
// caller's choice; clients take 8 KiB of headers.
constexpr size_t kMaxSaid = 2048;
constexpr size_t kCodes = 17;      // of gRPC
constexpr size_t kMostSpans = 64;  // of one call: streams submit many jobs

// The trace of a W3C traceparent, "00-TRACE-SPAN-01", or a new one; the span that is above the
// call.
struct TraceContext {
  std::string trace, parent;
};

TraceContext TraceOf(const grpc::CallbackServerContext& context, Clock& clock) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto found = context.client_metadata().find("traceparent");
  if (found != context.client_metadata().end() && found->second.length() == 55) {
    const std::string_view text(found->second.data(), found->second.length());
    const auto trace = ParseHash128(text.substr(3, 32));
    if (trace.has_value() && *trace != Hash128{}) {  // all zero is no id, as W3C has it
      const std::string_view span = text.substr(36, 16);
      const bool known = span.find_first_not_of(kHex) == std::string_view::npos &&
                         span.find_first_not_of('0') != std::string_view::npos;
      return {.trace = trace->hex(), .parent = known ? std::string(span) : std::string()};
    }
  }
  // No random numbers: time and a counter differ for all calls of a daemon, and the hash spreads
  // them.
  static std::atomic<uint64_t> next{0};
  const std::array<uint64_t, 2> seed = {static_cast<uint64_t>(clock.UnixTime().count()),
                                        next.fetch_add(1)};
  return {.trace = HashBytes(std::as_bytes(std::span(seed))).hex(), .parent = {}};
}

std::string_view ViewOf(const grpc::string_ref& text) { return {text.data(), text.size()}; }

struct PublicReason {
  std::string_view internal;
  std::string_view shown;
};

// Words of the layers below -> words of proto/kiln/v1/README.md.
constexpr std::array<PublicReason, 5> kReasons = {{{"UNKNOWN_BATCH", "UNKNOWN_BATCH"},
                                                   {"PACK_LIMIT", "LIMIT_EXCEEDED"},
                                                   {"PACK_BASE_MISSING", "UNKNOWN_PACK"},
                                                   {"UNKNOWN_LANGUAGE", "MALFORMED_REQUEST"},
                                                   {"SPACE_WRONG", "BAD_EXPRESSION"}}};

// An error without a reason of its own has that of its code. What has neither is nothing that a
// caller can have caused, so it is called a bug.
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

// Errors that tell of a lack that passes.
bool IsFull(std::string_view reason) {
  return reason == "QUEUE_FULL" || reason == "QUOTA" || reason == "BUFFERS_FULL";
}

bool IsWorthRetrying(std::string_view reason) {
  return IsFull(reason) || reason == "DRAINING" || reason == "STARTING";
}

// The time in which the lane will have worked off what waits now, within bounds and ±20 %: clients
// that were refused together must not come back together.
uint32_t RetryMs(jobs::JobQueue& queue, jobs::Lane lane, const std::string& trace) {
  const auto drain =
      std::chrono::duration_cast<std::chrono::milliseconds>(queue.DrainTime(lane)).count();
  const auto within = std::clamp<int64_t>(drain, kLeastRetryMs, kMostRetryMs);
  // The trace id is as good as random, and a test can choose it.
  const auto jitter = static_cast<int64_t>(HashBytes(AsBytes(trace)).bytes[0]) * 40 / 255;  // %
  return static_cast<uint32_t>(
      std::clamp<int64_t>(within * (80 + jitter) / 100, kLeastRetryMs, kMostRetryMs));
}

Error NotNow(ops::ServiceState& state) {
  return state.Starting() ? Error{.code = ErrorCode::kUnavailable,
                                  .context = "kilnd is starting",
                                  .reason = "STARTING"}
                          : Leaving();
}

// A start takes milliseconds as a rule and seconds at worst: each further attempt of a client comes
// later than the one before.
uint32_t StartingRetryMs(const grpc::CallbackServerContext& context) {
  const auto found = context.client_metadata().find("grpc-previous-rpc-attempts");
  const std::string_view text =
      found == context.client_metadata().end() ? std::string_view() : ViewOf(found->second);
  uint32_t attempts = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), attempts);
  return std::min(kFirstStartingMs << 2 * std::min(attempts, 4U), kMostRetryMs);
}

}  // namespace

CallContext::CallContext(const Host& host, grpc::CallbackServerContext& context,
                         std::string_view method)
    : host_(host),
      counted_(host.state),
      context_(context),
      method_(method),
      start_(host.clock.Monotonic()),
      caller_(CallerOf(context)),
      party_(host.access.PartyOf(caller_)),
      needed_(ScopeOfMethod(method)) {
  TraceContext context_of_trace = TraceOf(context, host.clock);
  trace_ = std::move(context_of_trace.trace);
  parent_ = std::move(context_of_trace.parent);
  // What waits for its request, and what comes to nothing, is counted of others than the owner.
  const bool is_owner = caller_.transport == ops::Transport::kOwner;
  if (!is_owner) {
    host_.connections.CallArrived(party_);
  }
  Result<ops::Principal> caller = host_.access.Identify(caller_, method_);
  if (caller.ok()) {
    principal_ = std::move(caller).value();
    // Each call proves its connection: the first one with a token makes a newcomer a client, with a
    // client's share of connections.
    permitted_ =
        is_owner ? Result<void>() : host_.connections.Prove(caller_.peer, principal_.party);
    const MethodRow* const row = FindMethod(method_);
    const bool writes = row != nullptr && row->looks_for_readers && CallFor({}).may_write;
    if (permitted_.ok()) {
      permitted_ = AlsoNeeds(writes ? kWrite : needed_);
    }
    if (permitted_.ok() && !(row != nullptr && row->answers == Answers::kFromTheStart) &&
        !host_.state.Ready()) {
      permitted_ = NotNow(host_.state);
    }
  } else {
    permitted_ = caller.error();
  }
}

// A call whose initial metadata was sent is not repeated by gRPC, whatever the trailing ones say.
void CallContext::Introduce(RetryHint again) {
  if (introduced_) {
    return;
  }
  introduced_ = true;
  static const std::string server =
      fmt::format("{} {}", Version(), driver::BackFingerprint().hex().substr(0, 12));
  const auto add = again == RetryHint::kYes ? &grpc::CallbackServerContext::AddTrailingMetadata
                                            : &grpc::CallbackServerContext::AddInitialMetadata;
  (context_.*add)("kiln-server", server);
  (context_.*add)("kiln-trace", trace_);
}

// The call is over even if there is no memory to say so.
CallContext::~CallContext() {
  Record();
  (void)CatchAll([this] { Judge(); });
}

void CallContext::Record() noexcept {
  if (std::exchange(recorded_, true)) {
    return;
  }
  // Each of the three is caught alone: a disk that is full for one of them must not cost the
  // others.
  (void)CatchAll([this] { Tell(); });
  (void)CatchAll([this] { Audit(); });
  (void)CatchAll([this] { Measure(); });
}

// Ordinary calls are not logged at info, whoever makes them.
void CallContext::Tell() const {
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(host_.clock.Monotonic() - start_);
  // A farm makes thousands of calls a second: metrics count them, the log tells what is worth
  // reading.
  const bool ordinary = ended_code_ == 0 && took < kLongCall;
  const std::initializer_list<LogField> fields = {
      {"method", method_}, {"code", ended_as_}, {"trace", trace_}, {"ms", took.count()}};
  if (ordinary) {
    host_.log.Write(LogLevel::kDebug, "rpc", "call", fields);
  } else {
    Log(LogLevel::kInfo, "call", fields);
  }
}

bool CallContext::WasRefused() const {
  return ended_code_ == static_cast<size_t>(ErrorCode::kUnauthenticated) ||
         ended_code_ == static_cast<size_t>(ErrorCode::kPermissionDenied);
}

void CallContext::Log(LogLevel level, std::string_view message,
                      std::initializer_list<LogField> fields) const {
  host_.party_log.Write(
      party_, WasRefused() ? ops::PartyLog::Share::kRefusals : ops::PartyLog::Share::kCalls, level,
      "rpc", message, fields);
}

void CallContext::Measure() {
  const Duration took = host_.clock.Monotonic() - start_;
  const MethodRow* const row = FindMethod(method_);
  // One slot for each method and code, so that a call finds its counters without a look-up by name.
  const size_t place =
      row == nullptr ? kMethods.size() : static_cast<size_t>(row - kMethods.data());
  static_assert((kMethods.size() + 1) * kCodes <= ops::Metrics::kRequestSlots);
  host_.metrics.Request(place * kCodes + ended_code_, took, [this, row] {
    const bool batch = row != nullptr && row->lane == jobs::Lane::kBatch;
    return ops::Labels{{"method", std::string(method_)},
                       {"code", ended_as_},
                       {"lane", batch ? "batch" : "interactive"}};
  });
  ops::CallTrace trace{.id = trace_,
                       .parent = parent_,
                       .method = method_,
                       .code = ended_as_,
                       .at = host_.clock.UnixTime() - took,
                       .length = took,
                       .spans = std::move(spans_)};
  if (host_.otlp != nullptr) {
    host_.otlp->Add(trace);
  }
  host_.traces.Add(std::move(trace));
}

// Calls that nobody wants an answer to are counted: a client that makes too many loses its
// connection.
void CallContext::Judge() {
  if (party_.is_owner()) {
    return;
  }
  if (cancelled() || reason_ == "NO_TOKEN" || reason_ == "MALFORMED_REQUEST") {
    host_.connections.CameToNothing(caller_.peer, party_);
  }
}

void CallContext::Heard() {
  if (caller_.transport == ops::Transport::kTcp) {
    host_.connections.Heard(caller_.peer);
  }
}

// Calls for the audit log: remote changes, administration, content that was not what it claimed to
// be, and pins. What changed nothing because the caller may not do it, and all that somebody causes
// who may not write, stands with the refusals: acts are written away by acts only.
void CallContext::Audit() const {
  const bool tcp = caller_.transport == ops::Transport::kTcp;
  const bool upload = rejected_ != 0 || reason_ == "DIGEST_MISMATCH";
  const bool pin = method_ == "Pin" || method_ == "Unpin";
  if (host_.audit == nullptr || reason_ == "NO_TOKEN" ||  // Access has written that
      !(needed_ == kAdmin || (tcp && needed_ >= kWrite) || upload || pin)) {
    return;
  }
  const bool neighbour = caller_.transport == ops::Transport::kNeighbour;
  const ops::AuditLine line{.event = upload ? "upload" : "call",
                            .peer = tcp         ? std::string_view(caller_.peer)
                                    : neighbour ? std::string_view(party_.name())
                                                : "unix",
                            .subject = caller_.subject,
                            .token = principal_.token,
                            .method = method_,
                            .object = object_,
                            .result = rejected_ == 0 ? ended_as_ : rejected_as_,
                            .trace = trace_,
                            .count = rejected_};
  if (WasRefused() || !CallFor({}).may_write) {
    (void)host_.audit->WriteRefusal(party_, line);
  } else {
    host_.audit->Write(party_, line);
  }
}

void CallContext::NoteRejected(std::string_view object, std::string_view reason) {
  if (++rejected_ == 1) {
    object_ = object;
    rejected_as_ = reason;
  }
}

// The scope is remembered, so that the error and the audit log name what was really needed.
Result<void> CallContext::AlsoNeeds(ops::Scope scope) {
  needed_ = scope;
  return ops::Access::Check(principal_, method_, scope);
}

Result<void> CallContext::Admit() const {
  if (!permitted_.ok()) {
    return permitted_;
  }
  if (host_.state.TakesWork()) {
    const MethodRow* const row = FindMethod(method_);
    // Above the hard limit of memory: what is being built goes on, nothing is added to it, and what
    // only reads is still answered.
    if (row != nullptr && row->lane == jobs::Lane::kBatch && needed_ != kRead &&
        !host_.state.TakesBatchWork()) {
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = "kilnd is at its memory limit; batch work is refused for now",
                   .reason = "QUEUE_FULL"};
    }
    return {};
  }
  return NotNow(host_.state);
}

cache::Deadline CallContext::DeadlineOfCall(jobs::Lane lane) const {
  // Deadlines come as wall-clock time and are measured by a clock that nobody sets.
  const auto left = context_.deadline() - std::chrono::system_clock::now();
  const Duration most =
      lane == jobs::Lane::kInteractive ? jobs::kInteractiveDeadline : kLongestDeadline;
  return host_.clock.Monotonic() + std::min(std::chrono::duration_cast<Duration>(left), most);
}

void CallContext::AddSpan(std::string_view name, Duration from, Duration until) {
  if (spans_.size() < kMostSpans) {
    spans_.push_back({.name = name, .start = from, .length = until - from});
  }
}

// Every layer below asks the call and not the caller whether it may write, so the right is looked
// up in one place.
cache::Call CallContext::CallFor(cache::Call call) const {
  call.may_write = ops::Access::Check(principal_, method_, kWrite).ok();
  return call;
}

// The error for a caller that may only read, where something would have to be written.
Result<void> CallContext::NeedsWriteAfterAll(const Error& error) {
  const Result<void> refused = AlsoNeeds(kWrite);
  return refused.ok() ? error : WithContext(refused.error(), error.context);
}

Result<void> CallContext::RunBody(const Body& body, const cache::Call& call) {
  if (call.stop.stop_requested()) {
    return Error{.code = ErrorCode::kCancelled, .context = "by the caller", .reason = {}};
  }
  const cache::OnBehalfOf principal(principal_.id);
  // Only around the body: what crashes there is this call's.
  ops::SetCrashTrace(trace_);
  Result<void> result = Try([&]() -> Result<void> {  // a bug costs this call
    const cache::Call caller = CallFor(call);
    return caller.deadline == cache::kAtOnce
               ? body(caller)
               : cache::WhileWanted(caller, jobs::kCallBytes, host_.clock,
                                    [&] { return body(caller); });
  });
  ops::SetCrashTrace({});
  if (!result.ok() && result.error().reason == kWouldWrite) {
    return NeedsWriteAfterAll(result.error());
  }
  return result;
}

bool CallContext::AnswersAtOnce(const Body& body) {
  const Duration began = host_.clock.Monotonic() - start_;
  // An error is not told: it may only mean that memory did not know, and the job that comes next
  // finds any other one again.
  if (!RunBody(body, {.stop = stop_.get_token(), .deadline = cache::kAtOnce}).ok()) {
    return false;
  }
  AddSpan("run", began, host_.clock.Monotonic() - start_);
  return true;
}

jobs::Job CallContext::JobOf(Body body, std::shared_ptr<JobEnd> end, jobs::Lane lane) {
  lane_ = lane;
  const Duration at = host_.clock.Monotonic() - start_;
  const MethodRow* const row = FindMethod(method_);
  jobs::Job job{.lane = lane,
                .name = std::string(method_),
                .tenant = principal_.tenant,
                .length = row == nullptr ? jobs::Length::kShort : row->length,
                .deadline = DeadlineOfCall(lane),
                .stop = stop_.get_token(),
                .run = nullptr};
  job.run = [this, body = std::move(body), end = std::move(end), at](const cache::Call& call) {
    const Duration began = host_.clock.Monotonic() - start_;
    Result<void> result = RunBody(body, call);
    if (!result.ok() && result.error().code == ErrorCode::kCancelled && !cancelled() &&
        !host_.state.TakesWork()) {
      result = NotNow(host_.state);  // nobody has left: the daemon goes
    }
    (void)CatchAll([&] {
      AddSpan("queue", at, began);
      AddSpan("run", began, host_.clock.Monotonic() - start_);
    });
    end->Tell(result);
  };
  return job;
}

// Only tokens are taken away; a user of the socket is who he was when he connected.
Result<void> CallContext::StillPermitted() const {
  if (caller_.transport != ops::Transport::kTcp) {
    return {};
  }
  const Result<ops::Principal> now = host_.access.Identify(caller_, method_);
  return now.ok() ? ops::Access::Check(*now, method_, needed_) : Result<void>(now.error());
}

// Never throws, and `done` is called exactly once in every case, perhaps before this returns.
void CallContext::Submit(Body body, JobEnd::Done done, jobs::Lane lane) noexcept {
  std::shared_ptr<JobEnd> end;
  Result<void> submitted = CatchAll([&] {
    // The end exists before the job. Whatever becomes of the job, also a queue that throws it away,
    // tells the call exactly once. See spec/daemon 9.7
    end = std::make_shared<JobEnd>(
        [&state = host_.state] {
          return state.TakesWork() ? Error{.code = ErrorCode::kInternal,
                                           .context = "the call's job was dropped",
                                           .reason = "BUG"}
                                   : NotNow(state);
        },
        std::move(done));
  });
  if (!submitted.ok()) {  // `done` is where it was
    (void)CatchAll([&] { done(submitted); });
    return;
  }
  Result<void> refused;
  submitted = CatchAll([&] {
    refused = StillPermitted();
    if (!refused.ok()) {
      return;
    }
    if (const Result<uint64_t> id = host_.queue.Submit(JobOf(std::move(body), end, lane));
        !id.ok()) {
      refused = id.error();
    }
  });
  if (!submitted.ok() || !refused.ok()) {
    (void)CatchAll([&] { end->Tell(submitted.ok() ? refused : submitted); });
  }
}

grpc::Status CallContext::StatusOf(const Result<void>& result, v1::ErrorDetail detail) noexcept {
  grpc::Status status;
  if (result.ok()) {
    (void)CatchAll([this] { Introduce(); });
  } else {
    // The bare code first. It needs no memory, and stands if the full status cannot be made.
    ended_code_ = static_cast<size_t>(result.error().code);
    status = {static_cast<grpc::StatusCode>(result.error().code), {}};
    (void)CatchAll([&] { status = FullStatus(result.error(), std::move(detail)); });
  }
  Record();
  return status;
}

grpc::Status CallContext::FullStatus(const Error& error, v1::ErrorDetail detail) {
  Introduce(IsWorthRetrying(ReasonOf(error)) ? RetryHint::kYes : RetryHint::kNo);
  ended_as_ = std::string(ErrorCodeName(error.code));
  reason_ = ReasonOf(error);
  detail.set_reason(reason_);
  detail.set_field(reason_ == "SCOPE" ? std::string(ops::ScopeName(needed_)) : FieldOf(error));
  if (const Reason* row = FindReason(reason_); row != nullptr) {
    detail.set_help(std::string(row->help));
  }
  detail.set_trace_id(trace_);
  const std::optional<LimitHit> hit = LimitOf(error);
  if (hit.has_value()) {
    detail.set_limit(hit->limit);
    detail.set_max(hit->max);
    detail.set_actual(hit->actual);
  }
  if (IsWorthRetrying(reason_)) {
    const uint32_t retry_ms = IsFull(reason_)         ? RetryMs(host_.queue, lane_, trace_)
                              : reason_ == "STARTING" ? StartingRetryMs(context_)
                                                      : kRetryMs;
    detail.set_retry_after_ms(retry_ms);
    // gRPC's own clients obey this header without a word of code in them.
    context_.AddTrailingMetadata("grpc-retry-pushback-ms", std::to_string(retry_ms));
  } else if (error.code == ErrorCode::kResourceExhausted) {
    context_.AddTrailingMetadata("grpc-retry-pushback-ms", "-1");  // of no use: policies obey this
  }
  if (error.code == ErrorCode::kResourceExhausted) {
    // Labels must have bounded values: the names of limits are those of the table, and reasons
    // those of the protocol.
    host_.metrics.Count("kiln_limit_hits_total",
                        {{"limit", hit.has_value() ? hit->limit : reason_}});
  }
  context_.AddTrailingMetadata("kiln-error-bin", detail.SerializeAsString());
  if (error.code == ErrorCode::kInternal) {
    host_.metrics.Count("kiln_internal_errors_total", {});
    Log(LogLevel::kError, Shortened(error.context, kMaxSaid),
        {{"method", method_}, {"trace", trace_}});
  }
  return {static_cast<grpc::StatusCode>(error.code), Shortened(error.context, kMaxSaid)};
}

void LogSlowReader(const CallContext& frame) {
  frame.Log(frame.party().is_owner() ? LogLevel::kWarning : LogLevel::kInfo,
            "a reader that is too slow is dropped", {{"trace", frame.trace()}});
}

}  // namespace kiln::rpc
