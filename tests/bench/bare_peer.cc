// SPDX-License-Identifier: MIT
#include "tests/bench/bare_peer.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/sync_stream.h>

namespace kiln::bench {
namespace {

constexpr const char* kUnary = "/bare.Peer/Unary";
constexpr const char* kStream = "/bare.Peer/Stream";

grpc::ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

PeerRequest RequestFrom(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  PeerRequest request;
  if (buffer.Dump(&slices).ok() && !slices.empty() && slices[0].size() >= 2 * sizeof(uint64_t)) {
    std::array<uint64_t, 2> words{};
    std::memcpy(words.data(), slices[0].begin(), sizeof(words));
    request = {.messages = words[0], .bytes = words[1], .padding = 0};
  }
  return request;
}

// So much of what the peer serves: 256 MiB that come from memory, as artifacts do. One buffer that
// is sent again and again would never leave the processor's caches. Requires: size is not more.
std::string ContentOf(uint64_t offset, uint64_t size) {
  constexpr uint64_t kContent = uint64_t{256} << 20;
  static const std::string content = [] {
    std::string bytes(kContent, '\0');
    std::mt19937_64 random(1);
    for (uint64_t i = 0; i < kContent; i += sizeof(uint64_t)) {
      const uint64_t word = random();
      std::memcpy(bytes.data() + i, &word, sizeof(word));
    }
    return bytes;
  }();
  return content.substr(offset % (kContent - size + 1), size);
}

class Call final : public grpc::ServerGenericBidiReactor {
 public:
  Call() { StartRead(&request_); }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) {
      return;
    }
    asked_ = RequestFrom(request_);
    Write();
  }
  // Copied for each message, as a message of protobuf is.
  void Write() {
    reply_ = BufferOf(ContentOf(written_ * asked_.bytes, asked_.bytes));
    StartWrite(&reply_);
  }
  void OnWriteDone(bool ok) override {
    ++written_;
    ok&& written_ < asked_.messages ? Write() : Finish(grpc::Status::OK);
  }
  void OnDone() override { delete this; }

  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
  PeerRequest asked_;
  uint64_t written_ = 0;
};

class Service final : public grpc::CallbackGenericService {
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* /*context*/) override {
    return new Call();
  }
};

}  // namespace

void ServePeer(const std::string& socket) {
  (void)ContentOf(0, 1);  // made before anybody waits for it
  Service service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server != nullptr) {
    server->Wait();
  }
  std::_Exit(1);
}

bool CallPeer(const std::shared_ptr<grpc::Channel>& channel, const PeerRequest& request) {
  std::string bytes(2 * sizeof(uint64_t) + request.padding, '\0');
  std::memcpy(bytes.data(), &request.messages, sizeof(uint64_t));
  std::memcpy(bytes.data() + sizeof(uint64_t), &request.bytes, sizeof(uint64_t));
  grpc::ClientContext context;
  grpc::ByteBuffer reply;
  if (request.messages == 1) {
    const grpc::internal::RpcMethod method(kUnary, grpc::internal::RpcMethod::NORMAL_RPC, channel);
    return grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
               channel.get(), method, &context, BufferOf(bytes), &reply)
               .ok() &&
           reply.Length() == request.bytes;
  }
  using Factory = grpc::internal::ClientReaderFactory<grpc::ByteBuffer>;
  const grpc::internal::RpcMethod method(kStream, grpc::internal::RpcMethod::SERVER_STREAMING,
                                         channel);
  const std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> stream(
      Factory::Create(channel.get(), method, &context, BufferOf(bytes)));
  uint64_t total = 0;
  while (stream->Read(&reply)) {
    total += reply.Length();
  }
  return stream->Finish().ok() && total == request.messages * request.bytes;
}

}  // namespace kiln::bench
