// SPDX-License-Identifier: MIT
#include "client/cli/heeded_signal.h"

#include <csignal>

namespace kiln::cli {

// The disposition is read first and not put back afterwards: in between a signal would be heeded.
void HandleUnlessIgnored(int signal, void (*handler)(int)) {
  struct sigaction now {};
  if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) {
    return;
  }
  (void)std::signal(signal, handler);
}

}  // namespace kiln::cli
