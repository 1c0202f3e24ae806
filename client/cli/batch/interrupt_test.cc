// SPDX-License-Identifier: MIT
// What Ctrl-C does in a process of its own, as it ends it.
#include "client/cli/batch/interrupt.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>

#include <gtest/gtest.h>

#include "client/cli/failure.h"

namespace kiln::cli {
namespace {

constexpr int kWentOn = 17;

[[noreturn]] void End() {
  std::fprintf(stderr, "%s\n", BatchInterrupt::Happened() ? "interrupted" : "undisturbed");
  std::_Exit(kWentOn);
}

void Forever() {
  while (::poll(nullptr, 0, -1) < 0) {
  }
}

void Interrupt() { (void)std::raise(SIGINT); }

TEST(BatchInterruptDeathTest, CancelledInTime_GoesOn) {
  const auto batch = [](int interrupts) {
    const Global global;
    int cancelled = 0;
    {
      const BatchInterrupt interrupt(global, [&] { ++cancelled; });
      if (interrupts != 0) {
        Interrupt();
      }
    }
    if (cancelled == interrupts) {
      End();
    }
  };
  EXPECT_EXIT(batch(0), testing::ExitedWithCode(kWentOn), "undisturbed");
  EXPECT_EXIT(batch(1), testing::ExitedWithCode(kWentOn), "interrupted");
}

TEST(BatchInterruptDeathTest, DaemonThatIsSilent_HoldsNobody) {
  const auto silent = [](bool answers) {
    const Global global;
    const BatchInterrupt interrupt(global, [&] {
      if (!answers) {
        Forever();
      }
    });
    Interrupt();
    if (answers) {
      Forever();  // the stream is, as well
    }
  };
  EXPECT_EXIT(silent(true), testing::ExitedWithCode(kInterrupted), "has not said yet");
  EXPECT_EXIT(silent(false), testing::ExitedWithCode(kInterrupted), "has not said yet");
}

TEST(BatchInterruptDeathTest, SecondOneAndOneBehindTheBatch_EndAtOnce) {
  const auto twice = [] {
    const Global global;
    const BatchInterrupt interrupt(global, Forever);
    Interrupt();
    Interrupt();
  };
  EXPECT_EXIT(twice(), testing::ExitedWithCode(kInterrupted), "^$");
  const auto behind = [] {
    const Global global;
    {
      const BatchInterrupt interrupt(global, [] {});
    }
    Interrupt();  // while results are written
    End();
  };
  EXPECT_EXIT(behind(), testing::ExitedWithCode(kInterrupted), "^$");
}

// As a script's shell starts what runs in the background, and nohup.
TEST(BatchInterruptDeathTest, SignalThatIsIgnored_StaysIgnored) {
  const auto ignored = [] {
    (void)std::signal(SIGINT, SIG_IGN);
    const Global global;
    {
      const BatchInterrupt interrupt(global, [] {});
      Interrupt();
    }
    Interrupt();
    End();
  };
  EXPECT_EXIT(ignored(), testing::ExitedWithCode(kWentOn), "undisturbed");
}

}  // namespace
}  // namespace kiln::cli
