// SPDX-License-Identifier: MIT
// BatchService (spec/daemon 4.2). WatchBatch is a stream of its own kind: it holds a number and no
// events, so any number of watchers cost one message each. All of its steps run in the step thread
// of the pump; gRPC's threads and the lock of the batch only post to it.
#include "server/rpc/batch_service.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>

#include "cache/leases/bounded_pins.h"
#include "proto/kiln/v1/batch.grpc.pb.h"
#include "server/compile/batch/batch_check.h"
#include "server/rpc/actor_of.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/messages/convert_batch.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/paging.h"
#include "server/rpc/messages/parsed_size.h"
#include "server/rpc/messages/request_error.h"
#include "server/rpc/reactors/bytes_call.h"
#include "server/rpc/reactors/call_context.h"
#include "server/rpc/reactors/event_pump.h"
#include "server/rpc/reactors/host.h"
#include "server/rpc/reactors/open_streams.h"
#include "server/rpc/reactors/reader_pace.h"
#include "server/rpc/reactors/start_stream.h"

namespace kiln::rpc {
namespace {

constexpr size_t kPageBytes = size_t{4} << 20;  // then the next item is on another page
// How often slow readers are looked for.
constexpr Duration kTick = std::chrono::milliseconds(250);
constexpr std::string_view kWaits =
    "the daemon was started again: the batch goes on when somebody with scope write starts, "
    "watches or resumes it";

class WatchCall;

// The calls that are open, for ticks. Used in the step thread only.
using OpenCalls = std::set<WatchCall*>;

// Follows one batch. Everything but construction happens in the step thread; what a step throws
// ends the call. Lives until the call is over and no step is left.
class WatchCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                        public OpenStreams::Stream,
                        public std::enable_shared_from_this<WatchCall> {
 public:
  using Reactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;

  WatchCall(const Host& host, grpc::CallbackServerContext& context, Engine& engine,
            EventPump& steps, OpenCalls& open, const grpc::ByteBuffer& request)
      : frame_(host, context, "WatchBatch"),
        engine_(engine),
        steps_(steps),
        open_(open),
        request_(request) {}

  // gRPC holds a plain pointer until OnDone.
  void Launch() {
    self_ = shared_from_this();
    const Result<void> begun = frame_.Try([this] { return Begin(); });
    if (!begun.ok()) {
      End(begun);
    }
  }

  // The first one counts.
  void End(const Result<void>& result) {
    if (!finished_) {
      finished_ = true;
      Finish(frame_.StatusOf(result));
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
    if (!finished_ && pace_.IsTooSlow(now)) {
      LogSlowReader(frame_);
      End(SlowReader());
      cut_at_ = now + kSlowGrace;
    }
    if (finished_ && now >= cut_at_) {
      frame_.CutUnlessOver();
    }
  }

 private:
  Result<void> Begin() {
    KILN_TRY_VOID(frame_.Permitted());
    if (request_.Length() > kMostAtOnce) {  // an id and a number, which no job has to read
      return Malformed("message", "it is longer than a request of WatchBatch can be");
    }
    KILN_TRY(const v1::WatchBatchRequest request, MessageFrom<v1::WatchBatchRequest>(request_));
    request_.Clear();
    KILN_TRY(id_, IdFromProto("batch_id", request.batch_id()));
    next_seq_ = request.from_seq();
    const bool may_wake = frame_.CallFor({}).may_write;
    // The subscription may call at any time from here on, so `self_` is set before it. It holds a
    // weak pointer: events of a batch must not keep a call alive.
    KILN_TRY(subscription_,
             engine_.batches.Subscribe(
                 id_, may_wake ? compile::Batches::Wakes::kYes : compile::Batches::Wakes::kNo,
                 [weak = weak_from_this(), &steps = steps_] {
                   steps.Post([weak] {
                     if (const std::shared_ptr<WatchCall> alive = weak.lock(); alive != nullptr) {
                       alive->frame_.Run(*alive, [](WatchCall& self) { self.Step(); });
                     }
                   });
                 }));
    KILN_TRY(const compile::BatchSummary known, engine_.batches.Get(id_));
    if (!may_wake && known.waits) {  // has no number of its own: the next events follow next_seq_
      waiting_.push_back({.seq = next_seq_,
                          .kind = compile::BatchEvent::Kind::kMessage,
                          .item = nullptr,
                          .text = std::string(kWaits)});
    }
    frame_.host().streams.Add(self_);
    Post([](WatchCall& self) {
      self.open_.insert(&self);
      self.Step();
    });
    return {};
  }

  // A call that loses a step would never end, so one without memory for a step is cut.
  void Post(std::function<void(WatchCall&)> step) noexcept {
    const Result<void> posted = CatchAll([&] {
      steps_.Post(
          [self = shared_from_this(), step = std::move(step)] { self->frame_.Run(*self, step); });
    });
    if (!posted.ok()) {
      frame_.CutUnlessOver();
    }
  }

  // Writes the next event, if there is one and nothing is being written. Events are read from the
  // batch when those of the last time were written, never queued here, so a watcher costs one
  // message whatever a batch has to say.
  void Step() {
    if (writing_ || finished_) {
      return;
    }
    if (frame_.cancelled()) {
      return End(Error{.code = ErrorCode::kCancelled, .context = "the watcher is gone"});
    }
    // From the batch by number, so nothing is lost between two steps and nothing is told twice.
    if (waiting_.empty()) {
      Result<std::vector<compile::BatchEvent>> events = engine_.batches.Events(id_, next_seq_);
      if (!events.ok()) {
        return End(events.error());
      }
      waiting_.assign(events->begin(), events->end());
    }
    if (waiting_.empty()) {
      return pace_.CaughtUp();
    }
    if (const Result<void> known = frame_.StillPermitted(); !known.ok()) {
      return End(known);
    }
    message_.Clear();
    ToProto(waiting_.front(), message_);
    message_.set_at(static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(frame_.host().clock.UnixTime())
            .count()));
    next_seq_ = waiting_.front().seq;
    waiting_.pop_front();
    writing_ = true;
    pace_.Begin(message_.ByteSizeLong(), frame_.host().clock.Monotonic());
    frame_.Introduce();
    WriteTo(message_, sent_);
    StartWrite(&sent_);
  }

  // In a thread of gRPC, like OnCancel and OnDone. None of them does anything but post.
  void OnWriteDone(bool ok) override {
    if (!ok) {
      frame_.Cancel();
    }
    Post([](WatchCall& self) {
      self.writing_ = false;
      self.pace_.End();
      if (!self.finished_) {
        self.message_.has_final() && !self.frame_.cancelled() ? self.End({}) : self.Step();
      }
    });
  }

  void OnCancel() override {
    frame_.Cancel();
    Post([](WatchCall& self) { self.Step(); });
  }

  void OnDone() override {
    frame_.Over();
    // The subscription goes in the step thread: giving it up takes the batch's lock.
    (void)CatchAll([this] {  // else it stays until the process ends
      steps_.Post([self = self_] {
        self->open_.erase(self.get());
        self->subscription_.reset();
        self->self_.reset();
      });
    });
  }

  CallContext frame_;
  Engine& engine_;
  EventPump& steps_;
  OpenCalls& open_;
  std::shared_ptr<WatchCall> self_;
  grpc::ByteBuffer request_;  // until it begins
  Hash128 id_;
  std::shared_ptr<void> subscription_;
  uint64_t next_seq_ = 0;
  std::deque<compile::BatchEvent> waiting_;
  v1::BatchEvent message_;
  grpc::ByteBuffer sent_;  // its bytes
  bool writing_ = false;
  bool finished_ = false;
  ReaderPace pace_;
  Duration cut_at_ = Duration::max();
};

// As ListBatches shows it (spec/daemon 4.2). It is a label: who may do what is decided by the
// principal.
std::string OwnerOf(const ops::Principal& who) {
  return !who.tenant.empty() ? who.tenant : !who.token.empty() ? who.token : "local";
}

// What the row of the batch stores: the whole request, so that it can be restored without its
// client (spec/daemon 7.1). Canonical, so that the stored bytes are those that the id is the digest
// of.
Bytes SpecOf(const v1::StartBatchRequest& request) {
  const std::string text = CanonicalBytes(request);
  const ByteView bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

// All methods read bytes: see bytes_call.h.
using RawStart =
    v1::BatchService::WithRawCallbackMethod_StartBatch<v1::BatchService::CallbackService>;
using RawWatch = v1::BatchService::WithRawCallbackMethod_WatchBatch<RawStart>;
using RawGet = v1::BatchService::WithRawCallbackMethod_GetBatch<RawWatch>;
using RawCancel = v1::BatchService::WithRawCallbackMethod_CancelBatch<RawGet>;
using RawList = v1::BatchService::WithRawCallbackMethod_ListBatches<RawCancel>;
using RawItems = v1::BatchService::WithRawCallbackMethod_ListBatchItems<RawList>;
using RawPause = v1::BatchService::WithRawCallbackMethod_PauseBatch<RawItems>;
class BatchService final : public v1::BatchService::WithRawCallbackMethod_ResumeBatch<RawPause> {
 public:
  BatchService(const Host& host, Engine& engine)
      : host_(host),
        engine_(engine),
        steps_(
            kTick, [this] { Tick(); }, host.log) {}

  grpc::ServerUnaryReactor* StartBatch(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::StartBatchRequest, v1::StartBatchReply>(
        host_, *context, "StartBatch", *request, *reply,
        [this](CallContext& frame, v1::StartBatchRequest request, const cache::Call& call,
               v1::StartBatchReply& reply, v1::ErrorDetail& detail) {
          return Start(std::move(request), frame.principal(), call, reply, detail);
        });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchBatch(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request) override {
    return StartStream<WatchCall>(host_, *context, engine_, steps_, open_, *request);
  }

  grpc::ServerUnaryReactor* GetBatch(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* reply) override {
    return AtOnce<v1::GetBatchRequest, v1::Batch>(
        *context, "GetBatch", *request, *reply,
        [this](const v1::GetBatchRequest& request, v1::Batch& reply) -> Result<void> {
          KILN_TRY(const Hash128 id, IdFromProto("batch_id", request.batch_id()));
          KILN_TRY(const compile::BatchSummary summary, engine_.batches.Get(id));
          ToProto(summary, reply);
          return {};
        });
  }

  grpc::ServerUnaryReactor* CancelBatch(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override {
    return Change<v1::CancelBatchRequest>(*context, "CancelBatch", *request, *reply,
                                          &compile::Batches::Cancel);
  }

  grpc::ServerUnaryReactor* ListBatches(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override {
    return AtOnce<v1::ListBatchesRequest, v1::ListBatchesReply>(
        *context, "ListBatches", *request, *reply,
        [this](const v1::ListBatchesRequest& request, v1::ListBatchesReply& reply) {
          return List(request, reply);
        });
  }

  grpc::ServerUnaryReactor* ListBatchItems(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override {
    return AtOnce<v1::ListBatchItemsRequest, v1::ListBatchItemsReply>(
        *context, "ListBatchItems", *request, *reply,
        [this](const v1::ListBatchItemsRequest& request, v1::ListBatchItemsReply& reply) {
          return ListItems(request, reply);
        });
  }

  grpc::ServerUnaryReactor* PauseBatch(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override {
    return Change<v1::PauseBatchRequest>(*context, "PauseBatch", *request, *reply,
                                         &compile::Batches::Pause);
  }

  grpc::ServerUnaryReactor* ResumeBatch(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override {
    return Change<v1::ResumeBatchRequest>(*context, "ResumeBatch", *request, *reply,
                                          &compile::Batches::Resume);
  }

 private:
  // In the step thread, over a copy: a call may end and erase itself.
  void Tick() {
    const Duration now = host_.clock.Monotonic();
    for (WatchCall* const call : OpenCalls(open_)) {
      (void)CatchAll([&] { call->Tick(now); });  // one costs no other its look
    }
  }

  // Latest first; a token is the last id that was listed. All batches are gone through for each
  // page; there are at most kMostKept.
  Result<void> List(const v1::ListBatchesRequest& request, v1::ListBatchesReply& reply) {
    std::vector<compile::BatchSummary> wanted;
    for (compile::BatchSummary& summary : engine_.batches.List()) {
      const auto& states = request.states();
      if ((states.empty() || std::ranges::find(states, ToProto(summary.state)) != states.end()) &&
          (request.project().empty() || request.project() == summary.project)) {
        wanted.push_back(std::move(summary));
      }
    }
    auto next = wanted.begin();
    if (!request.page_token().empty()) {
      next =
          std::ranges::find(wanted, request.page_token(),
                            [](const compile::BatchSummary& summary) { return summary.id.hex(); });
      if (next == wanted.end()) {
        return BadPageToken();
      }
      ++next;
    }
    for (uint32_t left = PageSize(request.page_size()); left != 0 && next != wanted.end(); --left) {
      ToProto(*next++, *reply.add_batches());
    }
    if (next != wanted.end()) {
      reply.set_next_page_token(std::prev(next)->id.hex());
    }
    return {};
  }

  // A token is the digest of the request and how many items came before. A page has at most
  // kPageBytes of items, but one item at least, so that every page goes on.
  Result<void> ListItems(const v1::ListBatchItemsRequest& request, v1::ListBatchItemsReply& reply) {
    KILN_TRY(const Hash128 id, IdFromProto("batch_id", request.batch_id()));
    compile::ItemKinds kinds;
    for (const std::string& kind : request.kinds()) {
      const bool known =
          kind == "failed" || kind == "poison" || kind == "slow" || kind == "deduped";
      if (!known) {
        return Malformed("kinds", "'" + kind + "' is not failed, poison, slow or deduped");
      }
      kinds.failed |= kind == "failed";
      kinds.poison |= kind == "poison";
      kinds.slow |= kind == "slow";
      kinds.deduped |= kind == "deduped";
    }
    v1::ListBatchItemsRequest same = request;
    same.clear_page_size();
    same.clear_page_token();
    const std::string prefix = HashBytes(AsBytes(CanonicalBytes(same))).hex() + "-";
    KILN_TRY(const size_t first, FirstOfPage(request.page_token(), prefix));
    KILN_TRY(const compile::Batches::ItemPage page,
             engine_.batches.Items(id, kinds, first, PageSize(request.page_size())));
    if (first > page.in_all) {
      return BadPageToken();
    }
    size_t end = first, bytes = 0;
    for (const std::shared_ptr<const compile::BatchItem>& item : page.items) {
      if (bytes > kPageBytes) {
        break;
      }
      v1::BatchItem& added = *reply.add_items();
      ToProto(*item, added);
      bytes += added.ByteSizeLong();
      ++end;
    }
    if (end < page.in_all) {
      reply.set_next_page_token(prefix + std::to_string(end));
    }
    return {};
  }

  // Spaces that are too large for a message were uploaded before it. Errors: kFailedPrecondition if
  // they are not in the store.
  Result<v1::StartBatchRequest> Whole(v1::StartBatchRequest whole, const cache::Call& call) {
    if (!whole.has_spaces_digest()) {
      return whole;
    }
    KILN_TRY(const Digest digest, FromProto(whole.spaces_digest()));
    const Result<cache::Blob> blob = engine_.store.Get(cache::ContentKey(digest), call);
    if (!blob.ok()) {
      return Error{.code = ErrorCode::kFailedPrecondition,
                   .context = "spaces_digest: the spaces are not here; upload them with PutSources",
                   .reason = "SOURCES_MISSING"};
    }
    v1::StartBatchRequest spaces;
    if (whole.spaces_size() != 0 || blob->bytes.size() > kMaxStoredRequest ||
        !CheckParts(blob->bytes, *v1::StartBatchRequest::descriptor()).ok() ||
        !spaces.ParseFromArray(blob->bytes.data(), static_cast<int>(blob->bytes.size()))) {
      return Malformed("spaces_digest", "it names a StartBatchRequest with only spaces set");
    }
    whole.clear_spaces_digest();
    whole.mutable_spaces()->Swap(spaces.mutable_spaces());
    return whole;
  }

  // The order of the checks: form, then the caller, then sources, then what was done before, and
  // only then counting, which may take seconds. A request that changes nothing is answered before
  // that (spec/daemon 7.1).
  Result<void> Start(v1::StartBatchRequest asked, const ops::Principal& who,
                     const cache::Call& call, v1::StartBatchReply& reply, v1::ErrorDetail& detail) {
    KILN_TRY_VOID(CheckDurability(engine_, asked.durability()));
    KILN_TRY(const v1::StartBatchRequest request, Whole(std::move(asked), call));
    KILN_TRY(compile::BatchRequest batch, FromProto(request));
    const Hash128 id = BatchIdOf(request);
    std::vector<compile::Source> sources;
    for (const compile::BatchProgram& program : batch.programs) {
      sources.insert(sources.end(), program.program.sources.begin(), program.program.sources.end());
    }
    if (!call.may_write) {
      return Attach(id, reply);
    }
    KILN_TRY_VOID(CheckThere(engine_, sources, call, detail));
    compile::Batches::StartHow how{.detach = request.detach(),
                                   .spec = SpecOf(request),
                                   .owner = OwnerOf(who),
                                   .tenant = who.tenant,
                                   .starter = who.id};
    if (!batch.pin.empty() && engine_.whole.pins != nullptr) {
      KILN_TRY(how.pin_owner, cache::PinOwnerFor(*engine_.whole.pins, batch.pin, ActorOf(who)));
    }
    if (engine_.batches.Repeat(id, how).has_value()) {
      return Answer(id, reply);
    }
    how.former = engine_.batches.FormerOf(batch);
    KILN_TRY_VOID(compile::CheckBatch(engine_.builder, engine_.store, batch, engine_.clock, call,
                                      how.former));
    KILN_TRY(const compile::Batches::StartResult started,
             engine_.batches.Start(id, std::move(batch), std::move(how)));
    reply.set_attached(started.attached);
    return Answer(started.id, reply);
  }

  // For a caller that may not start it: the same batch of another caller, while its results are
  // known.
  Result<void> Attach(const Hash128& id, v1::StartBatchReply& reply) {
    const Result<compile::BatchSummary> known = engine_.batches.Get(id);
    if (!known.ok() || known->state == compile::BatchState::kCancelled ||
        !engine_.batches.Results(id).ok()) {
      return WouldWrite(
          "nobody has built exactly this lately, and a batch would have to be started");
    }
    if (known->waits) {
      return WouldWrite(std::string(kWaits));
    }
    reply.set_attached(true);
    return Answer(id, reply);
  }

  // Counts are those of the moment of the answer.
  Result<void> Answer(const Hash128& id, v1::StartBatchReply& reply) {
    KILN_TRY(const compile::BatchSummary summary, engine_.batches.Get(id));
    reply.set_batch_id(IdBytes(id));
    ToProto(summary.progress, *reply.mutable_counts());
    return {};
  }

  // One of the calls that change a batch, for those who may.
  using Changing = Result<compile::BatchSummary> (compile::Batches::*)(const Hash128&,
                                                                       const cache::Actor&);
  template <class Request>
  grpc::ServerUnaryReactor* Change(grpc::CallbackServerContext& context, std::string_view method,
                                   const grpc::ByteBuffer& request, grpc::ByteBuffer& reply,
                                   Changing change) {
    return AnswerBytes<Request, v1::Batch>(
        host_, context, method, request, reply,
        [this, change](CallContext& frame, const Request& request, const cache::Call&,
                       v1::Batch& reply, v1::ErrorDetail&) -> Result<void> {
          KILN_TRY(const Hash128 id, IdFromProto("batch_id", request.batch_id()));
          KILN_TRY(const compile::BatchSummary summary,
                   (engine_.batches.*change)(id, ActorOf(frame.principal())));
          ToProto(summary, reply);
          return {};
        },
        Needs::kNothing);
  }

  template <class Request, class Reply, class Body>
  grpc::ServerUnaryReactor* AtOnce(grpc::CallbackServerContext& context, std::string_view method,
                                   const grpc::ByteBuffer& request, grpc::ByteBuffer& reply,
                                   Body body) {
    return AnswerBytes<Request, Reply>(
        host_, context, method, request, reply,
        [body = std::move(body)](CallContext&, const Request& request, const cache::Call&,
                                 Reply& reply, v1::ErrorDetail&) { return body(request, reply); },
        Needs::kNothing);
  }

  const Host& host_;
  Engine& engine_;
  OpenCalls open_;   // of the step thread
  EventPump steps_;  // last: it uses the rest
};

}  // namespace

std::shared_ptr<grpc::Service> MakeBatchService(const Host& host, Engine& engine) {
  return std::make_shared<BatchService>(host, engine);
}

// After the start: the rows of the store become batches again, which wait for somebody who may
// write.
void RestoreBatches(Engine& engine) { engine.batches.Restore(BatchFromSpec); }

}  // namespace kiln::rpc
