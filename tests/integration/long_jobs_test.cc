// SPDX-License-Identifier: MIT
// What a reader counts or asks about options keeps nobody's compile waiting, however much of it
// there is: order, not time. See spec/daemon 5.3
#include <atomic>
#include <functional>
#include <pthread.h>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"
#include "tests/integration/security_case.h"

namespace kiln::server {
namespace {

constexpr int kCalls = 6;

// Jobs of a method that have begun stay where they are until they are let go.
class Gate {
 public:
  // Before there are calls.
  void Hold(std::string_view method) { method_ = method; }
  void Pass(std::string_view where) {
    char name[16] = {};
    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    if (where != method_ || std::string_view(name) != "worker") {  // threads of gRPC go on
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
  std::string method_;
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

  size_t Held(std::string_view method) {
    grpc::ClientContext context;
    v1::ListJobsReply reply;
    EXPECT_TRUE(admin->ListJobs(&context, {}, &reply).ok());
    return static_cast<size_t>(std::ranges::count_if(
        reply.jobs(), [&](const auto& job) { return job.stage().ends_with(method); }));
  }

  // While a reader makes `call` of the method again and again, on every thread that he gets.
  using Call = std::function<grpc::Status(v1::CompileService::Stub&, grpc::ClientContext&)>;
  void ExpectCompilesOfOthersAreServed(std::string_view method, const Call& call) {
    gate.Hold(method);
    Daemon::Options options = TcpOptions();
    options.config.workers = 1;
    options.config.express = 1;
    options.fault = [this](std::string_view where) { gate.Pass(where); };
    StartWith(options);
    std::atomic<int> ended = 0;
    std::vector<Thread> readers;
    for (int i = 0; i < kCalls; ++i) {
      readers.push_back(Thread({.name = "reader", .log = &log}, [&](const std::stop_token&) {
        grpc::ClientContext context;
        As(context, tokens[0]);
        const grpc::Status status = call(*v1::CompileService::NewStub(Tcp()), context);
        EXPECT_TRUE(status.ok()) << status.error_message();
        ++ended;
      }));
    }
    gate.WaitForOne();
    EXPECT_TRUE(WaitUntil([&] { return Held(method) == kCalls; })) << "all of them run or wait";
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
    EXPECT_EQ(Compile(RequestOf(GoodSource() + "\n\n\n\n")).kind(), v1::Outcome::OK)
        << "the owner's";
    EXPECT_EQ(ended, 0) << "nothing was answered meanwhile";
    gate.Open();
    readers.clear();
    EXPECT_EQ(ended, kCalls);
  }

  Gate gate;
};

TEST_F(LongJobs, ReaderCountsOnEveryThreadThatHeGets_CompilesOfOthersAreServed) {
  ExpectCompilesOfOthersAreServed("CountVariants",
                                  [](v1::CompileService::Stub& stub, grpc::ClientContext& context) {
                                    v1::CountVariantsReply reply;
                                    return stub.CountVariants(&context, {}, &reply);
                                  });
}

// How long a call works does not matter here: it is held where it begins.
TEST_F(LongJobs, ReaderListsOptionsOnEveryThreadThatHeGets_CompilesOfOthersAreServed) {
  constexpr int kOptions = 500;  // beside those of GoodSource
  std::string text = GoodSource();
  for (int i = 0; i < kOptions; ++i) {
    text += "\nglobal many_" + std::to_string(i) + ": flag false;";
  }
  v1::ListOptionsRequest request;
  request.set_with_liveness(true);
  *request.mutable_program() = ProgramOf(text + "\n", true);
  ExpectCompilesOfOthersAreServed(
      "ListOptions", [&](v1::CompileService::Stub& stub, grpc::ClientContext& context) {
        v1::ListOptionsReply reply;
        const grpc::Status status = stub.ListOptions(&context, request, &reply);
        EXPECT_GT(reply.options_size(), kOptions);
        return status;
      });
}

}  // namespace
}  // namespace kiln::server
