// SPDX-License-Identifier: MIT
// What all calls have in common: initial metadata, deadline and cancellation on their way into
// jobs, errors on their way out, one log line. See spec/daemon 2.3, 2.4, 2.8, 9, 13.1
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "cache/call_bounds.h"
#include "cache/store.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "compiler/base/threads/thread.h"
#include "proto/kiln/v1/common.pb.h"
#include "server/rpc/reactors/host.h"
#include "server/rpc/reactors/job_end.h"

namespace kiln::rpc {

// Threads: Cancel may be called at any time; the rest by whoever drives the call.
class CallContext {
 public:
  // `method` must be a literal.
  CallContext(const Host& host, grpc::CallbackServerContext& context, std::string_view method);
  ~CallContext();
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  // May the caller call this method at all? Asked by every call before anything else.
  // Errors: kUnauthenticated with reason NO_TOKEN, kPermissionDenied with reason SCOPE; before the
  // store is open kUnavailable with reason STARTING, but for what the method table says.
  const Result<void>& Permitted() const { return permitted_; }
  // May it do what needs this scope, too? Errors: as Permitted.
  Result<void> AlsoNeeds(ops::Scope scope);
  // The same later on, for a call that goes on: a token may be revoked, or run out, while a stream
  // of its is open. Errors: as Permitted.
  Result<void> StillPermitted() const;
  // Permitted, and the daemon takes work that is new. Errors: kUnavailable with reason DRAINING.
  Result<void> Admit() const;
  // What the call is about, for the audit log.
  void SetObject(std::string object) { object_ = std::move(object); }
  // Something that the client sent is not what it said it was, though the call may end well: for
  // the audit log, which has one line for all of the call, about the first.
  void NoteRejected(std::string_view object, std::string_view reason);
  // A message of the call, a stream, was read.
  void Heard();
  const ops::Principal& principal() const { return principal_; }
  // Who is behind the call, known or not.
  const ops::Party& party() const { return party_; }
  // A line of the log that this caller causes: nobody fills it for the others.
  void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const;
  // The call that jobs and answers of this frame work with: it may write if the caller may.
  cache::Call CallFor(cache::Call call) const;

  // Runs a step of the call here and now. Errors: those of the step, and what it threw
  // (ThrownError).
  template <class Step>
  Result<void> Try(Step&& step) noexcept {
    Result<void> result;
    Result<void> ran = CatchAll([&] {
      if (host_.fault != nullptr) {
        host_.fault(method_);
      }
      result = step();
    });
    return ran.ok() ? std::move(result) : std::move(ran);
  }
  // The same for a step that gives nothing, of a call that is driven in steps: what it throws is
  // what `call` ends with.
  template <class Call, class Step>
  void Run(Call& call, Step&& step) noexcept {
    const Result<void> ran = Try([&]() -> Result<void> {
      step(call);
      return {};
    });
    if (!ran.ok()) {
      call.End(ran);
    }
  }

  // What `work`, a step that is no job, gives as long as the caller wants it. Errors: also those of
  // cache::ErrorOf.
  template <class Work>
  auto WhileWanted(Work work) -> decltype(work()) {
    return cache::WhileWanted(
        {.stop = stop_.get_token(), .deadline = DeadlineOfCall(jobs::Lane::kBatch)},
        cache::kAnyBytes, host_.clock, std::move(work));
  }

  // Runs `body` in a lane and then `done` with its result, or with what the body threw, exactly
  // once: here and now if the queue does not take it, and with an error if the queue drops it.
  // `done` throws nothing. Neither touches the frame after the call was finished. Only for a caller
  // who is StillPermitted: streams submit many jobs. In the batch lane
  // only the caller's own deadline counts.
  using Body = std::function<Result<void>(const cache::Call&)>;
  void Submit(Body body, JobEnd::Done done, jobs::Lane lane = jobs::Lane::kInteractive) noexcept;

  // Runs `body` here and now with a call that memory answers or nobody (cache::kAtOnce). True: it
  // did. Otherwise nothing has happened, and it is to be submitted.
  bool AnswersAtOnce(const Body& body);

  // What the call ends with. `detail` holds what the error itself does not know. Without memory
  // for more it is the bare code. Before this returns the call stands in the log, the audit log,
  // the metrics and the traces, so that a client that has its answer finds it there.
  grpc::Status StatusOf(const Result<void>& result, v1::ErrorDetail detail = {}) noexcept;

  // Adds kiln-server and kiln-trace, once, to what the client gets with the first message, or to
  // what it gets at the end if it is to ask again. To be called before a message is written;
  // StatusOf does it where there was none.
  enum class RetryHint : uint8_t { kNo, kYes };
  void Introduce(RetryHint again = RetryHint::kNo);

  void Cancel() { stop_.request_stop(); }
  // Ends the call without telling its client why; nothing, and false, once it is over.
  bool CutUnlessOver() {
    const MutexLock lock(over_mutex_);
    if (!over_) {
      context_.TryCancel();
    }
    return !over_;
  }
  // gRPC has called OnDone; its context is about to go.
  void Over() {
    const MutexLock lock(over_mutex_);
    over_ = true;
  }
  bool cancelled() const { return stop_.stop_requested(); }
  const Host& host() const { return host_; }
  const std::string& trace() const { return trace_; }

 private:
  // Counts the call while it lasts.
  class ActiveCall {
   public:
    explicit ActiveCall(ops::ServiceState& state) : state_(state) { state_.CallBegan(); }
    ~ActiveCall() { state_.CallEnded(); }
    ActiveCall(const ActiveCall&) = delete;
    ActiveCall& operator=(const ActiveCall&) = delete;

   private:
    ops::ServiceState& state_;
  };

  cache::Deadline DeadlineOfCall(jobs::Lane lane) const;
  jobs::Job JobOf(Body body, std::shared_ptr<JobEnd> end, jobs::Lane lane);
  grpc::Status FullStatus(const Error& error, v1::ErrorDetail detail);
  // Once, in all that is kept of a call: when its end is known, and at the latest when it is over.
  void Record() noexcept;
  void Tell() const;
  // It ended so: the caller may not do that.
  bool WasRefused() const;
  void Audit() const;
  void Measure();
  void Judge();
  Result<void> NeedsWriteAfterAll(const Error& error);
  Result<void> RunBody(const Body& body, const cache::Call& call);
  void AddSpan(std::string_view name, Duration from, Duration until);

  const Host& host_;
  const ActiveCall counted_;
  grpc::CallbackServerContext& context_;
  const std::string_view method_;
  const Duration start_;
  std::string trace_;
  std::string parent_;  // span of the caller
  bool introduced_ = false;
  bool recorded_ = false;
  std::string ended_as_ = "OK";
  size_t ended_code_ = 0;
  std::string reason_;  // of what it ended with
  std::string object_;
  uint64_t rejected_ = 0;  // of what was sent
  std::string rejected_as_;
  const ops::Caller caller_;
  const ops::Party party_;  // whether it is permitted or not
  ops::Scope needed_;
  ops::Principal principal_;
  Result<void> permitted_;
  jobs::Lane lane_ = jobs::Lane::kInteractive;  // of the last job
  std::vector<ops::TraceSpan> spans_;
  std::stop_source stop_;
  Mutex over_mutex_;
  bool over_ KILN_GUARDED_BY(over_mutex_) = false;
};

// That the client of a stream does not keep up (spec/daemon 9.6): a warning about the owner's own
// programs, and about others at info, so that they push out no warning.
void LogSlowReader(const CallContext& frame);

}  // namespace kiln::rpc
