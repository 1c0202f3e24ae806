// SPDX-License-Identifier: MIT
// How calls that stream begin: made, launched, and handed to gRPC, which holds a plain pointer. One
// that cannot even be made ends at once, with what was thrown.
#pragma once

#include <memory>
#include <utility>

#include <grpcpp/support/server_callback.h>

#include "compiler/base/threads/thread.h"

namespace kiln::rpc {

// A call that is over. Deletes itself.
template <class Reactor>
class RefusedCall final : public Reactor {
 public:
  explicit RefusedCall(const Error& error) {
    this->Finish({static_cast<grpc::StatusCode>(error.code), error.context});
  }

 private:
  void OnDone() override { delete this; }
};

// Call: Launch() keeps it alive until OnDone; Reactor is what gRPC knows it as.
template <class Call, class... Arguments>
typename Call::Reactor* StartStream(Arguments&&... arguments) {
  try {
    const auto call = std::make_shared<Call>(std::forward<Arguments>(arguments)...);
    call->Launch();
    return call.get();
  } catch (...) {
    return new RefusedCall<typename Call::Reactor>(ThrownError());
  }
}

}  // namespace kiln::rpc
