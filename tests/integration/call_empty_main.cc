// SPDX-License-Identifier: MIT
// call_empty ADDRESS /package.Service/Method: the status code is the exit code. For tests that call
// a daemon as another user.
#include <cstdio>
#include <unistd.h>

#include "tests/support/call_empty.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    (void)std::fprintf(stderr, "usage: call_empty ADDRESS /package.Service/Method\n");
    return 64;
  }
  const grpc::Status status =
      kiln::CallEmpty(grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials()), argv[2]);
  _exit(status.error_code());  // gRPC may take seconds to end
}
