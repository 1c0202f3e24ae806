// SPDX-License-Identifier: MIT
// Calls that stream requests: chunks are taken in as they come, and what is complete is stored by
// jobs. Whoever sends nothing, or takes too long, or holds more than there is room for finds the
// call ended. See spec/daemon 2.7, 9.6, 10
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "compiler/base/mutex.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"
#include "server/rpc/messages/wire.h"
#include "server/rpc/reactors/call_context.h"
#include "server/rpc/reactors/open_streams.h"
#include "server/rpc/reactors/reader_pace.h"
#include "server/rpc/reactors/start_stream.h"

namespace kiln::rpc {

inline constexpr uint64_t kStoreUploadsAt = uint64_t{16} << 20;

// Upload(Engine&, ByteRoom&, const ops::Principal&, const ServiceLimits&): Take(Request), waiting()
// bytes, Store(call), Finish() gives the reply, TakeRejected() what was refused since the last
// time. Lives until the call is over and no job has hold of it.
//
// Threads: gRPC reads, jobs store, and the look at streams ends what is late; one mutex guards who
// ends the call. What is read or stored belongs to whoever is busy.
template <class Upload, class Request, class Reply>
class UploadCall final : public grpc::ServerReadReactor<grpc::ByteBuffer>,
                         public OpenStreams::Stream,
                         public std::enable_shared_from_this<UploadCall<Upload, Request, Reply>> {
 public:
  using Reactor = grpc::ServerReadReactor<grpc::ByteBuffer>;

  UploadCall(const Host& host, grpc::CallbackServerContext& context, std::string_view method,
             Engine& engine, grpc::ByteBuffer& reply)
      : frame_(host, context, method),
        engine_(engine),
        reply_(reply),
        began_(host.clock.Monotonic()),
        heard_at_(began_) {}

  // gRPC holds a plain pointer until OnDone.
  void Launch() {
    self_ = this->shared_from_this();
    Step([this]() -> Result<void> {
      frame_.host().streams.Add(self_);
      KILN_TRY_VOID(frame_.Admit());
      const Host& host = frame_.host();
      upload_.emplace(engine_, host.uploads, frame_.principal(), host.limits);
      Read();
      return {};
    });
  }

  void EndWith(const Error& error) override {
    const MutexLock lock(mutex_);
    EndSoon(error);
  }

 private:
  // What it throws or gives ends the call.
  template <class F>
  void Step(F&& step) noexcept {
    const Result<void> done = frame_.Try(std::forward<F>(step));
    if (!done.ok()) {
      (void)CatchAll([&] { End(done); });
    }
  }

  void Read() {
    const MutexLock lock(mutex_);
    busy_ = false;
    if (ends_as_.has_value()) {
      return EndNow(*ends_as_);
    }
    heard_at_ = frame_.host().clock.Monotonic();
    StartRead(&bytes_);
  }

  void OnReadDone(bool ok) override {
    {
      const MutexLock lock(mutex_);
      if (ended_) {
        return;
      }
      busy_ = true;
    }
    Step([this, ok]() -> Result<void> {
      if (ok) {
        frame_.Heard();
        KILN_TRY_VOID(Take());
      }
      if (ok && upload_->waiting() < kStoreUploadsAt) {
        Read();
      } else {
        Store(ok ? AfterStore::kRead : AfterStore::kEnd);
      }
      return {};
    });
  }

  Result<void> Take() {
    // gRPC bounds messages by the larger size of a request, so the smaller one of streams is asked
    // here, before the message is parsed.
    if (bytes_.Length() > kMaxStreamMessage) {
      return AboveLimit("stream message", kMaxStreamMessage, bytes_.Length());
    }
    KILN_TRY(const Request message, MessageFrom<Request>(bytes_));
    bytes_.Clear();
    const Result<void> taken =  // which hashes what is complete
        frame_.WhileWanted([&] { return upload_->Take(message); });
    for (const auto& [digest, reason] : upload_->TakeRejected()) {
      frame_.NoteRejected(digest.id.hex(), reason);
    }
    return taken;
  }

  enum class AfterStore : uint8_t { kRead, kEnd };
  void Store(AfterStore then) {
    frame_.Submit([self = this->shared_from_this()](
                      const cache::Call& call) { return self->upload_->Store(call); },
                  [self = this->shared_from_this(), then](const Result<void>& stored) {
                    self->Step([&]() -> Result<void> {
                      KILN_TRY_VOID(stored);
                      if (then == AfterStore::kRead) {
                        self->Read();
                        return {};
                      }
                      KILN_TRY(const Reply reply, self->upload_->Finish());
                      WriteTo(reply, self->reply_);
                      self->End({});
                      return {};
                    });
                  });
  }

  // By whoever is busy. What others have ended it with counts more.
  void End(const Result<void>& result) {
    const MutexLock lock(mutex_);
    EndNow(ends_as_.has_value() ? Result<void>(*ends_as_) : result);
  }

  void EndSoon(const Error& error) KILN_REQUIRES(mutex_) {
    if (ended_ || ends_as_.has_value()) {
      return;
    }
    ends_as_ = error;
    frame_.Cancel();
    if (!busy_) {
      EndNow(error);
    }
  }

  void EndNow(const Result<void>& result) KILN_REQUIRES(mutex_) {
    if (!ended_) {
      ended_ = true;
      ended_at_ = frame_.host().clock.Monotonic();
      upload_.reset();  // what it holds goes now, not when the client has heard
      this->Finish(frame_.StatusOf(result));
    }
  }

  void Look(Duration now) override {
    const ServiceLimits& limits = frame_.host().limits;
    const MutexLock lock(mutex_);
    if (ended_) {
      if (now - ended_at_ > ReaderPace::kNoProgress) {  // it does not take the reply
        frame_.CutUnlessOver();
      }
    } else if (now - began_ > limits.upload_time) {
      EndSoon(LateClient("upload time", limits.upload_time));
    } else if (!busy_ && now - heard_at_ > limits.upload_idle) {
      EndSoon(LateClient("idle upload", limits.upload_idle));
    }
  }

  void OnCancel() override { frame_.Cancel(); }
  void OnDone() override {
    frame_.Over();
    const std::shared_ptr<UploadCall> last = std::move(self_);
  }

  CallContext frame_;
  Engine& engine_;
  std::optional<Upload> upload_;  // from when it is known whose it is until the call ends
  grpc::ByteBuffer& reply_;
  grpc::ByteBuffer bytes_;  // that were read last
  const Duration began_;
  std::shared_ptr<UploadCall> self_;
  Mutex mutex_;
  bool busy_ KILN_GUARDED_BY(mutex_) = true;    // somebody takes in or stores; else gRPC reads
  bool ended_ KILN_GUARDED_BY(mutex_) = false;  // Finish was called
  Duration ended_at_ KILN_GUARDED_BY(mutex_){};
  std::optional<Error> ends_as_ KILN_GUARDED_BY(mutex_);  // once nobody is busy
  Duration heard_at_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::rpc
