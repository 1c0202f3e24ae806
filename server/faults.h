// SPDX-License-Identifier: MIT
// Where tests of the program reach into it: kilnd is linked with faults.cc, a program of tests
// with faults of its own (tests/integration/faults_of_environment.cc). Nothing else differs.
#pragma once

#include "server/daemon.h"

namespace kiln::server {

void AddFaults(Daemon::Options& options);

}  // namespace kiln::server
