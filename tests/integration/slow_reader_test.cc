// SPDX-License-Identifier: MIT
// Clients that ask for streams and do not read them, seen by a daemon whose clock is put forward.
// See spec/daemon 9.6
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

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

// A unary call of a client that speaks HTTP/2 itself and opens no window for the reply: of that
// only the headers come.
class UnreadCall {
 public:
  enum Kind : uint8_t { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4 };
  struct Frame {
    Kind kind;
    uint8_t flags;
    uint32_t stream;
    std::string payload;
  };
  static constexpr uint8_t kEndStream = 1, kEndHeaders = 4;

  UnreadCall(const std::string& socket_path, std::string_view method, const std::string& message)
      : socket_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, socket_path.data(), socket_path.size());
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    std::string headers;
    for (const auto& [name, value] : std::vector<std::pair<std::string_view, std::string_view>>{
             {":method", "POST"},
             {":scheme", "http"},
             {":path", method},
             {":authority", "x"},
             {"content-type", "application/grpc"},
             {"te", "trailers"}}) {
      headers += std::string(1, '\0') + Text(name) + Text(value);
    }
    const std::string no_window("\0\4\0\0\0\0", 6);  // of new streams: SETTINGS 4
    Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Bytes({.kind = kSettings, .payload = no_window}) +
         Bytes({.kind = kHeaders, .flags = kEndHeaders, .stream = 1, .payload = headers}));
    std::string data = '\0' + BigEndian(message.size(), 4) + message;
    EXPECT_LE(data.size(), 65'535u) << "the window that every stream begins with";
    for (; !data.empty(); data.erase(0, kLargest)) {
      const bool last = data.size() <= kLargest;
      Send(Bytes({.kind = kData,
                  .flags = last ? kEndStream : uint8_t{0},
                  .stream = 1,
                  .payload = data.substr(0, kLargest)}));
    }
  }
  ~UnreadCall() { (void)close(socket_); }
  UnreadCall(const UnreadCall&) = delete;
  UnreadCall& operator=(const UnreadCall&) = delete;

  // The next frame of that kind that the call gets; its kind is another one if there is none.
  Frame Next(Kind kind) {
    Frame frame = Read();
    while (frame.stream != 0 && frame.kind != kind) {
      frame = Read();
    }
    return frame;
  }

 private:
  static constexpr size_t kLargest = 16'384;

  static std::string BigEndian(size_t number, int bytes) {
    std::string text;
    for (int i = bytes; i-- > 0;) {
      text += static_cast<char>(number >> (8 * i) & 0xff);
    }
    return text;
  }
  static std::string Text(std::string_view text) {  // shorter than 127
    return static_cast<char>(text.size()) + std::string(text);
  }
  static std::string Bytes(const Frame& frame) {
    return BigEndian(frame.payload.size(), 3) + static_cast<char>(frame.kind) +
           static_cast<char>(frame.flags) + BigEndian(frame.stream, 4) + frame.payload;
  }
  void Send(const std::string& bytes) const {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t now = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      ASSERT_GT(now, 0);
      sent += static_cast<size_t>(now);
    }
  }
  std::string Receive(size_t bytes) const {
    std::string text(bytes, '\0');
    const ssize_t got = bytes == 0 ? 0 : recv(socket_, text.data(), bytes, MSG_WAITALL);
    text.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return text;
  }
  // Of the call; those of the connection are passed over. Stream 0: the connection is closed.
  Frame Read() const {
    for (;;) {
      const std::string head = Receive(9);
      if (head.size() < 9) {
        return {.kind = kSettings, .stream = 0};
      }
      const auto number = [&](size_t at, size_t bytes) {
        uint32_t value = 0;
        for (size_t i = 0; i < bytes; ++i) {
          value = value << 8 | static_cast<uint8_t>(head[at + i]);
        }
        return value;
      };
      Frame frame{.kind = static_cast<Kind>(number(3, 1)),
                  .flags = static_cast<uint8_t>(number(4, 1)),
                  .stream = number(5, 4),
                  .payload = Receive(number(0, 3))};
      if (frame.stream != 0) {
        return frame;
      }
    }
  }

  const int socket_;
};

constexpr const char* kCompile = "/kiln.v1.CompileService/Compile";

// A request of 50 KB, which a call holds until its reply is taken.
std::string LongRequest() {
  return RequestOf(GoodSource() + "\n// " + std::string(50'000, 'x') + "\n").SerializeAsString();
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

TEST_F(SlowReader, UnaryReply_IsDropped) {
  UnreadCall call(daemon->socket(), kCompile, LongRequest());
  const UnreadCall::Frame begins = call.Next(UnreadCall::kHeaders);
  EXPECT_EQ(begins.kind, UnreadCall::kHeaders);
  EXPECT_EQ(begins.flags & UnreadCall::kEndStream, 0) << begins.payload;
  NobodyReadsForAMinute();
  EXPECT_EQ(call.Next(UnreadCall::kReset).kind, UnreadCall::kReset);
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);
}

TEST_F(SlowReader, UnaryRepliesOfMany_HoldWhatThereIsRoomForAndNoMore) {
  daemon.reset();
  Daemon::Options options = OptionsIn(folder.path());
  options.config.slow_reader_bytes = uint64_t{150} << 10;
  StartWith(options, ahead);
  {
    std::vector<std::unique_ptr<UnreadCall>> calls;
    const auto is_held = [&] {
      calls.push_back(std::make_unique<UnreadCall>(daemon->socket(), kCompile, LongRequest()));
      const UnreadCall::Frame frame = calls.back()->Next(UnreadCall::kHeaders);
      EXPECT_EQ(frame.kind, UnreadCall::kHeaders);
      const bool over = (frame.flags & UnreadCall::kEndStream) != 0;
      EXPECT_EQ(over, frame.payload.find("grpc-status\0018") != std::string::npos) << frame.payload;
      return !over;
    };
    EXPECT_TRUE(is_held());
    EXPECT_TRUE(is_held());
    EXPECT_FALSE(is_held());
    EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK) << "short replies";
  }
  v1::CompileRequest request;
  ASSERT_TRUE(request.ParseFromString(LongRequest()));
  EXPECT_TRUE(WaitUntil([&] {  // once the connections are gone
    grpc::ClientContext context;
    v1::CompileReply reply;
    return compile->Compile(&context, request, &reply).ok();
  }));
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
