// SPDX-License-Identifier: MIT
// CompileService chooses for each method how it is answered: at once or by a job, in one message,
// by pages or as a stream (spec/daemon 4.1). What the methods do is in server/rpc/calls.
#include "server/rpc/compile_service.h"

#include "proto/kiln/v1/compile.grpc.pb.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/calls/explain_calls.h"
#include "server/rpc/calls/inspect_calls.h"
#include "server/rpc/calls/option_list.h"
#include "server/rpc/calls/source_upload.h"
#include "server/rpc/calls/space_calls.h"
#include "server/rpc/compile_answer.h"
#include "server/rpc/fetch_call.h"
#include "server/rpc/reactors/bytes_call.h"
#include "server/rpc/reactors/host.h"
#include "server/rpc/reactors/stream_call.h"
#include "server/rpc/reactors/unary_call.h"
#include "server/rpc/reactors/upload_call.h"

namespace kiln::rpc {
namespace {

// All methods read and write bytes: see bytes_call.h. Compile and Fetch do so that those of blobs
// need not go through messages, too, and uploads because a malformed message would otherwise look
// like the end of the stream.
using RawFetch =
    v1::CompileService::WithRawCallbackMethod_Fetch<v1::CompileService::CallbackService>;
using RawUpload = v1::CompileService::WithRawCallbackMethod_PutSources<RawFetch>;
using RawCompile = v1::CompileService::WithRawCallbackMethod_Compile<RawUpload>;
using RawOptions = v1::CompileService::WithRawCallbackMethod_ListOptions<RawCompile>;
using RawCount = v1::CompileService::WithRawCallbackMethod_CountVariants<RawOptions>;
using RawList = v1::CompileService::WithRawCallbackMethod_ListVariants<RawCount>;
using RawExplain = v1::CompileService::WithRawCallbackMethod_Explain<RawList>;
class CompileService final : public v1::CompileService::WithRawCallbackMethod_Inspect<RawExplain> {
 public:
  CompileService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  grpc::ServerReadReactor<grpc::ByteBuffer>* PutSources(grpc::CallbackServerContext* context,
                                                        grpc::ByteBuffer* reply) override {
    return StartStream<UploadCall<Upload, v1::PutSourcesRequest, v1::PutSourcesReply>>(
        host_, *context, "PutSources", engine_, *reply);
  }

  // Bytes in and out: this is the call that is made most often, and content would otherwise be
  // copied twice.
  grpc::ServerUnaryReactor* Compile(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override {
    return AnswerUnary(
        host_, *context,
        {.name = "Compile", .needs = Needs::kWorkOrMemory, .held = Holding(*request, *reply)},
        // The answer lives as long as its body, which is asked twice: at once, and then by a job if
        // memory did not know.
        [answer = std::make_shared<CompileAnswer>(engine_, engine_.requests, *request, *reply)](
            const cache::Call& call, v1::ErrorDetail& detail) {
          return answer->Run(call, detail);
        });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Fetch(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request) override {
    return StartStream<FetchCall>(host_, *context, engine_, *request);
  }

  grpc::ServerUnaryReactor* ListOptions(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::ListOptionsRequest, v1::ListOptionsReply>(
        host_, *context, "ListOptions", *request, *reply,
        [this](CallContext&, const v1::ListOptionsRequest& request, const cache::Call& call,
               v1::ListOptionsReply& reply, v1::ErrorDetail& detail) {
          return rpc::ListOptions(engine_, request, call, reply, detail);
        });
  }

  grpc::ServerUnaryReactor* CountVariants(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::CountVariantsRequest, v1::CountVariantsReply>(
        host_, *context, "CountVariants", *request, *reply,
        [this](CallContext&, const v1::CountVariantsRequest& request, const cache::Call& call,
               v1::CountVariantsReply& reply, v1::ErrorDetail& detail) {
          return rpc::CountVariants(engine_, request, call, reply, detail);
        });
  }

  grpc::ServerUnaryReactor* ListVariants(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::ListVariantsRequest, v1::ListVariantsReply>(
        host_, *context, "ListVariants", *request, *reply,
        [this](CallContext&, const v1::ListVariantsRequest& request, const cache::Call& call,
               v1::ListVariantsReply& reply, v1::ErrorDetail& detail) {
          return rpc::ListVariants(engine_, request, call, reply, detail);
        });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Inspect(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request) override {
    using Pages = PagesCall<v1::InspectRequest, v1::InspectReply>;
    // Kept by what makes pages, as each is made in a job of its own and goes on where the last one
    // stopped.
    return StartStream<Pages>(
        host_, *context, "Inspect", *request, [this](v1::InspectRequest request) {
          return [pages = std::make_shared<InspectPages>(engine_, std::move(request))](
                     const cache::Call& call, v1::ErrorDetail& detail) {
            return pages->Next(call, detail);
          };
        });
  }

  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::ExplainRequest, v1::ExplainReply>(
        host_, *context, "Explain", *request, *reply,
        [this](CallContext&, const v1::ExplainRequest& request, const cache::Call& call,
               v1::ExplainReply& reply, v1::ErrorDetail& detail) {
          return rpc::Explain(engine_, request, call, reply, detail);
        });
  }

 private:
  const Host& host_;
  Engine& engine_;
};

}  // namespace

std::shared_ptr<grpc::Service> MakeCompileService(const Host& host, Engine& engine) {
  return std::make_shared<CompileService>(host, engine);
}

}  // namespace kiln::rpc
