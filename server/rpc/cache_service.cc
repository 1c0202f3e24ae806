// SPDX-License-Identifier: MIT
// CacheService (spec/daemon 4.5), which other daemons use as their upstream. The work is in
// server/rpc/calls; this file decides how each method is answered.
#include "server/rpc/cache_service.h"

#include <algorithm>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "proto/kiln/v1/cache.grpc.pb.h"
#include "server/rpc/calls/cache_calls.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/reactors/bytes_call.h"
#include "server/rpc/reactors/host.h"
#include "server/rpc/reactors/stream_call.h"
#include "server/rpc/reactors/unary_call.h"
#include "server/rpc/reactors/upload_call.h"
#include "server/rpc/transport/caller.h"

namespace kiln::rpc {
namespace {

// A key has 16 bytes; of one that has more only the beginning goes into the audit log.
std::string HexOf(const std::string& bytes) {
  return fmt::format("{:02x}", fmt::join(std::span(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                   std::min<size_t>(bytes.size(), 16)),
                                         ""));
}

// All methods read bytes: see bytes_call.h. Of uploads a malformed message would otherwise look
// like the end of the stream, too.
using RawUpload =
    v1::CacheService::WithRawCallbackMethod_PutBlobs<v1::CacheService::CallbackService>;
using RawMissing = v1::CacheService::WithRawCallbackMethod_FindMissing<RawUpload>;
using RawRows = v1::CacheService::WithRawCallbackMethod_GetRows<RawMissing>;
using RawPutRows = v1::CacheService::WithRawCallbackMethod_PutRows<RawRows>;
class CacheService final : public v1::CacheService::WithRawCallbackMethod_GetBlobs<RawPutRows> {
 public:
  CacheService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  grpc::ServerUnaryReactor* FindMissing(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::FindMissingRequest, v1::FindMissingReply>(
        host_, *context, "FindMissing", *request, *reply,
        [this](CallContext&, const v1::FindMissingRequest& request, const cache::Call& call,
               v1::FindMissingReply& reply, v1::ErrorDetail& detail) {
          return rpc::FindMissing(engine_, request, call, reply, detail);
        });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* GetBlobs(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request) override {
    using Pages = PagesCall<v1::GetBlobsRequest, v1::GetBlobsReply>;
    return StartStream<Pages>(
        host_, *context, "GetBlobs", *request,
        // Called by a job, which runs only once there is a store.
        [this, reader = host_.access.PartyOf(CallerOf(*context))](v1::GetBlobsRequest request) {
          return [pages = std::make_shared<BlobPages>(engine_.store, host_.readers, reader,
                                                      std::move(request))](
                     const cache::Call& call, v1::ErrorDetail& detail) {
            return pages->Next(call, detail);
          };
        });
  }

  grpc::ServerReadReactor<grpc::ByteBuffer>* PutBlobs(grpc::CallbackServerContext* context,
                                                      grpc::ByteBuffer* reply) override {
    return StartStream<UploadCall<BlobUpload, v1::PutBlobsRequest, v1::PutBlobsReply>>(
        host_, *context, "PutBlobs", engine_, *reply);
  }

  grpc::ServerUnaryReactor* GetRows(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::GetRowsRequest, v1::GetRowsReply>(
        host_, *context, "GetRows", *request, *reply,
        [this](CallContext&, const v1::GetRowsRequest& request, const cache::Call& call,
               v1::GetRowsReply& reply, v1::ErrorDetail& detail) {
          return rpc::GetRows(engine_, request, call, reply, detail);
        });
  }

  grpc::ServerUnaryReactor* PutRows(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::PutRowsRequest, v1::PutRowsReply>(
        host_, *context, "PutRows", *request, *reply,
        [this](CallContext& frame, const v1::PutRowsRequest& request, const cache::Call& call,
               v1::PutRowsReply& reply, v1::ErrorDetail& detail) {
          Result<void> put = rpc::PutRows(engine_.store, request, call, reply, detail);
          // Only what says something about its sender is noted for the audit log; a full store or a
          // missing reference is not his doing.
          for (const v1::PutRowsReply::Refused& row : reply.refused()) {
            if (row.reason() == "MALFORMED" || row.reason() == "CONFLICT") {
              frame.NoteRejected("row " + HexOf(row.key()), row.reason());
            }
          }
          return put;
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
