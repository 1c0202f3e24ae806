// SPDX-License-Identifier: MIT
// The peer of daemon_bench: gRPC over a unix socket with nothing behind it. A request says how many
// messages of how many bytes it wants; they hold zeroes and are not made of anything.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace grpc {
class Channel;
}

namespace kiln::bench {

// Serves until the process ends.
[[noreturn]] void ServePeer(const std::string& socket);

struct PeerRequest {
  uint64_t messages = 1;
  uint64_t bytes = 0;    // of each reply
  uint64_t padding = 0;  // more bytes of the request
};
// One call; true if everything came.
bool CallPeer(const std::shared_ptr<grpc::Channel>& channel, const PeerRequest& request);

}  // namespace kiln::bench
