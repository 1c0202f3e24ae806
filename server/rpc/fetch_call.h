// SPDX-License-Identifier: MIT
// One call of Fetch: pages that are made ahead of what the reader takes. See spec/daemon 2.7
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "server/rpc/calls/fetch_pages.h"
#include "server/rpc/reactors/paced_stream.h"
#include "server/rpc/reactors/stream_request.h"

namespace kiln::rpc {

// Pages are made by a job and wait in a queue until they are written: the job ends when the queue
// is full, or when it has run for long, and runs again when at most half of the queue is left.
// Together they hold 2 MiB about.
//
// Threads: a job makes, gRPC calls back when a message was written; the mutex guards the queue.
class FetchCall final : public PacedStream {
 public:
  FetchCall(const Host& host, grpc::CallbackServerContext& context, Engine& engine,
            const grpc::ByteBuffer& request)
      : PacedStream(host, context, "Fetch"),
        engine_(engine),
        request_(host.readers, frame.principal().party, request) {}

 private:
  using Page = std::vector<grpc::ByteBuffer>;
  static constexpr size_t kMostWaiting = 8;  // pages
  // Then it makes room for the jobs of others, and queues again.
  static constexpr Duration kLongJob = std::chrono::milliseconds(20);

  void Begin() override {
    const Result<void> admitted = frame.Admit();
    admitted.ok() ? MakePages() : End(admitted);
  }

  // By the first job.
  Result<void> Open(const cache::Call& call) {
    KILN_TRY(v1::FetchRequest request, request_.Parse());
    if (request.on_miss() == v1::FetchRequest::COMPILE &&
        call.may_write) {  // who may not is served what is known, and then refused
      KILN_TRY_VOID(frame.AlsoNeeds(ops::Scope::kWrite));
    }
    pages_.emplace(engine_, std::move(request), frame.trace());
    return {};
  }
  // Whether the last page was made; there is none before the request was read.
  bool AllMade() const { return pages_.has_value() && pages_->done(); }

  void MakePages() {
    RunJob(
        [this](const cache::Call& call) -> Result<void> {
          const Duration begun = frame.host().clock.Monotonic();
          if (!pages_.has_value()) {
            KILN_TRY_VOID(Open(call));
          }
          bool room = true;
          while (room && !AllMade() && frame.host().clock.Monotonic() - begun < kLongJob) {
            KILN_TRY(Page page, pages_->Next(call, detail_));
            room = Offer(std::move(page));
          }
          return {};
        },
        [this](const Result<void>& made) { Made(made); });
  }

  // Whether there is room for another one, and somebody who reads it.
  bool Offer(Page page) {
    {
      const MutexLock lock(mutex_);
      waiting_.push_back(std::move(page));
      if (writing_ || gone_) {
        return waiting_.size() < kMostWaiting && !gone_;
      }
      writing_ = true;
      TakePage();
    }
    WriteNext();
    return true;
  }

  void Made(const Result<void>& made) {
    bool make = false;
    {
      const MutexLock lock(mutex_);
      making_ = false;
      result_ = made;
      make = TakeUp();
      if (writing_ && !make) {
        return;  // whoever writes goes on
      }
    }
    make ? MakePages() : AllWritten();
  }

  // Whether the caller has to run the job: it is not running, but there is more, and room for it.
  bool TakeUp() KILN_REQUIRES(mutex_) {
    const bool make =
        !making_ && !gone_ && result_.ok() && !AllMade() && waiting_.size() <= kMostWaiting / 2;
    making_ = making_ || make;
    return make;
  }

  // Nothing is written any more, and nothing is made.
  void AllWritten() {
    if (gone_) {
      return End(
          Error{.code = ErrorCode::kCancelled, .context = "the reader is gone", .reason = {}});
    }
    End(result_, std::move(detail_));
  }

  void TakePage() KILN_REQUIRES(mutex_) {
    page_ = std::move(waiting_.front());
    waiting_.pop_front();
    next_ = 0;
  }

  // Without a hint that more follows: with one, gRPC 1.51 can leave a stream that waits for its
  // window unsent until the next ping, which is 20 s later.
  void WriteNext() { Write(page_[next_]); }

  void OnWritten(bool ok) override {
    bool more = ++next_ < page_.size();
    bool make = false;
    bool over = false;
    {
      const MutexLock lock(mutex_);
      Written(more || !waiting_.empty() || !making_);
      gone_ = !ok || frame.cancelled();
      if (!more && !waiting_.empty()) {
        more = true;
        TakePage();
      }
      more = more && !gone_;
      make = TakeUp();
      over = !more && !making_;
      writing_ = more || over;  // else the job begins it again, or ends the call
    }
    if (over) {
      return AllWritten();
    }
    if (make) {
      MakePages();
    }
    if (more) {
      WriteNext();
    }
  }

  Engine& engine_;
  StreamRequest<v1::FetchRequest> request_;  // of the job, while there is one
  std::optional<FetchPages> pages_;          // as well
  v1::ErrorDetail detail_;                   // as well
  Page page_;                                // that is written; never empty then
  size_t next_ = 0;                          // of it
  Mutex mutex_;
  std::deque<Page> waiting_ KILN_GUARDED_BY(mutex_);
  bool making_ KILN_GUARDED_BY(mutex_) = true;    // a job
  bool writing_ KILN_GUARDED_BY(mutex_) = false;  // page_ is the writer's
  bool gone_ = false;    // the reader; set before the mutex is given up, read behind it
  Result<void> result_;  // of the last job
};

}  // namespace kiln::rpc
