// SPDX-License-Identifier: MIT
// Clocks that jump, callers that give up, networks that delay, cut and reset: documented statuses,
// right bytes, nothing left behind. See spec/daemon 9, 16
#include <atomic>
#include <random>
#include <set>
#include <sys/resource.h>
#include <thread>

#include <fmt/format.h>

#include "compiler/base/test_cpu_time.h"
#include "compiler/base/test_wait.h"
#include "server/test_server.h"
#include "tests/integration/full_run.h"
#include "tests/support/faulty_relay.h"

namespace kiln::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The wall clock of somebody who sets it; the monotonic one goes on.
class JumpingClock final : public Clock {
 public:
  Duration Monotonic() override { return system_.Monotonic(); }
  Duration UnixTime() override { return system_.UnixTime() + Duration(jumped_.load()); }
  void JumpTo(Duration unix_time) { jumped_ = (unix_time - system_.UnixTime()).count(); }

 private:
  SystemClock system_;
  std::atomic<int64_t> jumped_ = 0;
};

std::string BytesOf(const v1::Outcome& outcome) {
  return outcome.artifacts_size() == 0 ? "" : outcome.artifacts(0).data();
}

// A program of which nothing is cached.
std::string Fresh(uint32_t number) {
  return GoodSource() + fmt::format("\nf1 fresh (in f1 x) {{ return x + {}.0; }}\n", number);
}

v1::CompileRequest FreshRequest(uint32_t number) {
  v1::CompileRequest request = RequestOf(Fresh(number));
  v1::OptionValue& option = *request.mutable_variant()->add_options();
  option.set_name("cut");
  option.set_flag(number % 2 == 0);
  return request;
}

class Mishap : public ServerTest {
 protected:
  void TearDown() override { Stop(); }  // before the clock goes

  // Until no job is waiting or running.
  void ExpectNoJobs() {
    v1::ListJobsReply jobs;
    EXPECT_TRUE(WaitUntil([&] {
      grpc::ClientContext context;
      return admin->ListJobs(&context, v1::ListJobsRequest(), &jobs).ok() && jobs.jobs_size() == 0;
    })) << jobs.DebugString();
  }

  JumpingClock jumping;
};

