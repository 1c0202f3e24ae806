// SPDX-License-Identifier: MIT
#include "server/rpc/reactors/unary_call.h"

#include <chrono>
#include <memory>
#include <utility>

#include "cache/decorators/memory_store.h"
#include "compiler/base/mutex.h"
#include "server/rpc/reactors/open_streams.h"
#include "server/rpc/reactors/reader_pace.h"

namespace kiln::rpc {
namespace {

// gRPC does not tell how much of a reply has gone: one has a minute, and longer if it is long.
constexpr uint64_t kBytesPerSecond = uint64_t{256} << 10;

Duration TimeFor(uint64_t bytes) {
  return ReaderPace::kNoProgress + std::chrono::seconds(bytes / kBytesPerSecond);
}

// A reply that its client has not taken. It outlives the call while somebody looks at it.
class WaitingReply final : public OpenStreams::Stream {
 public:
  explicit WaitingReply(std::unique_ptr<CallContext> of)
      : frame(std::move(of)), share_(frame->host().readers, frame->principal().party) {}

  // Requires: has not been called before. Errors: kResourceExhausted with BUFFERS_FULL.
  Result<void> Hold(uint64_t bytes) {
    if (!share_.Take(bytes)) {
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = "replies that are read slowly hold what they may",
                   .reason = "BUFFERS_FULL"};
    }
    until_ = frame->host().clock.Monotonic() + TimeFor(bytes);
    return {};
  }

  // The call is over.
  void Over() {
    // The object may outlive the call while somebody looks at it; what the call held is free at
    // once.
    frame->Over();
    share_.GiveBackAll();
  }

  void Look(Duration now) override {
    const MutexLock lock(mutex_);
    if (now > until_ && !cut_) {
      cut_ = true;
      if (frame->CutUnlessOver()) {
        LogSlowReader(*frame);
      }
    }
  }
  void EndWith(const Error& /*error*/) override {}  // it has ended; its reply is on its way

  const std::unique_ptr<CallContext> frame;

 private:
  ByteRoom::Share share_;
  Duration until_{};  // before anybody looks
  Mutex mutex_;
  bool cut_ KILN_GUARDED_BY(mutex_) = false;
};

// Deletes itself when gRPC is done with it, which may be long after its end: the reply lies in
// memory until the client has taken it. A long reply takes a share of what slow readers may hold
// together, and is watched like a stream.
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  UnaryCall(std::unique_ptr<CallContext> frame, v1::ErrorDetail detail, HeldBytes held)
      : reply_(std::make_shared<WaitingReply>(std::move(frame))),
        detail_(std::move(detail)),
        held_(std::move(held)) {}

  // By a job.
  void Work(FramedBody body) {
    CallContext& frame = *reply_->frame;
    frame.Submit([this, &frame, body = std::move(body)](
                     const cache::Call& call) { return body(frame, call, detail_); },
                 [this](const Result<void>& result) { End(result); });
  }

  // May delete this.
  void End(const Result<void>& result) noexcept {
    const Result<void> ended = result.ok() ? Hold() : result;
    Finish(reply_->frame->StatusOf(ended, std::move(detail_)));
  }

 private:
  // Before the answer is finished, since afterwards gRPC may be done with the call at any moment,
  // and this object gone.
  Result<void> Hold() noexcept {
    Result<void> held;
    Result<void> ran = CatchAll([&] {
      const uint64_t bytes = held_();
      if (bytes > kUncountedReply) {
        held = reply_->Hold(bytes);
        if (held.ok()) {
          reply_->frame->host().streams.Add(reply_);
        }
      }
    });
    return ran.ok() ? std::move(held) : std::move(ran);
  }

  void OnCancel() override { reply_->frame->Cancel(); }
  void OnDone() override {
    reply_->Over();
    delete this;
  }

  const std::shared_ptr<WaitingReply> reply_;
  v1::ErrorDetail detail_;
  const HeldBytes held_;
};

// gRPC's own reactor, which needs no thread to deliver its end.
grpc::ServerUnaryReactor* Finished(grpc::CallbackServerContext& context,
                                   const grpc::Status& status) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerUnaryReactor* Answer(const Host& host, grpc::CallbackServerContext& context,
                                 UnaryMethod method, FramedBody body) {
  auto frame = std::make_unique<CallContext>(host, context, method.name);
  v1::ErrorDetail detail;
  detail.set_trace_id(frame->trace());
  const auto answered = [&](const Result<void>& result) -> grpc::ServerUnaryReactor* {
    if (!result.ok() || method.held() <= kUncountedReply) {
      return Finished(context, frame->StatusOf(result, std::move(detail)));
    }
    auto* const call = new UnaryCall(std::move(frame), std::move(detail), std::move(method.held));
    call->End(result);
    return call;
  };
  if (method.needs == Needs::kNothing) {
    const cache::Call now = frame->CallFor({.deadline = cache::kAtOnce});
    const Result<void> done = frame->Permitted().ok()
                                  ? frame->Try([&] { return body(*frame, now, detail); })
                                  : frame->Permitted();
    if (done.ok() || done.error().reason != kNeedsWork) {
      return answered(done);
    }
  }
  if (const Result<void> admitted = frame->Admit(); !admitted.ok()) {
    return Finished(context, frame->StatusOf(admitted));
  }
  // What memory knows is answered in gRPC's thread: waking a worker would take longer than the
  // answer.
  if (method.needs == Needs::kWorkOrMemory &&
      frame->AnswersAtOnce([&](const cache::Call& call) { return body(*frame, call, detail); })) {
    return answered({});
  }
  auto* const call = new UnaryCall(std::move(frame), std::move(detail), std::move(method.held));
  call->Work(std::move(body));
  return call;
}

}  // namespace

grpc::ServerUnaryReactor* AnswerUnary(const Host& host, grpc::CallbackServerContext& context,
                                      UnaryMethod method, FramedBody body) {
  try {
    return Answer(host, context, std::move(method), std::move(body));
  } catch (...) {  // not of a body: the call cannot even be begun
    const Error error = ThrownError();
    return Finished(context, {static_cast<grpc::StatusCode>(error.code), error.context});
  }
}

grpc::ServerUnaryReactor* AnswerUnary(const Host& host, grpc::CallbackServerContext& context,
                                      UnaryMethod method, UnaryBody body) {
  return AnswerUnary(
      host, context, std::move(method),
      FramedBody([body = std::move(body)](CallContext&, const cache::Call& call,
                                          v1::ErrorDetail& detail) { return body(call, detail); }));
}

}  // namespace kiln::rpc
