// SPDX-License-Identifier: MIT
// Uploads that never end, that hold more than there is room for, and that are not what they say;
// and readers of blobs that do not read. See spec/daemon 2.7, 9.6, 10, 11.7
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "server/ops/machine.h"
#include "server/rpc/calls/source_upload.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;

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

void NameTo(const std::string& bytes, v1::Digest& out) {
  const Digest digest = DigestOf(std::string_view(bytes));
  out.set_id(Id(digest.id));
  out.set_size(digest.size);
}

class Upload : public ServerTest {
 protected:
  void SetUp() override {
    Begin([](Daemon::Options&) {});
  }
  void TearDown() override { Stop(); }

  void Begin(const std::function<void(Daemon::Options&)>& change) {
    Stop();
    Daemon::Options options = OptionsIn(folder.path());
    options.config.audit_log = folder.path() + "/audit.jsonl";
    change(options);
    StartWith(options, ahead);
    ASSERT_NE(daemon, nullptr);
  }

  // An upload of sources that is open.
  struct Sources {
    grpc::ClientContext context;
    v1::PutSourcesReply reply;
    std::unique_ptr<grpc::ClientWriter<v1::PutSourcesRequest>> writer;
  };
  std::unique_ptr<Sources> OpenSources() {
    auto open = std::make_unique<Sources>();
    open->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    open->writer = compile->PutSources(&open->context, &open->reply);
    return open;
  }

  // So much of a source of 4 MiB that is not complete.
  static bool Hold(Sources& open, uint64_t bytes) {
    v1::PutSourcesRequest message;
    message.mutable_digest()->set_id(std::string(16, 'd'));
    message.mutable_digest()->set_size(rpc::kMaxSourceFile);
    message.set_data(std::string(bytes, 'x'));
    return open.writer->Write(message);
  }

  v1::ServerStatus Status() {
    grpc::ClientContext context;
    v1::ServerStatus status;
    EXPECT_TRUE(admin->GetStatus(&context, v1::GetStatusRequest(), &status).ok());
    return status;
  }
  bool IsFull() {
    const v1::ServerStatus status = Status();
    for (const std::string& reason : status.reasons()) {
      if (reason.starts_with("uploads-full: ")) {
        return true;
      }
    }
    return false;
  }
  void WaitUntilFull(bool full) {
    while (IsFull() != full) {
      std::this_thread::yield();
    }
  }
  // Until so much of what was sent has come: the daemon says what uploads hold once it is full.
  void WaitUntilHeld(uint64_t bytes) {
    const std::string said = "uploads-full: uploads hold " + std::to_string(bytes) + " of ";
    const auto is_said = [&said](const std::string& reason) { return reason.starts_with(said); };
    for (bool held = false; !held;) {
      const v1::ServerStatus status = Status();
      held = std::any_of(status.reasons().begin(), status.reasons().end(), is_said);
    }
  }

  uint64_t LimitOf(const std::string& name) {
    grpc::ClientContext context;
    v1::ServerInfo info;
    EXPECT_TRUE(admin->GetServerInfo(&context, v1::GetServerInfoRequest(), &info).ok());
    for (const v1::ServerInfo::Limit& limit : info.limits()) {
      if (limit.name() == name) {
        return limit.value();
      }
    }
    ADD_FAILURE() << "no limit " << name;
    return 0;
  }

  // Lines of the audit log about uploads.
  std::vector<nlohmann::json> AuditedUploads() {
    Stop();  // every call has written its line
    std::vector<nlohmann::json> lines;
    std::ifstream file(folder.path() + "/audit.jsonl");
    for (std::string line; std::getline(file, line);) {
      nlohmann::json parsed = nlohmann::json::parse(line);
      if (parsed["event"] == "upload") {
        lines.push_back(std::move(parsed));
      }
    }
    return lines;
  }

  AheadClock ahead;
};

// ---- time ----

TEST_F(Upload, SilentFor_TheLimit_Ends) {
  const std::unique_ptr<Sources> open = OpenSources();
  ASSERT_TRUE(Hold(*open, 10));
  // Whenever the daemon hears of it, the clock goes on.
  auto finished = std::async(std::launch::async, [&] { return open->writer->Finish(); });
  while (finished.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    ahead.Advance(std::chrono::seconds(61));
  }
  const grpc::Status status = finished.get();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("idle upload"));
  EXPECT_EQ(DetailOf(open->context).reason(), "DEADLINE");
  EXPECT_EQ(LimitOf("idle upload"), 60'000U);
}

