// SPDX-License-Identifier: MIT
#include "server/rpc/reactors/job_end.h"

#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "server/jobs/memory_queue.h"

namespace kiln::rpc {
namespace {

class JobEndTest : public testing::Test {
 protected:
  std::shared_ptr<JobEnd> End() {
    return std::make_shared<JobEnd>(
        [] { return Error{.code = ErrorCode::kUnavailable, .context = "dropped"}; },
        [this](const Result<void>& result) {
          told.push_back(result.ok() ? "ok" : result.error().context);
        });
  }

  // A job as a call makes one: it tells its end, unless it throws before that.
  static jobs::Job JobOf(std::shared_ptr<JobEnd> end, bool throws = false) {
    jobs::Job job;
    job.run = [end = std::move(end), throws](const cache::Call&) {
      if (throws) {
        throw 7;
      }
      const Result<void> well;
      end->Tell(well);
    };
    return job;
  }

  std::vector<std::string> told;
};

TEST_F(JobEndTest, Ran_IsToldOnce) {
  auto end = End();
  end->Tell({});
  end->Tell(Error{.code = ErrorCode::kInternal, .context = "late"});
  end.reset();
  EXPECT_EQ(told, std::vector<std::string>{"ok"});
}

TEST_F(JobEndTest, Dropped_IsToldOnce) {
  End().reset();
  EXPECT_EQ(told, std::vector<std::string>{"dropped"});
}

TEST_F(JobEndTest, QueueThatGoes_DropsWhatWaits) {
  {
    jobs::MemoryQueue queue(jobs::QueueLimits{});
    ASSERT_TRUE(queue.Submit(JobOf(End())).ok());
    EXPECT_TRUE(told.empty());
  }
  EXPECT_EQ(told, std::vector<std::string>{"dropped"});
}

TEST_F(JobEndTest, QueueThatIsClosed_DropsWhatComes) {
  jobs::MemoryQueue queue(jobs::QueueLimits{});
  queue.Close();
  EXPECT_FALSE(queue.Submit(JobOf(End())).ok());
  EXPECT_EQ(told, std::vector<std::string>{"dropped"});
}

TEST_F(JobEndTest, JobThatThrows_IsDropped) {
  jobs::MemoryQueue queue(jobs::QueueLimits{});
  ASSERT_TRUE(queue.Submit(JobOf(End(), true)).ok());
  {
    std::optional<jobs::DispatchedJob> claimed = queue.Claim(jobs::LaneChoice::kBoth);
    ASSERT_TRUE(claimed.has_value());
    EXPECT_FALSE(CatchAll([&] { claimed->job.run({}); }).ok());
    queue.Complete(claimed->id);
  }
  EXPECT_EQ(told, std::vector<std::string>{"dropped"});
}

TEST_F(JobEndTest, DoneThatThrows_EndsNothing) {
  std::make_shared<JobEnd>([] { return Error{}; }, [](const Result<void>&) { throw 7; }).reset();
  std::make_shared<JobEnd>([]() -> Error { throw 7; }, [](const Result<void>&) {}).reset();
}

}  // namespace
}  // namespace kiln::rpc
