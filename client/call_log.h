// SPDX-License-Identifier: MIT
// What a process asks of daemons, call by call: for `kiln -vv`. And what gRPC itself writes to
// stderr, past the program that uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace kiln::client {

struct EndedCall {
  std::string method;  // "/kiln.v1.CompileService/Fetch"
  std::string code;    // "OK", "NOT_FOUND"
  uint64_t us = 0;     // from its begin to its status
};

// Clients that are opened from now on tell of each call when it ends, from any thread. Call before
// the first one is opened.
void LogCalls(std::function<void(const EndedCall&)> log);

// Nothing from now on, unless GRPC_VERBOSITY or GRPC_TRACE asks for it: what matters of it is in
// the errors of calls. For programs, before they open a client; a library leaves it to its user.
void SilenceTransport();

}  // namespace kiln::client
