// SPDX-License-Identifier: MIT
// What gRPC writes to stderr by itself becomes lines of the daemon's log. See spec/daemon 13.1
#pragma once

#include "compiler/base/log.h"

namespace kiln::rpc {

// For the rest of the process, which the log must outlive. Level debug, component grpc: what
// matters of it is in the errors of calls.
void LogTransportTo(LogSink& log);

}  // namespace kiln::rpc
