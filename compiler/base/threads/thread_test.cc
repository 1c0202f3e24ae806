// SPDX-License-Identifier: MIT
#include "compiler/base/threads/thread.h"

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/check.h"

namespace kiln {
namespace {

const struct ThrownRow {
  const char* name;
  void (*thrown)();
  ErrorCode code;
  const char* reason;
  const char* context;
} kThrown[] = {
    {"bad_alloc", [] { throw std::bad_alloc(); }, ErrorCode::kResourceExhausted, "OUT_OF_MEMORY",
     "out of memory"},
    {"InternalError", [] { throw InternalError("a.cc:1: check failed"); }, ErrorCode::kInternal,
     "BUG", "a.cc:1: check failed"},
    {"runtime_error", [] { throw std::runtime_error("the sky fell"); }, ErrorCode::kInternal, "BUG",
     "the sky fell"},
    {"no std::exception", [] { throw 7; }, ErrorCode::kInternal, "BUG",
     "an exception of an unknown type"},
};

TEST(CatchAll, WhatIsThrown_IsAnError) {
  for (const ThrownRow& row : kThrown) {
    const Result<void> caught = CatchAll(row.thrown);
    ASSERT_FALSE(caught.ok()) << row.name;
    EXPECT_EQ(caught.error(),
              (Error{.code = row.code, .context = row.context, .reason = row.reason}))
        << row.name;
  }
  EXPECT_TRUE(CatchAll([] {}).ok());
}

TEST(Thread, BodyThatThrows_IsToldAndGoesOnOrEnds) {
  for (const ThrownRow& row : kThrown) {
    for (const auto after : {Thread::AfterThrow::kGoesOn, Thread::AfterThrow::kEnds}) {
      const bool goes_on = after == Thread::AfterThrow::kGoesOn;
      RecordingLog log;
      std::atomic<int> calls = 0;
      Thread thread({.name = "steps", .after_throw = after, .log = &log},
                    [&](const std::stop_token&) {
                      if (++calls < 3) {
                        row.thrown();
                      }
                    });
      thread.join();
      EXPECT_EQ(calls, goes_on ? 3 : 1) << row.name;
      const std::vector<std::string> lines = log.Lines();
      ASSERT_EQ(lines.size(), goes_on ? 2U : 1U) << row.name;
      EXPECT_NE(lines[0].find("thread=steps"), std::string::npos) << lines[0];
      EXPECT_NE(lines[0].find(row.context), std::string::npos) << lines[0];
    }
  }
}

TEST(Thread, BodyThatAlwaysThrows_EndsWhenItIsStopped) {
  NullLog log;
  std::atomic<int> calls = 0;
  {
    const Thread thread({.name = "steps", .log = &log}, [&](const std::stop_token&) {
      ++calls;
      calls.notify_all();
      throw 7;
    });
    calls.wait(0);
  }
  EXPECT_GE(calls, 1);
}

// A log that is out of memory itself.
class ThrowingLog final : public LogSink {
 public:
  void Take(const LogEntry&) override { throw std::bad_alloc(); }
};

TEST(Thread, LogThatThrows_EndsNothing) {
  ThrowingLog log;
  std::atomic<int> calls = 0;
  Thread thread({.name = "steps", .log = &log}, [&](const std::stop_token&) {
    if (++calls == 1) {
      throw 7;
    }
  });
  thread.join();
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace kiln
