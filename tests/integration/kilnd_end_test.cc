// SPDX-License-Identifier: MIT
// The program kilnd, some of whose work throws or never returns: SIGTERM ends it within the drain
// time and five seconds all the same, it says what hung, and what it acknowledged is there for the
// next one. See spec/daemon 14.5
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <future>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>

#include <gmock/gmock.h>

#include "compiler/base/test_wait.h"
#include "server/stop_watchdog.h"
#include "server/test_server.h"

extern char** environ;

namespace kiln::server {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr int kDrainSeconds = 1;
// What a loaded machine may add to a promise of seconds; what hangs does so for longer.
constexpr seconds kSlack = kTestPatience;

class Kilnd : public testing::Test {
 protected:
  ~Kilnd() override {
    if (pid_ > 0) {
      (void)kill(pid_, SIGKILL);
      (void)waitpid(pid_, nullptr, 0);
    }
  }

  void Start(const std::string& faults) {
    const std::string program =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
         "faulty_kilnd")
            .string();
    int ready[2] = {-1, -1};
    ASSERT_EQ(pipe(ready), 0);
    const std::string socket = folder_.path() + "/run/kilnd.sock";
    std::vector<std::string> words = {
        program,
        "--listen.unix=" + socket,
        "--cache.dir=" + folder_.path() + "/cache",
        "--cache.min_free=0",
        "--jobs.workers=2",
        "--log.format=text",
        "--lifecycle.drain_timeout=" + std::to_string(kDrainSeconds) + "s",
        "--ready-fd=" + std::to_string(ready[1])};
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, LogFile().c_str(),
                                           O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)setenv("FAULTS", faults.c_str(), 1);
    ASSERT_EQ(posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ready[1]);
    char said = 0;
    ASSERT_EQ(read(ready[0], &said, 1), 1) << Log();
    (void)close(ready[0]);
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), own);
    compile_ = v1::CompileService::NewStub(channel_);
    batch_ = v1::BatchService::NewStub(channel_);
    admin_ = v1::AdminService::NewStub(channel_);
  }

  // How it ended; below 0: by a signal.
  int End(int signal, std::chrono::steady_clock::duration* took = nullptr) {
    const auto begun = std::chrono::steady_clock::now();
    (void)kill(pid_, signal);
    int status = 0;
    (void)waitpid(pid_, &status, 0);
    pid_ = 0;
    if (took != nullptr) {
      *took = std::chrono::steady_clock::now() - begun;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string LogFile() const { return folder_.path() + "/log"; }
  std::string Log() const {
    std::ifstream file(LogFile());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  void WaitForLog(const std::string& text) const {
    while (Log().find(text) == std::string::npos) {
      std::this_thread::yield();
    }
  }

  grpc::Status Compile(const v1::CompileRequest& request, v1::CompileReply* reply) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + seconds(300));
    return compile_->Compile(&context, request, reply);
  }

  // Until so many jobs run.
  void WaitForJobs(int count) {
    v1::ListJobsReply jobs;
    do {
      grpc::ClientContext context;
      ASSERT_TRUE(admin_->ListJobs(&context, v1::ListJobsRequest(), &jobs).ok());
    } while (jobs.jobs_size() < count);
  }

  TestFolder folder_;
  pid_t pid_ = 0;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::CompileService::Stub> compile_;
  std::unique_ptr<v1::BatchService::Stub> batch_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
};

v1::CompileRequest Durable(const std::string& text) {
  v1::CompileRequest request = RequestOf(text);
  request.set_durability(v1::DURABILITY_LOCAL);
  return request;
}

TEST_F(Kilnd, NothingIsWrong_DrainsAndEndsWith0) {
  Start("");
  v1::CompileReply reply;
  ASSERT_TRUE(Compile(Durable(GoodSource()), &reply).ok());
  EXPECT_EQ(End(SIGTERM), 0) << Log();
  EXPECT_THAT(Log(), Not(HasSubstr("does not end in time")));
}

TEST_F(Kilnd, WhatThrows_EndsItsCallsAndTheDaemonEndsWith0) {
  const struct {
    const char* faults;
    grpc::StatusCode code;
  } table[] = {
      {"Compile=bad_alloc", grpc::StatusCode::RESOURCE_EXHAUSTED},
      {"Compile=runtime_error", grpc::StatusCode::INTERNAL},
      {"Compile=internal_error", grpc::StatusCode::INTERNAL},
      {"Compile=number", grpc::StatusCode::INTERNAL},
      {"store=bad_alloc", grpc::StatusCode::RESOURCE_EXHAUSTED},
      {"store=number", grpc::StatusCode::INTERNAL},
  };
  for (const auto& row : table) {
    Start(row.faults);
    v1::CompileReply reply;
    EXPECT_EQ(Compile(Durable(GoodSource()), &reply).error_code(), row.code) << row.faults;
    EXPECT_EQ(End(SIGTERM), 0) << row.faults << "\n" << Log();
  }
}

