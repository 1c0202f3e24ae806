// SPDX-License-Identifier: MIT
#include "server/faults.h"

namespace kiln::server {

void AddFaults(Daemon::Options& /*options*/) {}

}  // namespace kiln::server
