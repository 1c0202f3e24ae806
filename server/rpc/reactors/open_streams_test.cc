// SPDX-License-Identifier: MIT
#include "server/rpc/reactors/open_streams.h"

#include <atomic>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

// One that throws whatever is wanted of it, or counts.
class Stream final : public OpenStreams::Stream {
 public:
  explicit Stream(bool throws) : throws_(throws) {}
  void Look(Duration /*now*/) override {
    ++looked;
    looked.notify_all();
    MaybeThrow();
  }
  void EndWith(const Error& error) override {
    ended = error.reason;
    MaybeThrow();
  }

  std::atomic<int> looked = 0;
  std::string ended;

 private:
  void MaybeThrow() const {
    if (throws_) {
      throw 7;
    }
  }
  const bool throws_;
};

TEST(OpenStreams, OneThatThrows_CostsNoOther) {
  SystemClock clock;
  NullLog log;
  OpenStreams streams(clock, log);
  const auto first = std::make_shared<Stream>(true);
  const auto second = std::make_shared<Stream>(false);
  streams.Add(first);
  streams.Add(second);
  second->looked.wait(0);
  second->looked.wait(1);  // again and again
  EXPECT_GE(first->looked, 2);
  streams.EndAll(Leaving());
  EXPECT_EQ(first->ended, "DRAINING");
  EXPECT_EQ(second->ended, "DRAINING");
}

TEST(OpenStreams, OneThatIsGone_IsForgotten) {
  SystemClock clock;
  NullLog log;
  OpenStreams streams(clock, log);
  streams.Add(std::make_shared<Stream>(false));
  streams.EndAll(Leaving());  // of nobody
}

}  // namespace
}  // namespace kiln::rpc