TEST_F(Upload, NotSilentButEndless_Ends) {
  EXPECT_EQ(LimitOf("upload time"), 15U * 60'000);
  Begin([](Daemon::Options& options) {
    options.config.limits.upload_time = std::chrono::minutes(10);
    options.config.limits.upload_idle = std::chrono::hours(24);  // never silent for so long
  });
  EXPECT_EQ(LimitOf("upload time"), 10U * 60'000);
  const std::unique_ptr<Sources> open = OpenSources();
  ASSERT_TRUE(Hold(*open, 10));
  auto finished = std::async(std::launch::async, [&] { return open->writer->Finish(); });
  while (finished.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    ahead.Advance(std::chrono::minutes(1));
  }
  const grpc::Status status = finished.get();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("upload time"));
  EXPECT_EQ(DetailOf(open->context).reason(), "DEADLINE");
}

TEST_F(Upload, BelowTheLimits_GoesOn) {
  const std::unique_ptr<Sources> open = OpenSources();
  const std::string text = "f1 x = 1.0;\n";
  v1::PutSourcesRequest message;
  NameTo(text, *message.mutable_digest());
  message.set_data(text.substr(0, 4));
  ASSERT_TRUE(open->writer->Write(message));
  ahead.Advance(std::chrono::seconds(30));
  message.set_data(text.substr(4));
  message.set_last(true);
  ASSERT_TRUE(open->writer->Write(message));
  open->writer->WritesDone();
  const grpc::Status status = open->writer->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(open->reply.stored(), 1U);
}

// ---- room ----

TEST_F(Upload, AllTogether_HoldWhatThereIsRoomForAndNoMore) {
  Begin([](Daemon::Options& options) { options.config.receiving_bytes = 16 * kMiB; });
  EXPECT_EQ(LimitOf("uploads held"), 8 * kMiB) << "half of limits.receiving";
  EXPECT_FALSE(IsFull());
  constexpr uint64_t kHalf = kMiB / 2;
  std::vector<std::unique_ptr<Sources>> open;
  for (int i = 0; i < 15; ++i) {  // 7.5 MiB and a little for each
    open.push_back(OpenSources());
    ASSERT_TRUE(Hold(*open.back(), kHalf));
  }
  // All of them: it is full without the last one already, whose room the next one would take.
  WaitUntilHeld(15 * (kHalf + rpc::kUploadOverhead));
  EXPECT_TRUE(IsFull());
  const std::unique_ptr<Sources> above = OpenSources();
  (void)Hold(*above, kHalf);
  const grpc::Status refused = above->writer->Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailOf(above->context).reason(), "BUFFERS_FULL");
  EXPECT_NE(DetailOf(above->context).retry_after_ms(), 0U);
  for (const std::unique_ptr<Sources>& upload : open) {
    upload->context.TryCancel();
    (void)upload->writer->Finish();
  }
  WaitUntilFull(false);
  const std::unique_ptr<Sources> after = OpenSources();
  ASSERT_TRUE(Hold(*after, kHalf));
  after->context.TryCancel();
  (void)after->writer->Finish();
}

// Each counts for something, or a stream of them would hold memory without end.
TEST_F(Upload, EmptyBlobs_Count) {
  Begin([](Daemon::Options& options) {
    options.config.receiving_bytes = 64 * kMiB;
    options.fault = [](std::string_view) {};
  });
  grpc::ClientContext context;
  v1::PutBlobsReply reply;
  const auto writer = cache->PutBlobs(&context, &reply);
  v1::PutBlobsRequest message;
  NameTo({}, *message.mutable_digest());
  message.set_last(true);
  constexpr int kBlobs = 100'000;  // 25 MiB: stored on the way, or the room would not do
  for (int i = 0; i < kBlobs; ++i) {
    ASSERT_TRUE(writer->Write(message));
  }
  writer->WritesDone();
  EXPECT_TRUE(writer->Finish().ok());
  EXPECT_EQ(reply.stored(), static_cast<uint64_t>(kBlobs));
}

// ---- what is not what it says ----

