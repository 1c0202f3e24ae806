// SPDX-License-Identifier: MIT
// Clients that ask for streams and do not read them, seen by a daemon whose clock is put forward.
// Spec: daemon §9.6
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include "compiler/base/test_wait.h"
#include "proto/kiln/v1/watch.grpc.pb.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

// The clock of the machine, which can be put forward.
class AheadClock final : public Clock {
 public:
  Duration Monotonic() override { return real_.Monotonic() + Duration(ahead_.load()); }
  Duration UnixTime() override { return real_.UnixTime(); }
  void Advance(Duration by) { ahead_ += by.count(); }

 private:
  SystemClock real_;
  std::atomic<Duration::rep> ahead_ = 0;
};

constexpr int kPrograms = 400;  // whose names alone do not fit into the window of a slow client
constexpr char kTiny[] =
    "color_output_container target { f4 color; };\n"
    "void mist_vertex (void) { vertex_stage_output_position (f4 {0.0}); }\n"
    "void mist_fragment (void) { target.color = f4 {1.0}; }\n";

v1::StartBatchRequest ManyPrograms() {
  v1::StartBatchRequest request;
  request.set_project("slow");
  for (int i = 0; i < kPrograms; ++i) {
    v1::Program& program = *request.add_spaces()->mutable_program();
    program = ProgramOf(kTiny, true);
    program.set_name(std::string(100, 'n') + std::to_string(i));
  }
  return request;
}

class SlowReader : public ServerTest {
 protected:
  void SetUp() override {
    StartWith(OptionsIn(folder.path()), ahead);
    ASSERT_NE(daemon, nullptr);
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 14);
    narrow = grpc::CreateCustomChannel("unix:" + daemon->socket(),
                                       grpc::InsecureChannelCredentials(), arguments);
  }
  void TearDown() override { daemon.reset(); }

  v1::ServerStatus Status() {
    grpc::ClientContext context;
    v1::ServerStatus status;
    EXPECT_TRUE(admin->GetStatus(&context, v1::GetStatusRequest(), &status).ok());
    return status;
  }

  bool IsIdle() {
    return std::ranges::all_of(Status().lanes(), [](const v1::ServerStatus::Lane& lane) {
      return lane.queued() + lane.running() == 0;
    });
  }

  bool HasDropped() {
    return std::ranges::any_of(Status().warnings(), [](const v1::ServerStatus::Warning& warning) {
      return warning.text().find("a reader that is too slow is dropped") != std::string::npos;
    });
  }

  // Once the daemon has nothing to do but to write, lets time pass.
  void NobodyReadsForAMinute() {
    EXPECT_TRUE(WaitUntil([&] { return IsIdle(); }));
    EXPECT_TRUE(WaitUntil([&] {
      ahead.Advance(std::chrono::seconds(1));
      return HasDropped();
    }));
  }

  // Reads one message, and the rest when it is too late.
  template <class Message, class Stream>
  void ExpectDropped(Stream& stream, grpc::ClientContext& context) {
    Message message;
    ASSERT_TRUE(stream.Read(&message));
    NobodyReadsForAMinute();
    while (stream.Read(&message)) {
    }
    const grpc::Status status = stream.Finish();
    // Who does not even take the end within ten seconds is cut off without one.
    EXPECT_THAT(status.error_code(),
                testing::AnyOf(grpc::StatusCode::DEADLINE_EXCEEDED, grpc::StatusCode::CANCELLED))
        << status.error_message();
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
      EXPECT_EQ(DetailOf(context).reason(), "SLOW_READER");
    }
    EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);  // others are served
  }

  AheadClock ahead;
  std::shared_ptr<grpc::Channel> narrow;
};

TEST_F(SlowReader, Pages_AreDropped) {
  const std::string content(4 << 20, 'x');
  const Digest digest = DigestOf(std::string_view(content));
  {
    grpc::ClientContext context;
    v1::PutSourcesReply reply;
    const auto upload = compile->PutSources(&context, &reply);
    v1::PutSourcesRequest chunk;
    chunk.mutable_digest()->set_id(Id(digest.id));
    chunk.mutable_digest()->set_size(digest.size);
    for (size_t at = 0; at < content.size(); at += 1 << 19) {
      chunk.set_data(content.substr(at, 1 << 19));
      chunk.set_last(at + (1 << 19) == content.size());
      EXPECT_TRUE(upload->Write(chunk));
    }
    upload->WritesDone();
    ASSERT_TRUE(upload->Finish().ok());
  }
  grpc::ClientContext context;
  v1::GetBlobsRequest request;
  v1::Digest& asked = *request.add_digests();
  asked.set_id(Id(digest.id));
  asked.set_size(digest.size);
  const auto slow = v1::CacheService::NewStub(narrow)->GetBlobs(&context, request);
  ExpectDropped<v1::GetBlobsReply>(*slow, context);
}

TEST_F(SlowReader, Fetch_IsDropped) {
  const v1::StartBatchRequest programs = ManyPrograms();
  const std::string id = StartBatch(programs).batch_id();
  std::map<int, int> seen;
  ASSERT_EQ(Watch(id, seen).final().state(), v1::Batch::DONE);
  grpc::ClientContext context;
  v1::FetchRequest request;
  for (const v1::ProgramSpace& space : programs.spaces()) {
    *request.add_variants()->mutable_inline_program() = space.program();
  }
  const auto slow = v1::CompileService::NewStub(narrow)->Fetch(&context, request);
  ExpectDropped<v1::FetchReply>(*slow, context);
}

TEST_F(SlowReader, WatcherOfABatch_IsDroppedAndTheBatchIsNot) {
  const std::string id = StartBatch(ManyPrograms()).batch_id();
  std::map<int, int> seen;
  ASSERT_EQ(Watch(id, seen).final().state(), v1::Batch::DONE);
  grpc::ClientContext context;
  v1::WatchBatchRequest request;
  request.set_batch_id(id);
  const auto slow = v1::BatchService::NewStub(narrow)->WatchBatch(&context, request);
  ExpectDropped<v1::BatchEvent>(*slow, context);
}

TEST_F(SlowReader, Watch_IsDropped) {
  v1::WatchRequest request;
  v1::WatchRequest::Open& open = *request.mutable_open();
  open.set_project("slow");
  open.set_role(v1::WatchRequest::Open::BOTH);
  *open.mutable_spaces() = ManyPrograms().spaces();
  grpc::ClientContext context;
  const auto slow = v1::WatchService::NewStub(narrow)->Watch(&context);
  ASSERT_TRUE(slow->Write(request));
  ExpectDropped<v1::WatchEvent>(*slow, context);
}

}  // namespace
}  // namespace kiln::server
