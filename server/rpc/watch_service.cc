// SPDX-License-Identifier: MIT
#include "server/rpc/watch_service.h"

#include <chrono>
#include <set>

#include "proto/kiln/v1/watch.grpc.pb.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/calls/watch_calls.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/request_error.h"
#include "server/rpc/messages/wire.h"
#include "server/rpc/reactors/call_context.h"
#include "server/rpc/reactors/event_pump.h"
#include "server/rpc/reactors/host.h"
#include "server/rpc/reactors/open_streams.h"
#include "server/rpc/reactors/reader_pace.h"
#include "server/rpc/reactors/start_stream.h"

namespace kiln::rpc {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(250);

class WatchCall;

// The calls that are open, for ticks. Used in the step thread only.
using OpenCalls = std::set<WatchCall*>;

// One connection of a client. Messages are read one at a time, as bytes, and taken in by jobs;
// everything else happens in the step thread, and what a step throws ends the call. Lives until the
// call is over and no step or job is left.
class WatchCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                        public OpenStreams::Stream,
                        public std::enable_shared_from_this<WatchCall> {
 public:
  using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

  WatchCall(const Host& host, grpc::CallbackServerContext& context, Engine& engine,
            EventPump& steps, OpenCalls& open)
      : frame_(host, context, "Watch"),
        engine_(engine),
        steps_(steps),
        open_(open),
        began_(host.clock.Monotonic()) {}

  // gRPC holds a plain pointer until OnDone.
  void Launch() {
    self_ = shared_from_this();
    Post([](WatchCall& self) {
      self.frame_.host().streams.Add(self.self_);
      self.open_.insert(&self);
      if (const Result<void> admitted = self.frame_.Admit(); !admitted.ok()) {
        return self.End(admitted);
      }
      self.StartRead(&self.bytes_);
    });
  }

  // The first result counts; a job that has the message is waited for.
  void End(const Result<void>& result) {
    if (!finished_) {
      finished_ = true;
      ends_as_ = result;
      stream_.reset();  // for the session, too, the connection is over
    }
    // The job has the message and the detail, so the call waits for its end, which the stop brings
    // about soon.
    if (taking_in_) {
      return frame_.Cancel();
    }
    if (!std::exchange(closed_, true)) {
      Finish(frame_.StatusOf(ends_as_, std::move(detail_)));
    }
  }

  // Look is Tick, which the step thread does.
  void Look(Duration /*now*/) override {}
  void EndWith(const Error& error) override {
    Post([error](WatchCall& self) { self.End(error); });
  }

  // A reader that takes no events makes the daemon hold memory: its stream ends, and the call is
  // cut if it does not even take the end.
  void Tick(Duration now) {
    const Duration idle = frame_.host().limits.upload_idle;
    if (!finished_ && pace_.IsTooSlow(now)) {
      LogSlowReader(frame_);
      End(SlowReader());
      cut_at_ = now + kSlowGrace;
    } else if (!finished_ && stream_ == nullptr && !taking_in_ && now - began_ > idle) {
      End(LateClient("idle upload", idle));  // it was not even opened
    }
    if (finished_ && now >= cut_at_) {
      frame_.CutUnlessOver();
    }
  }

 private:
  void Post(std::function<void(WatchCall&)> step) noexcept {
    PostBare([step = std::move(step)](WatchCall& self) { self.frame_.Run(self, step); });
  }

  // Of a step that throws nothing. A call that loses one would never end: without memory for one it
  // is cut.
  template <class F>
  void PostBare(F&& step) noexcept {
    const Result<void> posted = CatchAll([&] {
      steps_.Post([self = shared_from_this(), step = std::forward<F>(step)] { step(*self); });
    });
    if (!posted.ok()) {
      frame_.CutUnlessOver();
    }
  }

  // ---- what the client says ----

  void OnReadDone(bool ok) override {
    Post([ok](WatchCall& self) { self.Read(ok); });
  }

  // One message is taken in at a time, by a job, and the next is read when it was: a client that
  // pushes faster than its edits can be taken in is slowed down by flow control, not remembered.
  void Read(bool ok) {
    if (finished_) {
      return;
    }
    if (!ok) {
      // A source client that has nothing more to say gets what its pushes led to.
      half_closed_ = true;
      return stream_ == nullptr ? End(Malformed("message", "the first message is `open`")) : Step();
    }
    frame_.Heard();
    taking_in_ = true;
    // What the job makes is its own until the step thread takes it over, so neither needs a lock.
    auto taken = std::make_shared<StreamIntake>(StreamIntake{.stream = stream_});
    frame_.Submit([self = shared_from_this(),
                   taken](const cache::Call& call) { return self->TakeIn(*taken, call); },
                  [self = shared_from_this(), taken](const Result<void>& result) {
                    self->PostBare([taken, result](WatchCall& call) {
                      call.taking_in_ = false;
                      call.frame_.Run(call, [&](WatchCall& step) { step.TakenIn(*taken, result); });
                    });
                  });
  }

  // What a job makes of one message. Nothing else of the call is the job's, but the message.
  struct StreamIntake {
    std::shared_ptr<reload::Subscriptions::Stream> stream;
    v1::ErrorDetail detail;
  };

  Result<void> TakeIn(StreamIntake& taken, const cache::Call& call) {
    // Parsing is part of the job: a message of megabytes must not hold up the step thread, which
    // all watchers share.
    KILN_TRY(request_, MessageFrom<v1::WatchRequest>(bytes_));
    bytes_.Clear();
    if (request_.has_open()) {
      return Open(taken, call);
    }
    if (taken.stream == nullptr) {
      return Malformed("message", "the first message is `open`");
    }
    if (request_.has_push()) {
      KILN_TRY(reload::PushedChange change, PushFrom(engine_, request_.push(), call, taken.detail));
      return taken.stream->Push(std::move(change));
    }
    if (request_.has_interest()) {
      KILN_TRY(std::vector<reload::Interest> interest,
               InterestFrom(request_.interest().variants()));
      taken.stream->SetInterest(std::move(interest));
      return {};
    }
    return request_.has_ack() ? taken.stream->Acknowledge(request_.ack().seq())
                              : Malformed("message", "neither open, push, interest nor ack");
  }

  Result<void> Open(StreamIntake& taken, const cache::Call& call) {
    if (taken.stream != nullptr) {
      return Malformed("open", "the stream is open already");
    }
    KILN_TRY(reload::OpenRequest request,
             OpenFrom(engine_, request_.open(), frame_.principal(), call, taken.detail));
    // Weakly: a session that outlives the connection must not keep the call alive. It is called
    // inside of the session's lock, so it only posts.
    const auto wake = [weak = weak_from_this(), &steps = steps_] {
      steps.Post([weak] {
        if (const std::shared_ptr<WatchCall> alive = weak.lock(); alive != nullptr) {
          alive->frame_.Run(*alive, [](WatchCall& self) { self.Step(); });
        }
      });
    };
    KILN_TRY(taken.stream, engine_.watches.Open(std::move(request), wake));
    return {};
  }

  void TakenIn(StreamIntake& taken, const Result<void>& result) {
    if (finished_) {
      return End({});  // it waited for the job
    }
    if (stream_ == nullptr && taken.stream != nullptr) {
      stream_ = std::move(taken.stream);
      inline_data_ = request_.open().inline_data();
      is_source_ = request_.open().role() != v1::WatchRequest::Open::SUBSCRIBER;
    }
    if (!result.ok()) {
      detail_ = std::move(taken.detail);
      return End(result);
    }
    request_.Clear();
    StartRead(&bytes_);
    Step();
  }

  // ---- what the client hears ----

  // Writes the next event, if there is one and nothing is being written.
  void Step() {
    if (writing_ || finished_) {
      return;
    }
    if (frame_.cancelled()) {
      return End(Error{.code = ErrorCode::kCancelled, .context = "the client is gone"});
    }
    if (stream_ == nullptr) {
      return;
    }
    if (const std::optional<reload::Event> event = stream_->Take(); event.has_value()) {
      if (const Result<void> known = frame_.StillPermitted(); !known.ok()) {
        return End(known);
      }
      message_.Clear();
      ToProto(engine_, *event, inline_data_, message_);
      writing_ = true;
      // One event is on its way at a time. What happens meanwhile is conflated in the session and
      // takes no memory here. See spec/daemon 8.3.6
      pace_.Begin(message_.ByteSizeLong(), frame_.host().clock.Monotonic());
      frame_.Introduce();
      bool own = false;
      sent_.Clear();
      (void)grpc::SerializationTraits<v1::WatchEvent>::Serialize(message_, &sent_, &own);
      return StartWrite(&sent_);
    }
    pace_.CaughtUp();
    if (const std::optional<Error> ended = stream_->Ended(); ended.has_value()) {
      return End(*ended);
    }
    if (half_closed_ && is_source_ && stream_->IsSettled()) {
      End({});
    }
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      frame_.Cancel();
    }
    Post([](WatchCall& self) {
      self.writing_ = false;
      self.pace_.End();
      self.Step();
    });
  }

