// SPDX-License-Identifier: MIT
#include "compiler/base/mutex.h"
#include "proto/kiln/v1/compile.grpc.pb.h"
#include "server/rpc/call_frame.h"
#include "server/rpc/compile_answer.h"
#include "server/rpc/explain_calls.h"
#include "server/rpc/fetch_messages.h"
#include "server/rpc/inspect_calls.h"
#include "server/rpc/services.h"
#include "server/rpc/space_calls.h"
#include "server/rpc/stream_call.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/wire.h"

namespace kiln::rpc {
namespace {

// Makes a page while the one before it is written: two are in memory at most.
//
// Threads: a job makes, gRPC calls back when one was written; the mutex guards who goes on.
class FetchCall final : public PacedStream<grpc::ByteBuffer> {
 public:
  FetchCall(const Host& host, grpc::CallbackServerContext& context, Engine& engine,
            Result<v1::FetchRequest> request)
      : PacedStream(host, context, "Fetch"),
        request_(std::move(request)),
        pages_(engine, request_.ok() ? *request_ : v1::FetchRequest(), frame.trace()) {}

 private:
  void Begin() override {
    Result<void> admitted = frame.Admit();
    if (admitted.ok() && !request_.ok()) {
      admitted = request_.error();
    }
    if (admitted.ok() && request_->on_miss() == v1::FetchRequest::COMPILE) {
      admitted = frame.AlsoNeeds(ops::Scope::kWrite);
    }
    admitted.ok() ? MakePage() : End(admitted);
  }

  void MakePage() {
    RunJob(
        [this](const cache::Call& call) -> Result<void> {
          KILN_TRY(made_, pages_.Next(call, detail_));
          return {};
        },
        [this](const Result<void>& made) { Made(made); });
  }

  void Made(const Result<void>& made) {
    {
      const MutexLock lock(mutex_);
      making_ = false;
      result_ = made;
      if (writing_) {
        return;  // whoever has written the page goes on
      }
      writing_ = true;
    }
    WriteMade();
  }

  // Nothing is written, and nothing is made.
  void WriteMade() {
    if (gone_) {
      return End(
          Error{.code = ErrorCode::kCancelled, .context = "the reader is gone", .reason = {}});
    }
    if (!result_.ok()) {
      return End(result_, std::move(detail_));
    }
    page_ = std::move(made_);
    next_ = 0;
    is_last_ = pages_.done();
    if (!is_last_) {
      {
        const MutexLock lock(mutex_);
        making_ = true;
      }
      MakePage();
    }
    WriteNext();
  }

  // Without a hint that more follows: with one, gRPC 1.51 can leave a stream that waits for its
  // window unsent until the next ping, which is 20 s later.
  void WriteNext() { Write(page_[next_]); }

  void OnWriteDone(bool ok) override {
    const bool gone = !ok || frame.cancelled();
    const bool more = next_ + 1 < page_.size();
    {
      const MutexLock lock(mutex_);
      Written(more || !making_);
    }
    if (!gone && more) {
      ++next_;
      return WriteNext();
    }
    if (!gone && is_last_) {
      return End({});
    }
    {
      const MutexLock lock(mutex_);
      gone_ = gone;
      if (making_) {
        writing_ = false;  // whoever makes the page goes on
        return;
      }
    }
    WriteMade();
  }

  const Result<v1::FetchRequest> request_;
  FetchPages pages_;
  v1::ErrorDetail detail_;              // of the job
  std::vector<grpc::ByteBuffer> made_;  // by the job; never empty once it is
  std::vector<grpc::ByteBuffer> page_;  // that is written
  size_t next_ = 0;
  bool is_last_ = false;  // page
  Mutex mutex_;
  bool making_ KILN_GUARDED_BY(mutex_) = true;
  bool writing_ KILN_GUARDED_BY(mutex_) = false;
  bool gone_ = false;    // the reader; set before the mutex is given up, read behind it
  Result<void> result_;  // of the last page
};

// Compile and Fetch read and write bytes, so that those of blobs need not go through messages.
using RawFetch =
    v1::CompileService::WithRawCallbackMethod_Fetch<v1::CompileService::CallbackService>;
class CompileService final : public v1::CompileService::WithRawCallbackMethod_Compile<RawFetch> {
 public:
  CompileService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  grpc::ServerReadReactor<v1::PutSourcesRequest>* PutSources(grpc::CallbackServerContext* context,
                                                             v1::PutSourcesReply* reply) override {
    return new UploadCall<Upload, v1::PutSourcesRequest, v1::PutSourcesReply>(
        host_, *context, "PutSources", engine_, *reply);
  }

  grpc::ServerUnaryReactor* Compile(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override {
    return AnswerUnary(
        host_, *context, "Compile", Needs::kWorkOrMemory,
        [answer = std::make_shared<CompileAnswer>(engine_, known_, *request, *reply)](
            const cache::Call& call, v1::ErrorDetail& detail) {
          return answer->Run(call, detail);
        });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Fetch(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request) override {
    return StartStream<FetchCall>(host_, *context, engine_,
                                  MessageFrom<v1::FetchRequest>(*request));
  }

  grpc::ServerUnaryReactor* ListOptions(grpc::CallbackServerContext* context,
                                        const v1::ListOptionsRequest* request,
                                        v1::ListOptionsReply* reply) override {
    return AnswerUnary(host_, *context, "ListOptions", Needs::kWork,
                       [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                         return rpc::ListOptions(engine_, *request, call, *reply, detail);
                       });
  }

  grpc::ServerUnaryReactor* CountVariants(grpc::CallbackServerContext* context,
                                          const v1::CountVariantsRequest* request,
                                          v1::CountVariantsReply* reply) override {
    return AnswerUnary(host_, *context, "CountVariants", Needs::kWork,
                       [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                         return rpc::CountVariants(engine_, *request, call, *reply, detail);
                       });
  }

  grpc::ServerUnaryReactor* ListVariants(grpc::CallbackServerContext* context,
                                         const v1::ListVariantsRequest* request,
                                         v1::ListVariantsReply* reply) override {
    return AnswerUnary(host_, *context, "ListVariants", Needs::kWork,
                       [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                         return rpc::ListVariants(engine_, *request, call, *reply, detail);
                       });
  }

  grpc::ServerWriteReactor<v1::InspectReply>* Inspect(grpc::CallbackServerContext* context,
                                                      const v1::InspectRequest* request) override {
    auto pages = std::make_shared<InspectPages>(engine_, *request);
    return StartStream<PagesCall<v1::InspectReply>>(
        host_, *context, "Inspect",
        [pages = std::move(pages)](const cache::Call& call, v1::ErrorDetail& detail) {
          return pages->Next(call, detail);
        });
  }

  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const v1::ExplainRequest* request,
                                    v1::ExplainReply* reply) override {
    return AnswerUnary(host_, *context, "Explain", Needs::kWork,
                       [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                         return rpc::Explain(engine_, *request, call, *reply, detail);
                       });
  }

 private:
  const Host& host_;
  Engine& engine_;
  KnownRequests known_;
};

}  // namespace

std::shared_ptr<grpc::Service> MakeCompileService(const Host& host, Engine& engine) {
  return std::make_shared<CompileService>(host, engine);
}

}  // namespace kiln::rpc