v1::PutBlobsRequest WrongBlob(int number) {
  v1::PutBlobsRequest message;
  NameTo("right " + std::to_string(number), *message.mutable_digest());
  message.set_data("wrong " + std::to_string(number));
  message.set_last(true);
  return message;
}

TEST_F(Upload, RejectedBlobs_AreAuditedOnceOfACall) {
  grpc::ClientContext context;
  v1::PutBlobsReply reply;
  const auto writer = cache->PutBlobs(&context, &reply);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(writer->Write(WrongBlob(i)));
  }
  writer->WritesDone();
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(reply.rejected_size(), 3);
  const std::vector<nlohmann::json> lines = AuditedUploads();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["method"], "PutBlobs");
  EXPECT_EQ(lines[0]["peer"], "unix");
  EXPECT_EQ(lines[0]["object"], DigestOf(std::string_view("right 0")).id.hex());
  EXPECT_EQ(lines[0]["result"], "DIGEST_MISMATCH");
  EXPECT_EQ(lines[0]["count"], 3);
}

TEST_F(Upload, RejectedSources_AreAudited) {
  const std::unique_ptr<Sources> open = OpenSources();
  v1::PutSourcesRequest message;
  NameTo("right", *message.mutable_digest());
  message.set_data("wrong");
  message.set_last(true);
  (void)open->writer->Write(message);
  EXPECT_EQ(open->writer->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const std::vector<nlohmann::json> lines = AuditedUploads();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["method"], "PutSources");
  EXPECT_EQ(lines[0]["object"], DigestOf(std::string_view("right")).id.hex());
}

TEST_F(Upload, RejectedRows_AreAudited) {
  v1::PutRowsRequest request;
  v1::CacheRow& row = *request.add_items();
  row.set_level(v1::CacheRow::SIGNATURE);
  row.set_key(std::string(16, 'k'));
  row.set_value("no record");
  grpc::ClientContext context;
  v1::PutRowsReply reply;
  ASSERT_TRUE(cache->PutRows(&context, request, &reply).ok());
  ASSERT_EQ(reply.refused_size(), 1);
  const std::vector<nlohmann::json> lines = AuditedUploads();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["method"], "PutRows");
  EXPECT_EQ(lines[0]["result"], "MALFORMED");
}

TEST_F(Upload, RightUploads_AreNotAudited) {
  grpc::ClientContext context;
  v1::PutBlobsReply reply;
  const auto writer = cache->PutBlobs(&context, &reply);
  v1::PutBlobsRequest message;
  NameTo("right", *message.mutable_digest());
  message.set_data("right");
  message.set_last(true);
  ASSERT_TRUE(writer->Write(message));
  writer->WritesDone();
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(AuditedUploads().empty());
}

