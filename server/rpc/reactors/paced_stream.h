// SPDX-License-Identifier: MIT
// A stream of replies whose reader has to keep up. Derived calls write one message at a time and
// run one job at a time; whoever is too slow finds the stream ended, at once or when the job that
// runs has returned, and whoever does not even take the end is cut off. What a step of the call
// throws ends it, too. See spec/daemon 9.6
//
// Threads: jobs, gRPC and the look at readers; one mutex guards who ends the call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <grpcpp/support/byte_buffer.h>

#include "compiler/base/mutex.h"
#include "server/rpc/reactors/call_context.h"
#include "server/rpc/reactors/open_streams.h"
#include "server/rpc/reactors/reader_pace.h"
#include "server/rpc/reactors/start_stream.h"

namespace kiln::rpc {

// Lives until the call is over and nobody has hold of it.
class PacedStream : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                    public OpenStreams::Stream,
                    public std::enable_shared_from_this<PacedStream> {
 public:
  using Reactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;

  // gRPC holds a plain pointer until OnDone.
  void Launch() {
    self_ = shared_from_this();
    Step([this] {
      frame.host().streams.Add(self_);
      Begin();
    });
  }

 protected:
  PacedStream(const Host& host, grpc::CallbackServerContext& context, std::string_view method)
      : frame(host, context, method) {}

  virtual void Begin() = 0;
  // The transport has taken a message, or never will.
  virtual void OnWritten(bool ok) = 0;

  // Hands a message to the transport; nothing happens once the call has ended.
  void Write(const grpc::ByteBuffer& message) {
    const MutexLock lock(pace_mutex_);
    if (!ended_) {
      frame.Introduce();
      pace_.Begin(message.Length(), frame.host().clock.Monotonic());
      StartWrite(&message);
    }
  }

  // To be called for every message that the transport has taken or not.
  void Written(bool more_waits) {
    const MutexLock lock(pace_mutex_);
    pace_.End();
    if (!more_waits) {
      pace_.CaughtUp();
    }
  }

  // The first one counts.
  void End(const Result<void>& result, v1::ErrorDetail detail = {}) {
    const MutexLock lock(pace_mutex_);
    EndNow(result, std::move(detail));
  }

  // Runs a job unless the call has ended; `done` is called unless it ended meanwhile.
  void RunJob(CallContext::Body body, std::function<void(const Result<void>&)> done,
              jobs::Lane lane = jobs::Lane::kInteractive) {
    {
      const MutexLock lock(pace_mutex_);
      if (ended_) {
        return;
      }
      working_ = true;
    }
    frame.Submit([self = shared_from_this(),
                  body = std::move(body)](const cache::Call& call) { return body(call); },
                 [self = shared_from_this(), done = std::move(done)](const Result<void>& result) {
                   {
                     const MutexLock lock(self->pace_mutex_);
                     self->working_ = false;
                     if (self->ends_as_.has_value()) {
                       self->EndNow(*self->ends_as_, {});
                     }
                     if (self->ended_) {
                       return;
                     }
                   }
                   self->Step([&] { done(result); });
                 },
                 lane);
  }

  // Ends the call once no job works for it.
  void EndWith(const Error& error) final {
    const MutexLock lock(pace_mutex_);
    EndSoon(error);
  }

  CallContext frame;

 private:
  // What it throws ends the call.
  template <class F>
  void Step(F&& step) noexcept {
    const Result<void> done = frame.Try([&]() -> Result<void> {
      step();
      return {};
    });
    if (!done.ok()) {
      frame.Cancel();  // the job, if one runs
      (void)CatchAll([&] { End(done); });
    }
  }

  void EndSoon(const Error& error) KILN_REQUIRES(pace_mutex_) {
    if (ended_ || ends_as_.has_value()) {
      return;
    }
    ends_as_ = error;
    frame.Cancel();
    if (!working_) {
      EndNow(error, {});
    }
  }

  void EndNow(const Result<void>& result, v1::ErrorDetail detail) KILN_REQUIRES(pace_mutex_) {
    if (!ended_) {
      ended_ = true;
      ended_at_ = frame.host().clock.Monotonic();
      Finish(frame.StatusOf(result, std::move(detail)));
    }
  }

  void Look(Duration now) final {
    const MutexLock lock(pace_mutex_);
    if (ended_) {
      if (ends_as_.has_value() && now - ended_at_ > kSlowGrace) {
        frame.CutUnlessOver();
      }
    } else if (!ends_as_.has_value() && pace_.IsTooSlow(now)) {
      LogSlowReader(frame);
      EndSoon(SlowReader());
    }
  }

  void OnWriteDone(bool ok) final {
    Step([&] { OnWritten(ok); });
  }
  void OnCancel() final { frame.Cancel(); }
  void OnDone() final {
    frame.Over();
    const std::shared_ptr<PacedStream> last = std::move(self_);
  }

  std::shared_ptr<PacedStream> self_;
  Mutex pace_mutex_;
  ReaderPace pace_ KILN_GUARDED_BY(pace_mutex_);
  bool working_ KILN_GUARDED_BY(pace_mutex_) = false;  // a job
  // What somebody else ended it with, which waits for the job.
  std::optional<Error> ends_as_ KILN_GUARDED_BY(pace_mutex_);
  bool ended_ KILN_GUARDED_BY(pace_mutex_) = false;  // Finish was called
  Duration ended_at_ KILN_GUARDED_BY(pace_mutex_){};
};

}  // namespace kiln::rpc
