// SPDX-License-Identifier: MIT
// A handler cannot return to a read that has nothing to give, and may do next to nothing: it writes
// one line that was made before, and ends the process. With --json the line of the error is
// missing, and the exit code tells.
#include "client/cli/cut_file.h"

#include <csignal>
#include <string_view>
#include <unistd.h>

#include "client/cli/failure.h"
#include "client/cli/output/progress.h"

namespace kiln::cli {
namespace {

constexpr std::string_view kCut =
    "error: a file became shorter while it was read (DATA_LOSS); packs are replaced by renaming, "
    "never written in place\n";

// BUS_ADRERR is a page that the file has no longer; other codes are faults of program or machine,
// which happen again without the handler and have their usual end.
void OnBus(int, siginfo_t* info, void*) {
  RestoreTerminal();
  if (info->si_code == BUS_ADRERR) {
    (void)!::write(STDERR_FILENO, kCut.data(), kCut.size());
    ::_exit(kIntegrity);
  }
  (void)std::signal(SIGBUS, SIG_DFL);
}

}  // namespace

void AnswerCutFiles() {
  struct sigaction action {};
  action.sa_sigaction = OnBus;
  action.sa_flags = SA_SIGINFO;
  (void)::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace kiln::cli
