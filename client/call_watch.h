// SPDX-License-Identifier: MIT
// A channel whose calls are told to the log of calls, if there is one. Private to client/*.cc.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

namespace kiln::client {

std::shared_ptr<grpc::Channel> OpenChannel(
    const std::string& target, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const grpc::ChannelArguments& arguments);

}  // namespace kiln::client
