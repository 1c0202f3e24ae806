// SPDX-License-Identifier: MIT
// The service only chooses how a call is answered: in one message, by pages, or as a stream of
// progress that a job pushes. What packs are is in server/rpc/calls/pack_calls.
#include "server/rpc/pack_service.h"

#include "proto/kiln/v1/pack.grpc.pb.h"
#include "server/rpc/actor_of.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/calls/pack_calls.h"
#include "server/rpc/reactors/bytes_call.h"
#include "server/rpc/reactors/host.h"
#include "server/rpc/reactors/stream_call.h"

namespace kiln::rpc {
namespace {

// All methods read bytes: see bytes_call.h.
using RawBuild = v1::PackService::WithRawCallbackMethod_BuildPack<v1::PackService::CallbackService>;
using RawRead = v1::PackService::WithRawCallbackMethod_ReadPack<RawBuild>;
class PackService final : public v1::PackService::WithRawCallbackMethod_DescribePack<RawRead> {
 public:
  PackService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  // One job for the whole pack; its stream takes progress when the reader does (spec/daemon 2.7).
  grpc::ServerWriteReactor<grpc::ByteBuffer>* BuildPack(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override {
    using Build = StreamCall<v1::BuildPackRequest, v1::BuildPackReply>;
    return StartStream<Build>(
        host_, *context, "BuildPack", *request,
        [this](const ops::Principal& who, const v1::BuildPackRequest& request,
               const cache::Call& call, const Build::Push& push, v1::ErrorDetail& detail) {
          return rpc::BuildPack(engine_, request, ActorOf(who), call, push, detail);
        });
  }

  // A page for each message: the pack is read at the pace of its reader, whatever its size.
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadPack(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request) override {
    using Pages = PagesCall<v1::ReadPackRequest, v1::ReadPackReply>;
    return StartStream<Pages>(
        host_, *context, "ReadPack", *request, [this](v1::ReadPackRequest request) {
          return [pages = std::make_shared<PackPages>(engine_, std::move(request))](
                     const cache::Call& call, v1::ErrorDetail& detail) {
            return pages->Next(call, detail);
          };
        });
  }

  grpc::ServerUnaryReactor* DescribePack(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* reply) override {
    return AnswerBytes<v1::DescribePackRequest, v1::DescribePackReply>(
        host_, *context, "DescribePack", *request, *reply,
        [this](CallContext&, const v1::DescribePackRequest& request, const cache::Call&,
               v1::DescribePackReply& reply,
               v1::ErrorDetail&) { return rpc::DescribePack(engine_, request, reply); });
  }

 private:
  const Host& host_;
  Engine& engine_;
};

}  // namespace

std::shared_ptr<grpc::Service> MakePackService(const Host& host, Engine& engine) {
  return std::make_shared<PackService>(host, engine);
}

}  // namespace kiln::rpc