TEST_F(Kilnd, JobThatHangs_IsNamedAndTheProcessEndsInTime) {
  Start("");
  v1::CompileReply reply;
  ASSERT_TRUE(Compile(Durable(GoodSource()), &reply).ok());
  EXPECT_EQ(End(SIGTERM), 0);
  Start("ListOptions=hang");
  auto hanging = std::async(std::launch::async, [this] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + seconds(300));
    v1::ListOptionsRequest request;
    *request.mutable_program() = ProgramOf(GoodSource(), true);
    v1::ListOptionsReply options;
    return compile_->ListOptions(&context, request, &options);
  });
  WaitForJobs(1);
  const std::string fresh = GoodSource() + "\nf1 fresh (in f1 x) { return x + 1.0; }\n";
  ASSERT_TRUE(Compile(Durable(fresh), &reply).ok()) << "acknowledged";
  std::chrono::steady_clock::duration took{};
  EXPECT_EQ(End(SIGTERM, &took), StopWatchdog::kExitHung) << Log();
  EXPECT_LT(took, seconds(kDrainSeconds) + StopWatchdog::kMargin + kSlack);
  EXPECT_EQ(hanging.get().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(Log(), HasSubstr("does not end in time"));
  EXPECT_THAT(Log(), HasSubstr("'ListOptions': runs for"));
  Start("");
  ASSERT_TRUE(Compile(Durable(fresh), &reply).ok());
  EXPECT_EQ(reply.outcome().artifacts(0).origin(), v1::Artifact::LOCAL) << "it was kept";
  EXPECT_EQ(End(SIGTERM), 0) << Log();
}

TEST_F(Kilnd, BatchThatHangs_TheProcessEndsInTime) {
  Start("store=hang");
  auto hanging = std::async(std::launch::async, [this] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + seconds(300));
    v1::StartBatchReply reply;
    return batch_->StartBatch(&context, BatchOf(GoodSource()), &reply);
  });
  WaitForJobs(1);
  std::chrono::steady_clock::duration took{};
  EXPECT_EQ(End(SIGTERM, &took), StopWatchdog::kExitHung) << Log();
  EXPECT_LT(took, seconds(kDrainSeconds) + StopWatchdog::kMargin + kSlack);
  EXPECT_FALSE(hanging.get().ok());
}

// The thread that takes signals is never the one that hangs.
TEST_F(Kilnd, CallbackThatHangs_SecondSignalEndsItAtOnce) {
  Start("GetStatus=hang");
  auto hanging = std::async(std::launch::async, [this] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + seconds(300));
    v1::ServerStatus status;
    return admin_->GetStatus(&context, v1::GetStatusRequest(), &status);
  });
  WaitForLog("a fault hangs");
  (void)kill(pid_, SIGTERM);
  WaitForLog("draining");
  std::chrono::steady_clock::duration took{};
  EXPECT_EQ(End(SIGTERM, &took), 128 + SIGTERM);
  EXPECT_LT(took, kSlack);
  EXPECT_FALSE(hanging.get().ok());
}

TEST_F(Kilnd, DrainRequest_TimeTable) {
  const struct {
    uint64_t timeout_ms;
    grpc::StatusCode code;
  } table[] = {
      {UINT64_MAX, grpc::StatusCode::INVALID_ARGUMENT},
      {uint64_t{365} * 86'400'000 + 1, grpc::StatusCode::INVALID_ARGUMENT},
      {INT64_MAX / 1000, grpc::StatusCode::INVALID_ARGUMENT},
      {uint64_t{365} * 86'400'000, grpc::StatusCode::OK},
      {1, grpc::StatusCode::OK},
  };
  for (const auto& row : table) {
    Start("");
    grpc::ClientContext context;
    v1::DrainRequest request;
    request.set_timeout_ms(row.timeout_ms);
    v1::DrainReply reply;
    EXPECT_EQ(admin_->Drain(&context, request, &reply).error_code(), row.code) << row.timeout_ms;
    EXPECT_EQ(DetailOf(context).field(), row.code == grpc::StatusCode::OK ? "" : "timeout_ms");
    EXPECT_EQ(End(row.code == grpc::StatusCode::OK ? 0 : SIGTERM), 0) << Log();
  }
}

}  // namespace
}  // namespace kiln::server
