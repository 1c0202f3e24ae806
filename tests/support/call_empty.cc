// SPDX-License-Identifier: MIT
#include "tests/support/call_empty.h"

#include <chrono>

#include <grpcpp/generic/generic_stub.h>

namespace kiln {

grpc::Status CallEmpty(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                       const std::string& token) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
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
  const grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  call->WriteLast(request, grpc::WriteOptions(), nullptr);
  if (wait()) {
    grpc::ByteBuffer reply;
    do {
      call->Read(&reply, nullptr);
    } while (wait());
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  (void)wait();
  queue.Shutdown();
  return status;
}

}  // namespace kiln