  void OnCancel() override {
    frame_.Cancel();
    Post([](WatchCall& self) { self.Step(); });
  }

  void OnDone() override {
    frame_.Over();
    (void)CatchAll([this] {  // else it stays until the process ends
      // The reference is dropped in the step thread, behind all steps that may still name the call.
      steps_.Post([self = self_] {
        self->open_.erase(self.get());
        self->self_.reset();
      });
    });
  }

  CallContext frame_;
  Engine& engine_;
  EventPump& steps_;
  OpenCalls& open_;
  std::shared_ptr<WatchCall> self_;
  v1::ErrorDetail detail_;
  const Duration began_;
  grpc::ByteBuffer bytes_;    // that were read last; of the job, while there is one
  v1::WatchRequest request_;  // the same
  v1::WatchEvent message_;
  grpc::ByteBuffer sent_;  // its bytes
  std::shared_ptr<reload::Subscriptions::Stream> stream_;
  bool taking_in_ = false;  // a job has the message
  Result<void> ends_as_;    // once the job is done
  bool inline_data_ = false;
  bool is_source_ = false;
  bool half_closed_ = false;
  bool writing_ = false;
  bool finished_ = false;  // it is decided how the call ends
  bool closed_ = false;    // Finish was called
  ReaderPace pace_;
  Duration cut_at_ = Duration::max();
};

