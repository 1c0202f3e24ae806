// SPDX-License-Identifier: MIT
#include <deque>
#include <thread>

#include "proto/kiln/v1/batch.grpc.pb.h"
#include "server/rpc/call_frame.h"
#include "server/rpc/paging.h"
#include "server/rpc/services.h"

namespace kiln::rpc {
namespace {

// One thread that drives all watchers, so that neither the thread that makes an event nor a thread
// of gRPC does it: both call from inside of locks.
class WatchDriver {
 public:
  WatchDriver() : thread_([this](const std::stop_token& stop) { Loop(stop); }) {}
  ~WatchDriver() {
    {
      const MutexLock lock(mutex_);
      thread_.request_stop();
    }
    changed_.NotifyAll();
  }

  void Post(std::function<void()> step) {
    {
      const MutexLock lock(mutex_);
      steps_.push_back(std::move(step));
    }
    changed_.NotifyOne();
  }

 private:
  void Loop(const std::stop_token& stop) {
    for (;;) {
      std::function<void()> step;
      {
        const MutexLock lock(mutex_);
        while (steps_.empty() && !stop.stop_requested()) {
          changed_.Wait(mutex_);
        }
        if (steps_.empty()) {
          return;
        }
        step = std::move(steps_.front());
        steps_.pop_front();
      }
      step();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> steps_ KILN_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses the rest
};

// Follows one batch. Everything but construction happens in the driver's thread. Lives until the
// call is over and no step is left.
class WatchCall final : public grpc::ServerWriteReactor<v1::BatchEvent>,
                        public std::enable_shared_from_this<WatchCall> {
 public:
  WatchCall(const Host& host, grpc::CallbackServerContext& context, build::Batches& batches,
            WatchDriver& driver, uint64_t from_seq)
      : frame_(host, context, "WatchBatch"),
        batches_(batches),
        driver_(driver),
        next_seq_(from_seq) {}

  // gRPC holds a plain pointer until OnDone.
  static grpc::ServerWriteReactor<v1::BatchEvent>* Start(std::shared_ptr<WatchCall> call,
                                                         const std::string& batch_id) {
    WatchCall* const reactor = call.get();
    reactor->self_ = std::move(call);
    if (!reactor->frame_.Permitted().ok()) {
      reactor->End(reactor->frame_.Permitted());
      return reactor;
    }
    const Result<Hash128> id = IdFromProto("batch_id", batch_id);
    if (!id.ok()) {
      reactor->End(id.error());
      return reactor;
    }
    reactor->id_ = *id;
    Result<std::shared_ptr<void>> subscription = reactor->batches_.Subscribe(
        *id, [weak = reactor->weak_from_this(), &driver = reactor->driver_] {
          driver.Post([weak] {
            if (const std::shared_ptr<WatchCall> alive = weak.lock(); alive != nullptr) {
              alive->Step();
            }
          });
        });
    if (!subscription.ok()) {
      reactor->End(subscription.error());
      return reactor;
    }
    reactor->subscription_ = std::move(subscription).value();
    reactor->PostStep();
    return reactor;
  }

 private:
  void PostStep() {
    driver_.Post([self = shared_from_this()] { self->Step(); });
  }

  // Writes the next event, if there is one and nothing is being written.
  void Step() {
    if (writing_ || finished_) {
      return;
    }
    if (frame_.cancelled()) {
      return End(Error{.code = ErrorCode::kCancelled, .context = "the watcher is gone"});
    }
    if (waiting_.empty()) {
      Result<std::vector<build::BatchEvent>> events = batches_.Events(id_, next_seq_);
      if (!events.ok()) {
        return End(events.error());
      }
      waiting_.assign(events->begin(), events->end());
    }
    if (waiting_.empty()) {
      return;
    }
    message_.Clear();
    ToProto(waiting_.front(), message_);
    message_.set_at(static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(frame_.host().clock.UnixTime())
            .count()));
    next_seq_ = waiting_.front().seq;
    waiting_.pop_front();
    writing_ = true;
    StartWrite(&message_);
  }

  void End(const Result<void>& result) {
    finished_ = true;
    Finish(frame_.StatusOf(result));
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      frame_.Cancel();
    }
    driver_.Post([self = shared_from_this()] {
      self->writing_ = false;
      self->message_.has_final() && !self->frame_.cancelled() ? self->End({}) : self->Step();
    });
  }

  void OnCancel() override {
    frame_.Cancel();
    PostStep();
  }

  void OnDone() override {
    // The subscription goes in the driver's thread: giving it up takes the batch's lock.
    driver_.Post([self = std::move(self_)] { self->subscription_.reset(); });
  }

  CallFrame frame_;
  build::Batches& batches_;
  WatchDriver& driver_;
  std::shared_ptr<WatchCall> self_;
  Hash128 id_;
  std::shared_ptr<void> subscription_;
  uint64_t next_seq_;
  std::deque<build::BatchEvent> waiting_;
  v1::BatchEvent message_;
  bool writing_ = false;
  bool finished_ = false;
};

class BatchService final : public v1::BatchService::CallbackService {
 public:
  BatchService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  grpc::ServerUnaryReactor* StartBatch(grpc::CallbackServerContext* context,
                                       const v1::StartBatchRequest* request,
                                       v1::StartBatchReply* reply) override {
    return new UnaryCall(host_, *context, "StartBatch", UnaryCall::Needs::kWork,
                         [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                           return Start(*request, call, *reply, detail);
                         });
  }

