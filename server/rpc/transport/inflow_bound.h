// SPDX-License-Identifier: MIT
// A bound of the kernel for what a connection by TCP may send before it has proven itself. The
// thread that compares bytes with calls (Inflow) looks every 10 ms and comes late when the machine
// is busy, and what came meanwhile is in gRPC's memory. A filter in the socket is never late: a
// packet beyond the bound is dropped before anybody reads it, as if the network had lost it, so
// nothing is missing once the bound is gone: the other side sends it again. No privilege is needed.
//
// Packets are measured by their sequence number, so the first one must be known, from the packet
// that began the connection: the listener keeps those (TCP_SAVE_SYN, set in ops::TcpListener). A
// connection that began with a SYN cookie, which the kernel uses when too many begin at once, has
// none and no bound; for it there is the thread alone. See spec/daemon 11.3
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::rpc {

// From the other side's beginning of the connection on no packet is taken that begins beyond
// `bytes`; the last one taken may end there, which is a segment more. False, and there is no bound,
// for what is no TCP or has no first packet. To be asked once: the kernel tells that packet once.
bool BoundInflow(int fd, uint32_t bytes);
// No bound any more. Nothing if there is none.
void LiftBound(int fd);

// The sequence number of a packet: header of IP (4 or 6, with extensions), header of TCP.
std::optional<uint32_t> SequenceOf(std::string_view packet);

}  // namespace kiln::rpc
