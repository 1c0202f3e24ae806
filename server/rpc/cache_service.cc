// SPDX-License-Identifier: MIT
#include "proto/kiln/v1/cache.grpc.pb.h"
#include "server/rpc/cache_calls.h"
#include "server/rpc/services.h"
#include "server/rpc/stream_call.h"
#include "server/rpc/unary_call.h"

namespace kiln::rpc {
namespace {

class CacheService final : public v1::CacheService::CallbackService {
 public:
  CacheService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  grpc::ServerUnaryReactor* FindMissing(grpc::CallbackServerContext* context,
                                        const v1::FindMissingRequest* request,
                                        v1::FindMissingReply* reply) override {
    return AnswerUnary(host_, *context, "FindMissing", Needs::kWork,
                       [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                         return rpc::FindMissing(engine_, *request, call, *reply, detail);
                       });
  }

  grpc::ServerWriteReactor<v1::GetBlobsReply>* GetBlobs(
      grpc::CallbackServerContext* context, const v1::GetBlobsRequest* request) override {
    auto pages = std::make_shared<BlobPages>(engine_, *request);
    return StartStream<PagesCall<v1::GetBlobsReply>>(
        host_, *context, "GetBlobs", [pages](const cache::Call& call, v1::ErrorDetail& detail) {
          return pages->Next(call, detail);
        });
  }

  grpc::ServerReadReactor<v1::PutBlobsRequest>* PutBlobs(grpc::CallbackServerContext* context,
                                                         v1::PutBlobsReply* reply) override {
    return new UploadCall<BlobUpload, v1::PutBlobsRequest, v1::PutBlobsReply>(
        host_, *context, "PutBlobs", engine_, *reply);
  }

  grpc::ServerUnaryReactor* GetRows(grpc::CallbackServerContext* context,
                                    const v1::GetRowsRequest* request,
                                    v1::GetRowsReply* reply) override {
    return AnswerUnary(host_, *context, "GetRows", Needs::kWork,
                       [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                         return rpc::GetRows(engine_, *request, call, *reply, detail);
                       });
  }

  grpc::ServerUnaryReactor* PutRows(grpc::CallbackServerContext* context,
                                    const v1::PutRowsRequest* request,
                                    v1::PutRowsReply* reply) override {
    return AnswerUnary(host_, *context, "PutRows", Needs::kWork,
                       [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                         return rpc::PutRows(engine_, *request, call, *reply, detail);
                       });
  }

 private:
  const Host& host_;
  Engine& engine_;
};

}  // namespace

std::shared_ptr<grpc::Service> MakeCacheService(const Host& host, Engine& engine) {
  return std::make_shared<CacheService>(host, engine);
}

}  // namespace kiln::rpc
