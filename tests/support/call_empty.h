// SPDX-License-Identifier: MIT
// A call of any method with an empty request, whatever its kind: what comes back first is whether
// the caller may call it at all.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

namespace kiln {

// At most five seconds. Empty token: none is sent.
grpc::Status CallEmpty(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                       const std::string& token = {});

}  // namespace kiln
