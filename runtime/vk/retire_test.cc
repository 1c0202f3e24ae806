// SPDX-License-Identifier: MIT
#include "runtime/vk/retire.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::vk {
namespace {

// Writes its number down when it is destroyed; moved ones write nothing.
class Noted {
 public:
  Noted(int number, std::vector<int>& log) : number_(number), log_(&log) {}
  Noted(Noted&& other) noexcept
      : number_(other.number_), log_(std::exchange(other.log_, nullptr)) {}
  Noted& operator=(Noted&&) = delete;
  ~Noted() {
    if (log_ != nullptr) {
      log_->push_back(number_);
    }
  }

 private:
  int number_;
  std::vector<int>* log_;
};

TEST(Retire, Collect_DestroysWhatTheDeviceHasPassedInOrder) {
  std::vector<int> log;
  Retire retire;
  retire.Add(5, Noted(1, log));
  retire.Add(7, Noted(2, log));
  retire.Add(6, Noted(3, log));
  EXPECT_EQ(retire.Collect(4), 0U);
  EXPECT_THAT(log, ::testing::IsEmpty());
  EXPECT_EQ(retire.Collect(6), 2U);
  EXPECT_THAT(log, ::testing::ElementsAre(1, 3));
  EXPECT_EQ(retire.size(), 1U);
  EXPECT_EQ(retire.Collect(7), 1U);
  EXPECT_THAT(log, ::testing::ElementsAre(1, 3, 2));
}

TEST(Retire, Destruction_DestroysTheRest) {
  std::vector<int> log;
  {
    Retire retire;
    retire.Add(9, Noted(1, log));
  }
  EXPECT_THAT(log, ::testing::ElementsAre(1));
}

}  // namespace
}  // namespace kiln::vk
