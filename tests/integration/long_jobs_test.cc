// SPDX-License-Identifier: MIT
// What a reader counts keeps nobody's compile waiting, however much of it there is: order, not
// time. See spec/daemon 5.3
#include <atomic>
#include <pthread.h>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/mutex.h"
#include "compiler/base/thread.h"
#include "tests/integration/security_case.h"

namespace kiln::server {
namespace {

constexpr const char* kHeld = "CountVariants";
constexpr int kCounts = 6;

// Jobs of kHeld that have begun stay where they are until they are let go.
class Gate {
 public:
  void Pass(std::string_view where) {
    char name[16] = {};
    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    if (where != kHeld || std::string_view(name) != "worker") {  // threads of gRPC go on
      return;
    }
    const MutexLock lock(mutex_);
    ++held_;
    changed_.NotifyAll();
    while (!open_) {
      changed_.Wait(mutex_);
    }
  }
  void WaitForOne() {
    const MutexLock lock(mutex_);
    while (held_ == 0) {
      changed_.Wait(mutex_);
    }
  }
  void Open() {
    const MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int held_ KILN_GUARDED_BY(mutex_) = 0;
  bool open_ KILN_GUARDED_BY(mutex_) = false;
};

class LongJobs : public SecurityCase {
 protected:
  void TearDown() override {
    gate.Open();
    Stop();
  }

  static void As(grpc::ClientContext& context, const std::string& token) {
    context.AddMetadata("authorization", "Bearer " + token);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  }

  size_t Counts() {
    grpc::ClientContext context;
    v1::ListJobsReply reply;
    EXPECT_TRUE(admin->ListJobs(&context, {}, &reply).ok());
    return static_cast<size_t>(std::ranges::count_if(
        reply.jobs(), [](const auto& job) { return job.stage().ends_with(kHeld); }));
  }

  Gate gate;
};

TEST_F(LongJobs, ReaderCountsOnEveryThreadThatHeGets_CompilesOfOthersAreServed) {
  Daemon::Options options = TcpOptions();
  options.config.workers = 1;
  options.config.express = 1;
  options.fault = [this](std::string_view where) { gate.Pass(where); };
  StartWith(options);
  std::atomic<int> ended = 0;
  std::vector<Thread> readers;
  for (int i = 0; i < kCounts; ++i) {
    readers.push_back(Thread({.name = "reader", .log = &log}, [&](const std::stop_token&) {
      grpc::ClientContext context;
      As(context, tokens[0]);
      v1::CountVariantsReply reply;
      EXPECT_TRUE(v1::CompileService::NewStub(Tcp())->CountVariants(&context, {}, &reply).ok());
      ++ended;
    }));
  }
  gate.WaitForOne();
  EXPECT_TRUE(WaitUntil([&] { return Counts() == kCounts; })) << "all of them run or wait";
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    As(context, tokens[1]);
    v1::CompileReply reply;
    const v1::CompileRequest request =
        RequestOf(GoodSource() + std::string(static_cast<size_t>(i), '\n'));
    const grpc::Status status =
        v1::CompileService::NewStub(Tcp())->Compile(&context, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  EXPECT_EQ(Compile(RequestOf(GoodSource() + "\n\n\n\n")).kind(), v1::Outcome::OK) << "the owner's";
  EXPECT_EQ(ended, 0) << "nothing was counted meanwhile";
  gate.Open();
  readers.clear();
  EXPECT_EQ(ended, kCounts);
}

}  // namespace
}  // namespace kiln::server
