// SPDX-License-Identifier: MIT
// The handler of the signal may do next to nothing, so it makes a descriptor readable for which two
// threads wait: one asks the daemon to cancel, and the other ends the process if the first one, or
// whoever follows the batch, is not done in time. A daemon that is silent cannot hold either.
#include "client/cli/batch/interrupt.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include "client/autostart.h"
#include "client/cli/failure.h"
#include "client/cli/heeded_signal.h"
#include "client/cli/output/print.h"
#include "client/cli/output/progress.h"
#include "compiler/base/check.h"

namespace kiln::cli {
namespace {

constexpr auto kEndTime = std::chrono::milliseconds(500);  // of a private daemon

// All that the handler touches. `wake` is -1 while no batch is followed.
volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t wake = -1;

void Signal(int descriptor) {
  const uint64_t one = 1;
  (void)!::write(descriptor, &one, sizeof(one));
}

void OnInterrupt(int) {
  if (interrupted != 0 || wake < 0) {
    RestoreTerminal();
    std::_Exit(kInterrupted);
  }
  interrupted = 1;
  Signal(wake);
}

// Nobody reads the descriptor, so it wakes both threads.
void AwaitWake(int descriptor) {
  pollfd awaited{.fd = descriptor, .events = POLLIN, .revents = 0};
  while (::poll(&awaited, 1, -1) < 0) {
  }
}

}  // namespace

BatchInterrupt::BatchInterrupt(const Global& global, std::function<void()> cancel)
    : global_(global) {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC);
  KILN_CHECK(descriptor >= 0);
  wake = descriptor;
  cancels_ = Thread({.name = "cancel", .after_throw = Thread::AfterThrow::kEnds},
                    [cancel = std::move(cancel), descriptor](const std::stop_token&) {
                      AwaitWake(descriptor);
                      if (Happened()) {
                        cancel();
                      }
                    });
  ends_ = Thread({.name = "interrupt", .after_throw = Thread::AfterThrow::kEnds},
                 [this, descriptor](const std::stop_token&) {
                   AwaitWake(descriptor);
                   if (Happened()) {
                     EndInTime();
                   }
                 });
  // The last step: who is told of the signal is there.
  HandleUnlessIgnored(SIGINT, OnInterrupt);
}

void BatchInterrupt::EndInTime() {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  {
    const MutexLock lock(mutex_);
    while (!over_ && std::chrono::steady_clock::now() < until) {
      (void)changed_.WaitFor(mutex_, until - std::chrono::steady_clock::now());
    }
    if (over_) {
      return;
    }
  }
  // As behind a deadline of the command: what other threads do is waited for by nobody.
  ClaimOutput();
  RestoreTerminal();
  Print(stderr, "interrupted; the daemon has not said yet that the batch is cancelled\n");
  (void)EndCommand(global_, {}, kInterrupted);
  (void)std::fflush(stdout);
  client::EndPrivateDaemons(kEndTime);
  std::_Exit(kInterrupted);
}

BatchInterrupt::~BatchInterrupt() {
  const int descriptor = wake;
  wake = -1;  // from here on a signal ends the process
  Signal(descriptor);
  cancels_.join();
  {
    const MutexLock lock(mutex_);
    over_ = true;
  }
  changed_.NotifyAll();
  ends_.join();
  (void)::close(descriptor);
}

bool BatchInterrupt::Happened() { return interrupted != 0; }

}  // namespace kiln::cli
