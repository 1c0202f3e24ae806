// SPDX-License-Identifier: MIT
// Calls that stream replies, in two forms: a job that says what happens while it works, and pages
// that are made when the transport wants more. Requests that stream are upload_call.
// See spec/daemon 2.7
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "compiler/base/mutex.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/reactors/call_context.h"
#include "server/rpc/reactors/paced_stream.h"

namespace kiln::rpc {

// One job of the batch lane that pushes messages; for few and small ones, because they wait in
// memory. A reader who lets more wait than a stream may hold is dropped.
//
// Threads: the job pushes, gRPC calls back when one was written; one mutex guards what waits.
template <class Message>
class StreamCall final : public PacedStream<Message> {
 public:
  using Push = std::function<void(Message)>;
  using Body = std::function<Result<void>(const cache::Call&, const Push&, v1::ErrorDetail&)>;

  StreamCall(const Host& host, grpc::CallbackServerContext& context, std::string_view method,
             Body body)
      : PacedStream<Message>(host, context, method), body_(std::move(body)) {}
  // For a job that has to know who calls.
  using BodyFor = std::function<Result<void>(const ops::Principal&, const cache::Call&, const Push&,
                                             v1::ErrorDetail&)>;
  StreamCall(const Host& host, grpc::CallbackServerContext& context, std::string_view method,
             BodyFor body)
      : PacedStream<Message>(host, context, method),
        body_([this, body = std::move(body)](const cache::Call& call, const Push& push,
                                             v1::ErrorDetail& detail) {
          return body(this->frame.principal(), call, push, detail);
        }) {}

 private:
  void Begin() override {
    if (const Result<void> admitted = this->frame.Admit(); !admitted.ok()) {
      return this->End(admitted);
    }
    detail_.set_trace_id(this->frame.trace());
    this->RunJob(
        [this](const cache::Call& call) {
          return body_(
              call, [this](Message message) { Add(std::move(message)); }, detail_);
        },
        [this](const Result<void>& result) { Worked(result); }, jobs::Lane::kBatch);
  }

  void Add(Message message) {
    const size_t size = SizeOf(message);
    bool fits = true;
    {
      const MutexLock lock(mutex_);
      if (gone_) {
        return;
      }
      fits = size <= kMaxStreamBuffer - waiting_bytes_;
      gone_ = !fits;
      if (fits) {
        waiting_bytes_ += size;
        waiting_.push_back(std::move(message));
        if (writing_) {
          return;
        }
        writing_ = true;
        TakeNext();
      }
    }
    fits ? this->Write(current_) : this->EndWith(SlowReader());
  }

  void TakeNext() KILN_REQUIRES(mutex_) {
    current_ = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= SizeOf(current_);
  }

  void Worked(const Result<void>& result) {
    {
      const MutexLock lock(mutex_);
      worked_ = true;
      result_ = result;
      if (writing_) {
        return;  // whoever has written the last one goes on
      }
    }
    this->End(result, std::move(detail_));
  }

  void OnWritten(bool ok) override {
    bool more = false;
    {
      const MutexLock lock(mutex_);
      if (!ok) {
        gone_ = true;
        waiting_.clear();
        waiting_bytes_ = 0;
        this->frame.Cancel();
      }
      more = !waiting_.empty();
      this->Written(more);
      if (more) {
        TakeNext();
      } else {
        writing_ = false;
        if (!worked_) {
          return;
        }
      }
    }
    if (more) {
      this->Write(current_);
    } else {
      this->End(result_, std::move(detail_));
    }
  }

  const Body body_;
  v1::ErrorDetail detail_;
  Message current_;
  Mutex mutex_;
  std::deque<Message> waiting_ KILN_GUARDED_BY(mutex_);
  uint64_t waiting_bytes_ KILN_GUARDED_BY(mutex_) = 0;
  bool writing_ KILN_GUARDED_BY(mutex_) = false;
  bool gone_ KILN_GUARDED_BY(mutex_) = false;    // the reader
  bool worked_ KILN_GUARDED_BY(mutex_) = false;  // the job is done
  Result<void> result_;                          // of it
};

// Writes a page, then makes the next one: at most one is in memory. One that is larger than what a
// stream may hold needs a place in the room that readers share. An empty page is the end.
template <class Message>
class PagesCall final : public PacedStream<Message> {
 public:
  using MakePage =
      std::function<Result<std::vector<Message>>(const cache::Call&, v1::ErrorDetail&)>;

  PagesCall(const Host& host, grpc::CallbackServerContext& context, std::string_view method,
            MakePage make_page)
      : PacedStream<Message>(host, context, method), make_page_(std::move(make_page)) {}

 private:
  void Begin() override {
    const Result<void> admitted = this->frame.Admit();
    admitted.ok() ? NextPage() : this->End(admitted);
  }

  void NextPage() {
    this->RunJob(
        [this](const cache::Call& call) -> Result<void> {
          KILN_TRY(page_, make_page_(call, detail_));
          next_ = 0;
          return Hold();
        },
        [this](const Result<void>& made) {
          if (!made.ok() || page_.empty()) {
            return this->End(made, std::move(detail_));
          }
          this->Write(page_[next_]);
        });
  }

  Result<void> Hold() {
    uint64_t bytes = 0;
    for (const Message& message : page_) {
      bytes += SizeOf(message);
    }
    held_.GiveBackAll();
    if (bytes > kMaxStreamBuffer && !held_.Take(bytes)) {
      page_.clear();
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = "streams that are read slowly hold what they may",
                   .reason = "BUFFERS_FULL"};
    }
    return {};
  }

  void OnWritten(bool ok) override {
    const bool more = next_ + 1 < page_.size();
    this->Written(more);
    if (!ok || this->frame.cancelled()) {
      return this->End(
          Error{.code = ErrorCode::kCancelled, .context = "the reader is gone", .reason = {}});
    }
    ++next_;
    more ? this->Write(page_[next_]) : NextPage();
  }

  const MakePage make_page_;
  v1::ErrorDetail detail_;
  std::vector<Message> page_;
  ByteRoom::Share held_{this->frame.host().readers, this->frame.principal().party};
  size_t next_ = 0;
};

}  // namespace kiln::rpc
