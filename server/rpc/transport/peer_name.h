// SPDX-License-Identifier: MIT
// The name of the other end of a TCP connection, "10.0.0.7:4711" or "[::1]:4711": the same one for
// a socket that was accepted and for a call that came by it. See spec/daemon 11.2
#pragma once

#include <string>
#include <string_view>

namespace kiln::rpc {

// Of a connected socket; empty if it is no TCP, or not connected any more.
std::string PeerNameOf(int fd);

// Of what gRPC calls the peer of a call: "ipv4:10.0.0.7:4711", "ipv6:%5B::1%5D:4711". Empty for
// any other.
std::string PeerNameOf(std::string_view grpc_peer);

}  // namespace kiln::rpc
