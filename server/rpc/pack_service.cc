// SPDX-License-Identifier: MIT
// The service only chooses how a call is answered: in one message, by pages, or as a stream of
// progress that a job pushes. What packs are is in server/rpc/calls/pack_calls.
#include "server/rpc/pack_service.h"

#include "proto/kiln/v1/pack.grpc.pb.h"
#include "server/rpc/actor_of.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/calls/pack_calls.h"
#include "server/rpc/reactors/host.h"
#include "server/rpc/reactors/stream_call.h"
#include "server/rpc/reactors/unary_call.h"

namespace kiln::rpc {
namespace {

class PackService final : public v1::PackService::CallbackService {
 public:
  PackService(const Host& host, Engine& engine) : host_(host), engine_(engine) {}

  // One job for the whole pack; its stream takes progress when the reader does (spec/daemon 2.7).
  grpc::ServerWriteReactor<v1::BuildPackReply>* BuildPack(
      grpc::CallbackServerContext* context, const v1::BuildPackRequest* request) override {
    return StartStream<StreamCall<v1::BuildPackReply>>(
        host_, *context, "BuildPack",
        [this, request](const ops::Principal& who, const cache::Call& call,
                        const StreamCall<v1::BuildPackReply>::Push& push, v1::ErrorDetail& detail) {
          return rpc::BuildPack(engine_, *request, ActorOf(who), call, push, detail);
        });
  }

  // A page for each message: the pack is read at the pace of its reader, whatever its size.
  grpc::ServerWriteReactor<v1::ReadPackReply>* ReadPack(
      grpc::CallbackServerContext* context, const v1::ReadPackRequest* request) override {
    auto pages = std::make_shared<PackPages>(engine_, *request);
    return StartStream<PagesCall<v1::ReadPackReply>>(
        host_, *context, "ReadPack", [pages](const cache::Call& call, v1::ErrorDetail& detail) {
          return pages->Next(call, detail);
        });
  }

  grpc::ServerUnaryReactor* DescribePack(grpc::CallbackServerContext* context,
                                         const v1::DescribePackRequest* request,
                                         v1::DescribePackReply* reply) override {
    return AnswerUnary(
        host_, *context,
        {.name = "DescribePack", .needs = Needs::kWork, .held = Holding(*request, *reply)},
        [this, request, reply](const cache::Call&, v1::ErrorDetail&) {
          return rpc::DescribePack(engine_, *request, *reply);
        });
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
