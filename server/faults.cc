// SPDX-License-Identifier: MIT
#include "server/faults.h"

namespace kiln::server {

// kilnd itself has none. A program of tests is linked with another definition instead of this file,
// so it is in the program and not in the library.
void AddFaults(Daemon::Options& /*options*/) {}

}  // namespace kiln::server