TEST_F(Upload, RejectedBlobs_UpToTheLimitAndAbove) {
  EXPECT_EQ(LimitOf("rejected blobs"), 1'000U);
  constexpr uint64_t kMost = 10;
  Begin([](Daemon::Options& options) { options.config.limits.rejected_blobs = kMost; });
  EXPECT_EQ(LimitOf("rejected blobs"), kMost);
  for (const uint64_t count : {kMost, kMost + 1}) {
    grpc::ClientContext context;
    v1::PutBlobsReply reply;
    const auto writer = cache->PutBlobs(&context, &reply);
    for (uint64_t i = 0; i < count; ++i) {
      if (!writer->Write(WrongBlob(static_cast<int>(i)))) {
        break;
      }
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (count == kMost) {
      EXPECT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(static_cast<uint64_t>(reply.rejected_size()), count);
    } else {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
      EXPECT_EQ(DetailOf(context).limit(), "rejected blobs");
    }
  }
}

// ---- readers ----

TEST_F(Upload, BlobsNobodyReads_HoldPagesNotBlobs) {
  const std::string blob(40 * kMiB, 'b');
  v1::Digest name;
  NameTo(blob, name);
  {
    grpc::ClientContext context;
    v1::PutBlobsReply reply;
    const auto writer = cache->PutBlobs(&context, &reply);
    for (uint64_t offset = 0; offset < blob.size(); offset += kMiB / 2) {
      v1::PutBlobsRequest message;
      *message.mutable_digest() = name;
      message.set_offset(offset);
      message.set_data(blob.substr(offset, kMiB / 2));
      message.set_last(offset + kMiB / 2 == blob.size());
      ASSERT_TRUE(writer->Write(message));
    }
    writer->WritesDone();
    ASSERT_TRUE(writer->Finish().ok());
    ASSERT_EQ(reply.stored(), 1U);
  }
  grpc::ChannelArguments arguments;  // a client that takes nothing it is not asked for
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 14);
  const auto narrow = v1::CacheService::NewStub(grpc::CreateCustomChannel(
      "unix:" + daemon->socket(), grpc::InsecureChannelCredentials(), arguments));
  const uint64_t before = ops::ResidentBytes();
  constexpr int kReaders = 20;  // 800 MiB, if they held blobs
  struct Reader {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::GetBlobsReply>> stream;
  };
  std::vector<std::unique_ptr<Reader>> readers;
  v1::GetBlobsRequest request;
  *request.add_digests() = name;
  for (int i = 0; i < kReaders; ++i) {
    readers.push_back(std::make_unique<Reader>());
    readers.back()->stream = narrow->GetBlobs(&readers.back()->context, request);
    readers.back()->stream->WaitForInitialMetadata();  // its first page was made
  }
  // The blob once, in the memory of the store, and pages: four mebibytes a reader, and as many
  // again for what the transport and this test's own side hold.
  EXPECT_LT(ops::ResidentBytes(), before + (kReaders * 8 + 256 + 100) * kMiB);
  std::string got;
  v1::GetBlobsReply reply;
  while (readers[0]->stream->Read(&reply)) {
    EXPECT_EQ(reply.offset(), got.size());
    got += reply.data();
  }
  EXPECT_TRUE(readers[0]->stream->Finish().ok());
  EXPECT_TRUE(got == blob) << got.size();
  for (int i = 1; i < kReaders; ++i) {
    readers[static_cast<size_t>(i)]->context.TryCancel();
    (void)readers[static_cast<size_t>(i)]->stream->Finish();
  }
}

// A module of so many instructions that do nothing: a line each, where it is disassembled.
std::string LongModule(uint32_t lines) {
  std::vector<uint32_t> words = {0x07230203, 0x00010300, 0, 1, 0};
  words.insert(words.end(), lines, 0x00010000);  // OpNop
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t)};
}

// A view that is larger than what a stream may hold needs room beside the others.
TEST_F(Upload, LongViews_HoldWhatThereIsRoomForAndNoMore) {
  const std::string module = LongModule(450'000);
  for (const uint64_t room : {256 * kMiB, 4 * kMiB}) {
    Begin([&](Daemon::Options& options) { options.config.slow_reader_bytes = room; });
    EXPECT_EQ(LimitOf("held for slow readers"), room);
    EXPECT_EQ(LimitOf("stream buffer"), 4 * kMiB);
    v1::InspectRequest request;
    NameTo(module, *request.mutable_digest());
    request.add_views(v1::InspectRequest::DISASM);
    {
      grpc::ClientContext context;
      v1::PutBlobsReply reply;
      const auto writer = cache->PutBlobs(&context, &reply);
      for (uint64_t offset = 0; offset < module.size(); offset += kMiB / 2) {
        v1::PutBlobsRequest message;
        *message.mutable_digest() = request.digest();
        message.set_offset(offset);
        message.set_data(module.substr(offset, kMiB / 2));
        message.set_last(offset + kMiB / 2 >= module.size());
        ASSERT_TRUE(writer->Write(message));
      }
      writer->WritesDone();
      ASSERT_TRUE(writer->Finish().ok());
    }
    grpc::ClientContext context;
    const auto stream = compile->Inspect(&context, request);
    v1::InspectReply reply;
    uint64_t got = 0;
    while (stream->Read(&reply)) {
      got += reply.text().size();
    }
    const grpc::Status status = stream->Finish();
    if (room > 4 * kMiB) {
      EXPECT_TRUE(status.ok()) << status.error_message();
      EXPECT_GT(got, 4 * kMiB);
    } else {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
      EXPECT_EQ(DetailOf(context).reason(), "BUFFERS_FULL");
      EXPECT_NE(DetailOf(context).retry_after_ms(), 0U);
    }
  }
}

}  // namespace
}  // namespace kiln::server
