// SPDX-License-Identifier: MIT
#include "tests/support/call_empty.h"

#include <chrono>

#include <grpcpp/generic/generic_stub.h>

namespace kiln {

RawAnswer CallWith(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                   const std::string& bytes, const std::string& token, int seconds) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(seconds));
  if (!token.empty()) {
    context.AddMetadata("authorization", "Bearer " + token);
  }
  grpc::CompletionQueue queue;
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const auto call = stub.PrepareCall(&context, path, &queue);
  call->StartCall(nullptr);
  (void)wait();
  const grpc::Slice message(bytes);
  const grpc::ByteBuffer request(&message, 1);
  RawAnswer answer;
  call->WriteLast(request, grpc::WriteOptions(), nullptr);
  if (wait()) {
    grpc::ByteBuffer reply;
    for (call->Read(&reply, nullptr); wait(); call->Read(&reply, nullptr)) {
      ++answer.messages;
    }
  }
  call->Finish(&answer.status, nullptr);
  (void)wait();
  queue.Shutdown();
  const auto& trailing = context.GetServerTrailingMetadata();
  if (const auto found = trailing.find("kiln-error-bin"); found != trailing.end()) {
    answer.detail.assign(found->second.data(), found->second.length());
  }
  return answer;
}

grpc::Status CallEmpty(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                       const std::string& token) {
  return CallWith(channel, path, {}, token).status;
}

}  // namespace kiln
