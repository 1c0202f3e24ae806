// SPDX-License-Identifier: MIT
// gRPC as a part of the process: what it writes to stderr by itself becomes lines of the daemon's
// log, and it is never taken down. See spec/daemon 13.1
#pragma once

#include "compiler/base/log.h"

namespace kiln::rpc {

// For the rest of the process, which the log must outlive. Level debug, component grpc: what
// matters of it is in the errors of calls.
void LogTransportTo(LogSink& log);

// gRPC stays until the process ends, by _exit. Taking it down waits for pollers of its own, up to
// ten seconds after a write that had to wait for its socket, and a daemon must end within its drain
// time.
void KeepTransport();

}  // namespace kiln::rpc
