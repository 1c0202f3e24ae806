// SPDX-License-Identifier: MIT
// Calls that stream replies, in two forms: a job that says what happens while it works, and pages
// that are made when the transport wants more. Their requests are bytes, which their first job
// parses. Requests that stream are upload_call.
// See spec/daemon 2.7
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "compiler/base/mutex.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/wire.h"
#include "server/rpc/reactors/call_context.h"
#include "server/rpc/reactors/paced_stream.h"
#include "server/rpc/reactors/stream_request.h"

namespace kiln::rpc {

// One job of the batch lane that pushes messages; for few and small ones, because they wait in
// memory. A reader who lets more wait than a stream may hold is dropped.
//
// Threads: the job pushes, gRPC calls back when one was written; one mutex guards what waits.
template <class Request, class Message>
class StreamCall final : public PacedStream {
 public:
  using Push = std::function<void(const Message&)>;
  using Body = std::function<Result<void>(const ops::Principal&, const Request&, const cache::Call&,
                                          const Push&, v1::ErrorDetail&)>;

  StreamCall(const Host& host, grpc::CallbackServerContext& context, std::string_view method,
             const grpc::ByteBuffer& request, Body body)
      : PacedStream(host, context, method), request_(request), body_(std::move(body)) {}

 private:
  void Begin() override {
    if (const Result<void> admitted = frame.Admit(); !admitted.ok()) {
      return End(admitted);
    }
    detail_.set_trace_id(frame.trace());
    RunJob(
        [this](const cache::Call& call) -> Result<void> {
          KILN_TRY(const Request request, MessageFrom<Request>(request_));
          const Push push = [this](const Message& message) {
            grpc::ByteBuffer bytes;
            WriteTo(message, bytes);
            Add(std::move(bytes));
          };
          return body_(frame.principal(), request, call, push, detail_);
        },
        [this](const Result<void>& result) { Worked(result); }, jobs::Lane::kBatch);
  }

  void Add(grpc::ByteBuffer message) {
    const size_t size = message.Length();
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
    fits ? Write(current_) : EndWith(SlowReader());
  }

  void TakeNext() KILN_REQUIRES(mutex_) {
    current_ = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= current_.Length();
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
    End(result, std::move(detail_));
  }

  void OnWritten(bool ok) override {
    bool more = false;
    {
      const MutexLock lock(mutex_);
      if (!ok) {
        gone_ = true;
        waiting_.clear();
        waiting_bytes_ = 0;
        frame.Cancel();
      }
      more = !waiting_.empty();
      Written(more);
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
      Write(current_);
    } else {
      End(result_, std::move(detail_));
    }
  }

  const grpc::ByteBuffer request_;
  const Body body_;
  v1::ErrorDetail detail_;
  grpc::ByteBuffer current_;
  Mutex mutex_;
  std::deque<grpc::ByteBuffer> waiting_ KILN_GUARDED_BY(mutex_);
  uint64_t waiting_bytes_ KILN_GUARDED_BY(mutex_) = 0;
  bool writing_ KILN_GUARDED_BY(mutex_) = false;
  bool gone_ KILN_GUARDED_BY(mutex_) = false;    // the reader
  bool worked_ KILN_GUARDED_BY(mutex_) = false;  // the job is done
  Result<void> result_;                          // of it
};

// Writes a page, then makes the next one: at most one is in memory. One that is larger than what a
// stream may hold needs a place in the room that readers share. An empty page is the end.
template <class Request, class Message>
class PagesCall final : public PacedStream {
 public:
  using MakePage =
      std::function<Result<std::vector<Message>>(const cache::Call&, v1::ErrorDetail&)>;
  // Called once, by the first job.
  using Open = std::function<MakePage(Request)>;

  PagesCall(const Host& host, grpc::CallbackServerContext& context, std::string_view method,
            const grpc::ByteBuffer& request, Open open)
      : PacedStream(host, context, method),
        request_(host.readers, frame.principal().party, request),
        open_(std::move(open)) {}

 private:
  void Begin() override {
    const Result<void> admitted = frame.Admit();
    admitted.ok() ? NextPage() : End(admitted);
  }

  void NextPage() {
    RunJob(
        [this](const cache::Call& call) -> Result<void> {
          if (make_page_ == nullptr) {
            KILN_TRY(Request request, request_.Parse());
            make_page_ = open_(std::move(request));
          }
          KILN_TRY(const std::vector<Message> made, make_page_(call, detail_));
          page_.clear();
          next_ = 0;
          for (const Message& message : made) {
            WriteTo(message, page_.emplace_back());
          }
          return Hold();
        },
        [this](const Result<void>& made) {
          if (!made.ok() || page_.empty()) {
            return End(made, std::move(detail_));
          }
          Write(page_[next_]);
        });
  }

  Result<void> Hold() {
    uint64_t bytes = 0;
    for (const grpc::ByteBuffer& message : page_) {
      bytes += message.Length();
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
    Written(more);
    if (!ok || frame.cancelled()) {
      return End(
          Error{.code = ErrorCode::kCancelled, .context = "the reader is gone", .reason = {}});
    }
    ++next_;
    more ? Write(page_[next_]) : NextPage();
  }

  StreamRequest<Request> request_;  // of the jobs, like what follows
  const Open open_;
  MakePage make_page_;
  v1::ErrorDetail detail_;
  std::vector<grpc::ByteBuffer> page_;
  ByteRoom::Share held_{frame.host().readers, frame.principal().party};
  size_t next_ = 0;
};

}  // namespace kiln::rpc
