// SPDX-License-Identifier: MIT
#include "client/transport_log.h"

#include <cstdlib>

#include <grpc/support/log.h>

namespace kiln::client {

void SilenceTransport() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr && std::getenv("GRPC_TRACE") == nullptr) {
    gpr_set_log_function([](gpr_log_func_args*) {});
  }
}

}  // namespace kiln::client
