// SPDX-License-Identifier: MIT
// kiln_pipeline_child DEVICE IDENTITY FOLDER: makes the pipelines that its parent sends over
// descriptor 3. Not for people. See spec/pso 7.8
#include <csignal>
#include <cstdio>
#include <sys/prctl.h>

#include "runtime/pipeline/child_builds.h"
#include "runtime/pipeline/driver/driver_identity.h"
#include "runtime/pipeline/pipelines.h"

// Exit codes: 2 for a wrong call, 4 for a device or driver that is not the one which the parent
// means; every other code is that of ServeChildBuilds.
int main(int argc, char** argv) {
  using namespace kiln::runtime;  // NOLINT(google-build-using-namespace)
  if (argc != 4) {
    (void)std::fputs("kiln_pipeline_child is started by an engine that isolates its driver\n",
                     stderr);
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody else would end one that hangs
  const auto device = Device::Create({.prefer = argv[1]});
  if (!device.ok() || DriverIdentity(*device).hex() != argv[2]) {
    return 4;  // another driver would tell nothing
  }
  return ServeChildBuilds(3, *device, {.threads = 0, .cache_folder = argv[3]});
}