  grpc::ServerWriteReactor<v1::BatchEvent>* WatchBatch(
      grpc::CallbackServerContext* context, const v1::WatchBatchRequest* request) override {
    return WatchCall::Start(
        std::make_shared<WatchCall>(host_, *context, engine_.batches, driver_, request->from_seq()),
        request->batch_id());
  }

  grpc::ServerUnaryReactor* GetBatch(grpc::CallbackServerContext* context,
                                     const v1::GetBatchRequest* request,
                                     v1::Batch* reply) override {
    return AtOnce(*context, "GetBatch", [this, request, reply]() -> Result<void> {
      KILN_TRY(const Hash128 id, IdFromProto("batch_id", request->batch_id()));
      KILN_TRY(const build::BatchSummary summary, engine_.batches.Get(id));
      ToProto(summary, *reply);
      return {};
    });
  }

  grpc::ServerUnaryReactor* CancelBatch(grpc::CallbackServerContext* context,
                                        const v1::CancelBatchRequest* request,
                                        v1::Batch* reply) override {
    return AtOnce(*context, "CancelBatch", [this, request, reply]() -> Result<void> {
      KILN_TRY(const Hash128 id, IdFromProto("batch_id", request->batch_id()));
      KILN_TRY(const build::BatchSummary summary, engine_.batches.Cancel(id));
      ToProto(summary, *reply);
      return {};
    });
  }

  // One page: a daemon remembers the batches of its own life only.
  grpc::ServerUnaryReactor* ListBatches(grpc::CallbackServerContext* context,
                                        const v1::ListBatchesRequest* request,
                                        v1::ListBatchesReply* reply) override {
    return AtOnce(*context, "ListBatches", [this, request, reply]() -> Result<void> {
      if (!request->page_token().empty()) {
        return BadPageToken();
      }
      for (const build::BatchSummary& summary : engine_.batches.List()) {
        const auto& states = request->states();
        const bool wanted = (states.empty() || std::find(states.begin(), states.end(),
                                                         ToProto(summary.state)) != states.end()) &&
                            (request->project().empty() || request->project() == summary.project);
        if (wanted) {
          ToProto(summary, *reply->add_batches());
        }
      }
      return {};
    });
  }

  grpc::ServerUnaryReactor* ListBatchItems(grpc::CallbackServerContext* context,
                                           const v1::ListBatchItemsRequest* /*request*/,
                                           v1::ListBatchItemsReply* /*reply*/) override {
    return AtOnce(*context, "ListBatchItems", [] { return NotBuiltIn("ListBatchItems"); });
  }

  grpc::ServerUnaryReactor* PauseBatch(grpc::CallbackServerContext* context,
                                       const v1::PauseBatchRequest* /*request*/,
                                       v1::Batch* /*reply*/) override {
    return AtOnce(*context, "PauseBatch", [] { return NotBuiltIn("PauseBatch"); });
  }

  grpc::ServerUnaryReactor* ResumeBatch(grpc::CallbackServerContext* context,
                                        const v1::ResumeBatchRequest* /*request*/,
                                        v1::Batch* /*reply*/) override {
    return AtOnce(*context, "ResumeBatch", [] { return NotBuiltIn("ResumeBatch"); });
  }

 private:
  Result<void> Start(const v1::StartBatchRequest& request, const cache::Call& call,
                     v1::StartBatchReply& reply, v1::ErrorDetail& detail) {
    KILN_TRY(build::BatchRequest batch, FromProto(request));
    std::vector<build::Source> sources;
    for (const build::BatchProgram& program : batch.programs) {
      sources.insert(sources.end(), program.program.sources.begin(), program.program.sources.end());
    }
    KILN_TRY_VOID(ListMissing(engine_, sources, call, detail));
    if (detail.missing_size() != 0) {
      return Error{.code = ErrorCode::kFailedPrecondition,
                   .context = "sources are not here; upload them with PutSources and repeat",
                   .reason = "SOURCES_MISSING"};
    }
    KILN_TRY(const build::Batches::Started started,
             engine_.batches.Start(BatchIdOf(request), std::move(batch)));
    reply.set_batch_id(IdBytes(started.id));
    reply.set_attached(started.attached);
    KILN_TRY(const build::BatchSummary summary, engine_.batches.Get(started.id));
    ToProto(summary.progress, *reply.mutable_counts());
    return {};
  }

  grpc::ServerUnaryReactor* AtOnce(grpc::CallbackServerContext& context, std::string_view method,
                                   const std::function<Result<void>()>& body) {
    return new UnaryCall(host_, context, method, UnaryCall::Needs::kNothing,
                         [&body](const cache::Call&, v1::ErrorDetail&) { return body(); });
  }

  const Host& host_;
  Engine& engine_;
  WatchDriver driver_;
};

}  // namespace

std::shared_ptr<grpc::Service> MakeBatchService(const Host& host, Engine& engine) {
  return std::make_shared<BatchService>(host, engine);
}

}  // namespace kiln::rpc