TEST_F(Mishap, ClockJumpsTable) {
  StartWith(OptionsIn(folder.path()), jumping);
  const std::string right = BytesOf(Compile(RequestOf(GoodSource())));
  ASSERT_FALSE(right.empty());
  EXPECT_EQ(Compile(RequestOf(WrongSource())).kind(), v1::Outcome::SOURCE_ERROR);
  const std::string built = Build(GoodSource());
  constexpr std::chrono::hours kYear(24 * 365);
  const Duration now = jumping.UnixTime();
  const struct {
    const char* name;
    Duration to;
  } table[] = {
      {"an hour back", now - std::chrono::hours(1)},
      {"two years on", now + 2 * kYear},
      {"1970", seconds(1)},
      {"before 1970", seconds(-86'400)},
      {"2200", 230 * kYear},
      {"and as it was", now},
  };
  uint32_t number = 0;
  for (const auto& row : table) {
    SCOPED_TRACE(row.name);
    jumping.JumpTo(row.to);
    const v1::Outcome hit = Compile(RequestOf(GoodSource()));
    EXPECT_EQ(BytesOf(hit), right);
    EXPECT_NE(hit.artifacts(0).origin(), v1::Artifact::COMPILED);
    EXPECT_EQ(Compile(FreshRequest(++number)).kind(), v1::Outcome::OK);
    EXPECT_EQ(Compile(RequestOf(WrongSource())).kind(), v1::Outcome::SOURCE_ERROR);
    std::map<int, int> seen;
    const v1::BatchEvent last = Watch(StartBatch(BatchOf(Fresh(100 + number))).batch_id(), seen);
    EXPECT_EQ(last.final().counts().failed(), 0U);
    grpc::ClientContext context;
    v1::GetBatchRequest get;
    get.set_batch_id(built);
    v1::Batch known;
    EXPECT_TRUE(batch->GetBatch(&context, get, &known).ok());
    EXPECT_EQ(known.state(), v1::Batch::DONE);
    Stop();  // what was stored at this time is read at the next one
    StartWith(OptionsIn(folder.path()), jumping);
    EXPECT_EQ(BytesOf(Compile(RequestOf(GoodSource()))), right);
  }
  ExpectNoJobs();
}

// One call of some kind that is given up after a while.
grpc::StatusCode GiveUp(const std::shared_ptr<grpc::Channel>& channel, uint32_t number,
                        std::chrono::microseconds after) {
  grpc::ClientContext context;
  std::thread cancel([&context, after] {
    LetPass(after);
    context.TryCancel();
  });
  grpc::Status status;
  switch (number % 4) {
    case 0: {
      v1::CompileReply reply;
      status =
          v1::CompileService::NewStub(channel)->Compile(&context, FreshRequest(number), &reply);
      break;
    }
    case 1: {
      v1::FetchRequest request;
      for (uint32_t i = 0; i < 20; ++i) {
        *request.add_variants() = FreshRequest(number + i).variant();
      }
      request.set_on_miss(v1::FetchRequest::COMPILE);
      request.set_inline_data(true);
      auto compile = v1::CompileService::NewStub(channel);
      const auto stream = compile->Fetch(&context, request);
      v1::FetchReply reply;
      while (stream->Read(&reply)) {
      }
      status = stream->Finish();
      break;
    }
    case 2: {
      auto batch = v1::BatchService::NewStub(channel);
      grpc::ClientContext own;
      v1::StartBatchReply started;
      status = batch->StartBatch(&own, BatchOf(Fresh(number)), &started);
      v1::WatchBatchRequest request;
      request.set_batch_id(started.batch_id());
      const auto stream = batch->WatchBatch(&context, request);
      v1::BatchEvent event;
      while (stream->Read(&event)) {
      }
      status = stream->Finish();
      grpc::ClientContext third;
      v1::CancelBatchRequest end;
      end.set_batch_id(started.batch_id());
      v1::Batch ended;
      (void)batch->CancelBatch(&third, end, &ended);
      break;
    }
    default: {
      v1::CountVariantsRequest request;
      *request.add_spaces() = BatchOf(Fresh(number)).spaces(0);
      v1::CountVariantsReply reply;
      status = v1::CompileService::NewStub(channel)->CountVariants(&context, request, &reply);
    }
  }
  cancel.join();
  return status.error_code();
}

TEST_F(Mishap, RandomCancels_LeaveNoJobAndNoWork) {
  Start();
  const std::string right = BytesOf(Compile(RequestOf(GoodSource())));
  std::mt19937 random(7);
  std::set<grpc::StatusCode> codes;
  const auto count = static_cast<uint32_t>(tests::Rounds(200, 1000));
  for (uint32_t i = 0; i < count; ++i) {
    codes.insert(GiveUp(channel, 1000 + i * 32 + i % 4,  // twenty programs each, and four kinds
                        std::chrono::microseconds(random() % 8000)));
  }
  for (const grpc::StatusCode code : codes) {
    EXPECT_TRUE(code == grpc::StatusCode::OK || code == grpc::StatusCode::CANCELLED) << code;
  }
  EXPECT_TRUE(codes.contains(grpc::StatusCode::CANCELLED));
  ExpectNoJobs();
  const Duration before = CpuOfThisProcess();
  LetPass(milliseconds(400));
  EXPECT_LT(CpuOfThisProcess() - before, milliseconds(100)) << "something still works";
  EXPECT_EQ(BytesOf(Compile(RequestOf(GoodSource()))), right);
}

TEST_F(Mishap, FaultyNetworkTable) {
  Start();
  const std::string right = BytesOf(Compile(RequestOf(GoodSource())));
  const struct {
    const char* name;
    tests::RelayFaults faults;
    bool always_answers;
  } table[] = {
      {"none", {}, true},
      {"delays", {.delay = milliseconds(20)}, true},
      {"throttled", {.piece = 512, .delay = milliseconds(1)}, true},
      {"cut on the way there", {.cut_to_server = 300}, false},
      {"cut on the way back", {.cut_to_client = 700}, false},
      {"silent after a while", {.silent_after = 600}, false},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.name);
    const tests::FaultyRelay relay(folder.path() + "/relay.sock", daemon->socket(), row.faults);
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto through =
        grpc::CreateCustomChannel("unix:" + relay.path(), grpc::InsecureChannelCredentials(), own);
    const auto stub = v1::CompileService::NewStub(through);
    for (int call = 0; call < 5; ++call) {
      grpc::ClientContext context;
      const auto deadline = seconds(row.always_answers ? 30 : 2);
      context.set_deadline(std::chrono::system_clock::now() + deadline);
      v1::CompileReply reply;
      const auto begun = std::chrono::steady_clock::now();
      const grpc::Status status = stub->Compile(&context, RequestOf(GoodSource()), &reply);
      EXPECT_LT(std::chrono::steady_clock::now() - begun, deadline + kTestPatience);
      if (status.ok()) {
        EXPECT_EQ(BytesOf(reply.outcome()), right);
      } else {
        EXPECT_FALSE(row.always_answers) << status.error_message();
        EXPECT_TRUE(status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                    status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
            << status.error_code() << status.error_message();
      }
    }
  }
  ExpectNoJobs();
  EXPECT_EQ(BytesOf(Compile(RequestOf(GoodSource()))), right);
}

}  // namespace
}  // namespace kiln::server
