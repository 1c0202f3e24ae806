// SPDX-License-Identifier: MIT
#include "proto/kiln/v1/cache.grpc.pb.h"
#include "server/rpc/cache_calls.h"
#include "server/rpc/services.h"
#include "server/rpc/stream_call.h"

namespace kiln::rpc {
namespace {

constexpr uint64_t kStoreUploadsAt = uint64_t{16} << 20;

// Reads chunks, stores what is complete now and then and at the end. Deletes itself.
class PutBlobsCall final : public grpc::ServerReadReactor<v1::PutBlobsRequest> {
 public:
  PutBlobsCall(const Host& host, grpc::CallbackServerContext& context, Engine& engine,
               v1::PutBlobsReply& reply)
      : frame_(host, context, "PutBlobs"), upload_(engine), reply_(reply) {
    if (const Result<void> admitted = frame_.Admit(); !admitted.ok()) {
      Finish(frame_.StatusOf(admitted));
      return;
    }
    StartRead(&message_);
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) {
      return StoreAndThen([this] { End(); });
    }
    const Result<void> taken = upload_.Take(std::move(message_));
    message_.Clear();
    if (!taken.ok()) {
      return Finish(frame_.StatusOf(taken));
    }
    if (upload_.waiting() < kStoreUploadsAt) {
      return StartRead(&message_);
    }
    StoreAndThen([this] { StartRead(&message_); });
  }

  void StoreAndThen(std::function<void()> next) {
    frame_.Submit([this](const cache::Call& call) { return upload_.Store(call); },
                  [this, next = std::move(next)](const Result<void>& stored) {
                    if (!stored.ok()) {
                      return Finish(frame_.StatusOf(stored));
                    }
                    next();
                  });
  }

  void End() {
    Result<v1::PutBlobsReply> reply = upload_.Finish();
    if (!reply.ok()) {
      return Finish(frame_.StatusOf(reply.error()));
    }
    reply_ = std::move(reply).value();
    Finish(grpc::Status::OK);
  }

  void OnCancel() override { frame_.Cancel(); }
  void OnDone() override { delete this; }

  CallFrame frame_;
  BlobUpload upload_;
  v1::PutBlobsReply& reply_;
  v1::PutBlobsRequest message_;
};

class CacheService final : public v1::CacheService::CallbackService {
 public:
  CacheService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  grpc::ServerUnaryReactor* FindMissing(grpc::CallbackServerContext* context,
                                        const v1::FindMissingRequest* request,
                                        v1::FindMissingReply* reply) override {
    return new UnaryCall(host_, *context, "FindMissing", UnaryCall::Needs::kWork,
                         [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                           return rpc::FindMissing(engine_, *request, call, *reply, detail);
                         });
  }

  grpc::ServerWriteReactor<v1::GetBlobsReply>* GetBlobs(
      grpc::CallbackServerContext* context, const v1::GetBlobsRequest* request) override {
    auto pages = std::make_shared<BlobPages>(engine_, *request);
    return new PagesCall<v1::GetBlobsReply>(
        host_, *context, "GetBlobs", [pages](const cache::Call& call, v1::ErrorDetail& detail) {
          return pages->Next(call, detail);
        });
  }

  grpc::ServerReadReactor<v1::PutBlobsRequest>* PutBlobs(grpc::CallbackServerContext* context,
                                                         v1::PutBlobsReply* reply) override {
    return new PutBlobsCall(host_, *context, engine_, *reply);
  }

  grpc::ServerUnaryReactor* GetRows(grpc::CallbackServerContext* context,
                                    const v1::GetRowsRequest* request,
                                    v1::GetRowsReply* reply) override {
    return new UnaryCall(host_, *context, "GetRows", UnaryCall::Needs::kWork,
                         [this, request, reply](const cache::Call& call, v1::ErrorDetail& detail) {
                           return rpc::GetRows(engine_, *request, call, *reply, detail);
                         });
  }

  grpc::ServerUnaryReactor* PutRows(grpc::CallbackServerContext* context,
                                    const v1::PutRowsRequest* request,
                                    v1::PutRowsReply* reply) override {
    return new UnaryCall(host_, *context, "PutRows", UnaryCall::Needs::kWork,
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
