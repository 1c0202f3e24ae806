// SPDX-License-Identifier: MIT
// A call of any method with an empty request, whatever its kind: what comes back first is whether
// the caller may call it at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

namespace kiln {

// What came of a call.
struct RawAnswer {
  grpc::Status status;
  std::string detail;     // bytes of kiln-error-bin, empty without
  uint64_t messages = 0;  // replies
};

// One message of these bytes, whatever they are. At most `seconds`.
RawAnswer CallWith(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                   const std::string& bytes, const std::string& token = {}, int seconds = 5);

// At most five seconds. Empty token: none is sent.
grpc::Status CallEmpty(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                       const std::string& token = {});

}  // namespace kiln