// Bytes are read because a malformed message would otherwise look like the end of the stream.
class WatchService final
    : public v1::WatchService::WithRawCallbackMethod_Watch<v1::WatchService::Service> {
 public:
  WatchService(const Host& host, Engine& engine)
      : host_(host),
        engine_(engine),
        steps_(
            kTick, [this] { Tick(); }, host.log) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Watch(
      grpc::CallbackServerContext* context) override {
    return StartStream<WatchCall>(host_, *context, engine_, steps_, open_);
  }

 private:
  void Tick() {
    if (host_.state.Ready()) {
      (void)CatchAll([this] { engine_.watches.Tick(); });  // it comes again
    }
    const Duration now = host_.clock.Monotonic();
    // Over a copy: a call that ends during its tick takes itself out of the set.
    for (WatchCall* const call : OpenCalls(open_)) {
      (void)CatchAll([&] { call->Tick(now); });  // one costs no other its look
    }
  }

  const Host& host_;
  Engine& engine_;
  OpenCalls open_;   // of the step thread
  EventPump steps_;  // last: it uses the rest
};

}  // namespace

std::shared_ptr<grpc::Service> MakeWatchService(const Host& host, Engine& engine) {
  return std::make_shared<WatchService>(host, engine);
}

}  // namespace kiln::rpc
