// SPDX-License-Identifier: MIT
// Leads gRPC's own log into the daemon's, at debug. The function is one for the whole process and
// may be called by any thread until the process ends, so the log must live as long.
#include "server/rpc/transport/transport_log.h"

#include <atomic>

#include <grpc/grpc.h>
#include <grpc/support/log.h>

namespace kiln::rpc {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): gRPC passes no argument on
std::atomic<LogSink*> sink = nullptr;

}  // namespace

void LogTransportTo(LogSink& log) {
  sink = &log;
  gpr_set_log_function(
      [](gpr_log_func_args* said) { sink.load()->Write(LogLevel::kDebug, "grpc", said->message); });
}

// One more than the objects of gRPC count for themselves, so the last of them takes nothing down.
void KeepTransport() { grpc_init(); }

}  // namespace kiln::rpc
