// SPDX-License-Identifier: MIT
// What one party does costs no other one: connections, calls without requests, pauses, lines of the
// audit log and the file of tokens, seen from outside. See spec/daemon 9.4, 10, 11
#include <atomic>
#include <cstdlib>
#include <functional>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <grpcpp/generic/generic_stub.h>

#include "compiler/base/files/file.h"
#include "proto/kiln/v1/watch.grpc.pb.h"
#include "server/ops/party_log.h"
#include "server/rpc/transport/waiting_calls.h"
#include "tests/integration/security_case.h"
#include "tests/support/call_empty.h"

namespace kiln::server {
namespace {

constexpr const char* kInfo = "/kiln.v1.AdminService/GetServerInfo";
constexpr const char* kReflection =
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

class Parties : public SecurityCase {
 protected:
  void StartTcp(const std::function<void(Config&)>& change) {
    Daemon::Options options = TcpOptions();
    change(options.config);
    StartWith(options);
  }

  // One that says nothing.
  int Connect() const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(Port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    return fd;
  }
  std::shared_ptr<grpc::Channel> TcpAs(const char* name) {
    return Over(authority.cert(), authority.Sign(name));
  }
  std::shared_ptr<grpc::Channel> Owner() const {
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel("unix:" + daemon->socket(), grpc::InsecureChannelCredentials(),
                                     own);
  }
  v1::ServerStatus Status(const std::shared_ptr<grpc::Channel>& of, const std::string& token) {
    grpc::ClientContext context;
    if (!token.empty()) {
      context.AddMetadata("authorization", "Bearer " + token);
    }
    v1::ServerStatus status;
    EXPECT_TRUE(
        v1::AdminService::NewStub(of)->GetStatus(&context, v1::GetStatusRequest(), &status).ok());
    return status;
  }
  std::string Unknown() const { return "kiln_0123456789abcdef_" + std::string(64, '0'); }

  // A program of this folder as another user.
  int CallAs(uid_t uid, const char* path) const {
    const std::string command = "setpriv --reuid " + std::to_string(uid) +
                                " --clear-groups --regid 54321 " KILN_BINARY_DIR
                                "/tests/call_empty unix:" +
                                daemon->socket() + " " + path;
    return WEXITSTATUS(std::system(command.c_str()));
  }
};

TEST_F(Parties, SilentConnectionsByTcp_LockOutNobody) {
  StartTcp([](Config& c) { c.max_connections = 64; });
  std::vector<int> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(Connect());
    if (i % 20 == 0) {
      EXPECT_TRUE(CallEmpty(Owner(), kInfo).ok()) << i;
      EXPECT_TRUE(CallEmpty(Tcp(), kInfo, tokens[0]).ok()) << i;
    }
  }
  for (const int fd : silent) {
    (void)close(fd);
  }
}

TEST_F(Parties, ConnectionWithoutATokenInTime_IsClosed) {
  StartTcp([](Config& c) { c.limits.first_call = std::chrono::seconds(3); });
  const auto late = std::chrono::system_clock::now() + kTestPatience;
  const auto stranger = Tcp(), client = Tcp();
  EXPECT_TRUE(CallEmpty(client, kInfo, tokens[0]).ok());
  EXPECT_EQ(CallEmpty(stranger, kInfo).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(stranger->WaitForStateChange(GRPC_CHANNEL_READY, late));
  EXPECT_EQ(client->GetState(false), GRPC_CHANNEL_READY);
  EXPECT_TRUE(CallEmpty(stranger, "/grpc.health.v1.Health/Check").ok());
  EXPECT_TRUE(stranger->WaitForStateChange(GRPC_CHANNEL_READY, late));
  EXPECT_EQ(client->GetState(false), GRPC_CHANNEL_READY);
  EXPECT_TRUE(CallEmpty(client, kInfo, tokens[0]).ok());
}

// Calls of unary methods whose requests never come: gRPC tells nobody of them.
TEST_F(Parties, CallsThatSendHeadersOnly_AreBounded) {
  StartTcp([](Config&) {});
  constexpr size_t kChannels = 4, kCallsEach = 90;
  static_assert(kChannels * kCallsEach > rpc::WaitingCalls::kMost);
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream;
    grpc::Status status;
  };
  grpc::CompletionQueue queue;
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  std::vector<std::unique_ptr<Call>> calls;
  for (size_t i = 0; i < kChannels; ++i) {
    channels.push_back(Tcp());
    ASSERT_TRUE(CallEmpty(channels.back(), kInfo, tokens[0]).ok());
    grpc::GenericStub stub(channels.back());
    for (size_t n = 0; n < kCallsEach; ++n) {
      calls.push_back(std::make_unique<Call>());
      Call& call = *calls.back();
      call.context.AddMetadata("authorization", "Bearer " + tokens[0]);
      call.stream = stub.PrepareCall(&call.context, kInfo, &queue);
      call.stream->StartCall(nullptr);
      call.stream->Finish(&call.status, &call);
    }
  }
  size_t ended = 0;
  const auto end = std::chrono::system_clock::now() + std::chrono::seconds(60);
  while (ended < rpc::WaitingCalls::kMost) {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_EQ(queue.AsyncNext(&tag, &ok, end), grpc::CompletionQueue::GOT_EVENT) << ended;
    ended += tag != nullptr ? 1 : 0;
  }
  EXPECT_TRUE(CallEmpty(TcpAs("another"), kInfo, tokens[1]).ok());
  EXPECT_TRUE(CallEmpty(Owner(), kInfo).ok());
  for (const auto& call : calls) {
    call->context.TryCancel();
  }
  queue.Shutdown();
  void* tag = nullptr;
  for (bool ok = false; queue.Next(&tag, &ok);) {
  }
}

// Each message that is read explains what was sent until then.
TEST_F(Parties, LongUploadByTcp_IsNoFlood) {
  constexpr uint64_t kChunk = uint64_t{1} << 19;
  StartTcp([](Config& c) { c.limits.request_message = 1 << 20; });
  const std::string blob(48 * kChunk, 'b');  // three times what may stay unexplained
  const Digest digest = DigestOf(std::string_view(blob));
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer " + tokens[1]);
  v1::PutBlobsReply reply;
  const auto writer = v1::CacheService::NewStub(Tcp())->PutBlobs(&context, &reply);
  for (uint64_t offset = 0; offset < blob.size(); offset += kChunk) {
    v1::PutBlobsRequest message;
    message.mutable_digest()->set_id(Id(digest.id));
    message.mutable_digest()->set_size(digest.size);
    message.set_offset(offset);
    message.set_data(blob.substr(offset, kChunk));
    message.set_last(offset + kChunk == blob.size());
    ASSERT_TRUE(writer->Write(message)) << offset;
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.stored(), 1u);
}

TEST_F(Parties, WatchWithoutAFirstMessage_EndsInTime) {
  FakeClock fake;
  StartWith(OptionsIn(folder.path()), fake);
  const auto stub = v1::WatchService::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  const auto stream = stub->Watch(&context);
  grpc::Status status;
  std::atomic<bool> ended = false;
  std::thread waits([&] {
    status = stream->Finish();
    ended = true;
  });
  while (!ended) {  // the call may begin at any time
    fake.Advance(std::chrono::seconds(61));
    (void)Status(channel, "");
  }
  waits.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(status.error_message(), "idle upload: more than 60000 ms");
  daemon.reset();
}

// Sessions that stay open, of two clients that want all there are, and then of the owner.
TEST_F(Parties, WatchSessions_AreSharedAndTheOwnerHasAQuarter) {
  StartTcp([](Config& c) { c.limits.watch_sessions = 16; });
  struct Session {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::WatchRequest, v1::WatchEvent>> stream;
  };
  std::vector<std::unique_ptr<Session>> open;
  const auto fill = [&](const std::shared_ptr<grpc::Channel>& over, const std::string& token) {
    const auto stub = v1::WatchService::NewStub(over);
    for (size_t taken = 0;; ++taken) {
      auto session = std::make_unique<Session>();
      session->context.AddMetadata("authorization", "Bearer " + token);
      session->stream = stub->Watch(&session->context);
      v1::WatchRequest request;
      request.mutable_open()->set_project("mist");
      request.mutable_open()->set_role(v1::WatchRequest::Open::SUBSCRIBER);
      v1::WatchEvent event;
      if (!session->stream->Write(request) || !session->stream->Read(&event)) {
        EXPECT_EQ(session->stream->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
        return taken;
      }
      open.push_back(std::move(session));
    }
  };
  EXPECT_EQ(fill(Tcp(), tokens[1]), 8u);
  EXPECT_EQ(fill(Tcp(), tokens[2]), 4u);
  EXPECT_EQ(fill(Owner(), ""), 4u);
  for (const auto& session : open) {
    session->context.TryCancel();
    (void)session->stream->Finish();
  }
}

TEST_F(Parties, TenFailures_PauseWhoFailedAndNobodyElse) {
  StartTcp([](Config&) {});
  const auto careless = Tcp(), neighbour = TcpAs("neighbour");  // of one address
  std::string guess = tokens[2];
  guess.back() = guess.back() == '0' ? '1' : '0';
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(CallEmpty(careless, kInfo, "kiln_guess").ok());
    EXPECT_FALSE(CallEmpty(careless, kInfo, guess).ok());
  }
  for (const char* path : {kInfo, kReflection}) {
    const grpc::Status status = CallEmpty(careless, path, tokens[2]);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_NE(status.error_message().find("wait for 60 s"), std::string::npos);
    EXPECT_TRUE(CallEmpty(neighbour, path, tokens[2]).ok()) << path;
  }
  EXPECT_TRUE(CallEmpty(careless, kInfo, tokens[0]).ok());  // another token
  EXPECT_TRUE(CallEmpty(channel, kInfo).ok());
}

TEST_F(Parties, ExpiredTokenAndReflection_PauseThemselvesOnly) {
  StartTcp([](Config&) {});
  const auto careless = Tcp(), other = TcpAs("other");
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(CallEmpty(careless, kInfo, tokens[3]).ok());
    EXPECT_FALSE(CallEmpty(careless, kReflection, Unknown()).ok());
  }
  EXPECT_TRUE(CallEmpty(careless, kInfo, tokens[0]).ok());
  EXPECT_TRUE(CallEmpty(careless, kReflection, tokens[2]).ok());
  EXPECT_TRUE(CallEmpty(other, kReflection, tokens[2]).ok());
}

TEST_F(Parties, BrokenTokens_KeepTheOldOnesAndAreTheOwnersSecret) {
  StartTcp([](Config&) {});
  const auto tcp = Tcp();
  const std::string good = ReadFile(folder.path() + "/tokens.toml").value();
  Write("tokens.toml", "[[token]");
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(CallEmpty(tcp, kInfo, tokens[0]).ok());
    EXPECT_EQ(CallEmpty(tcp, kInfo, Unknown()).error_message(), "this token is not known");
  }
  const v1::ServerStatus to_owner = Status(channel, "");
  EXPECT_EQ(to_owner.health(), v1::ServerStatus::DEGRADED);
  EXPECT_NE(to_owner.DebugString().find("tokens-unreadable"), std::string::npos);
  EXPECT_NE(to_owner.DebugString().find("tokens.toml:1"), std::string::npos)
      << to_owner.DebugString();
  EXPECT_EQ(Status(tcp, tokens[0]).DebugString().find("tokens.toml"), std::string::npos);
  Write("tokens.toml", good);
  EXPECT_TRUE(CallEmpty(tcp, kInfo, tokens[1]).ok());
  EXPECT_EQ(Status(channel, "").health(), v1::ServerStatus::SERVING);
}

TEST_F(Parties, FilesOfTheDaemon_AreToldToTheOwnerOnly) {
  StartTcp([](Config& c) { c.file = "/etc/kiln/kilnd.toml"; });
  const auto ask = [](const std::shared_ptr<grpc::Channel>& of, const std::string& token) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    v1::ServerInfo info;
    EXPECT_TRUE(v1::AdminService::NewStub(of)
                    ->GetServerInfo(&context, v1::GetServerInfoRequest(), &info)
                    .ok());
    return info;
  };
  EXPECT_EQ(ask(channel, "").tokens_file(), folder.path() + "/tokens.toml");
  EXPECT_EQ(ask(channel, "").config_file(), "/etc/kiln/kilnd.toml");
  EXPECT_EQ(ask(Tcp(), tokens[2]).tokens_file(), "");
  EXPECT_EQ(ask(Tcp(), tokens[2]).config_file(), "");
  EXPECT_EQ(ask(channel, "").transports(0), "unix:" + daemon->socket());
  EXPECT_EQ(ask(Tcp(), tokens[2]).DebugString().find(folder.path()), std::string::npos);
  const auto stats = [](const std::shared_ptr<grpc::Channel>& of, const std::string& token) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    v1::CacheStats told;
    EXPECT_TRUE(v1::AdminService::NewStub(of)
                    ->GetCacheStats(&context, v1::GetCacheStatsRequest(), &told)
                    .ok());
    return told;
  };
  EXPECT_EQ(stats(channel, "").path(), folder.path() + "/cache/cache.db");
  for (const size_t token : {0, 1, 2}) {  // the last one has expired
    EXPECT_EQ(stats(Tcp(), tokens[token]).path(), "cache.db");
  }
}

// Calls that are refused and calls that fail, of somebody without a token, of one who may read and
// of one who may write, while time stands still. Nobody's lines fill the log, and who changes
// nothing writes nothing into the history of changes.
TEST_F(Parties, CallsThatChangeNothing_FillNeitherTheLogNorTheAuditLog) {
  constexpr int kCalls = 300;
  constexpr int kOfStrangers = 90;  // more of them cost their connection
  FakeClock fake;
  std::FILE* const stream = std::tmpfile();
  std::string text;
  {
    ops::LineLog told(stream, ops::LogFormat::kText, LogLevel::kInfo, fake);
    auto started = Daemon::Start(TcpOptions(), fake, told, failure);
    ASSERT_TRUE(started.ok()) << failure.component << ": " << failure.what;
    daemon = std::move(started).value();
    constexpr const char* kKill = "/kiln.v1.AdminService/KillJob";
    EXPECT_FALSE(CallEmpty(Owner(), kKill).ok());
    const auto tcp = Tcp();
    for (int i = 0; i < kCalls; ++i) {
      EXPECT_FALSE(i < kOfStrangers && CallEmpty(tcp, kKill).ok());
      EXPECT_EQ(CallEmpty(tcp, kKill, tokens[0]).error_code(), grpc::StatusCode::PERMISSION_DENIED);
      EXPECT_EQ(CallEmpty(tcp, kKill, tokens[1]).error_code(), grpc::StatusCode::PERMISSION_DENIED);
      EXPECT_EQ(CallEmpty(tcp, "/kiln.v1.BatchService/GetBatch", tokens[0]).error_code(),
                grpc::StatusCode::INVALID_ARGUMENT);
    }
    daemon.reset();
  }
  std::rewind(stream);
  for (int c = std::fgetc(stream); c != EOF; c = std::fgetc(stream)) {
    text += static_cast<char>(c);
  }
  (void)std::fclose(stream);
  const auto count = [](const std::string& in, const std::string& part) {
    size_t found = 0;
    for (size_t at = in.find(part); at != std::string::npos; at = in.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count(text, "rpc: call method=KillJob"), 4u);  // of each party one
  EXPECT_EQ(count(text, "rpc: call method=GetBatch"), size_t{ops::PartyLog::kCalls.party.at_once});
  EXPECT_EQ(count(text, "were held back"), 4u);
  EXPECT_EQ(count(text, "held_back=299"), 2u) << text;
  EXPECT_EQ(count(text, "held_back=89"), 1u);
  EXPECT_EQ(count(text, "held_back=200"), 1u);
  const std::string acts = AuditText(1);
  EXPECT_EQ(count(acts, "\n"), 1u) << acts;  // of the owner
  const std::string refused = AuditText(6, "audit.refused.jsonl");
  EXPECT_EQ(count(refused, "\"method\":\"KillJob\""), 3u) << refused;
  EXPECT_EQ(count(refused, "\"result\":\"PERMISSION_DENIED\""), 2u);
  EXPECT_EQ(count(refused, "\"held_back\":299"), 2u);  // a pause is not told
}

// The kernel tells the uid, so other processes are needed for other ones.
TEST_F(Parties, OtherUsers_AreToldApartAndRefusedOnesWriteOneLine) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "needs root to become somebody else";
  }
  constexpr uid_t kNeighbour = 54'321, kOther = 54'322, kStranger = 54'323;
  chmod(folder.path().c_str(), 0711);
  StartTcp([](Config& c) { c.allow_uids = {kNeighbour, kOther, kNeighbour}; });
  constexpr const char* kKill = "/kiln.v1.AdminService/KillJob";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(CallAs(kStranger, kInfo), grpc::StatusCode::UNAVAILABLE);
  }
  EXPECT_EQ(CallAs(kNeighbour, kKill), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(CallAs(kOther, kKill), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(CallAs(kOther, kReflection), grpc::StatusCode::PERMISSION_DENIED);
  const std::string acts = AuditText(0), refused = AuditText(3, "audit.refused.jsonl");
  EXPECT_NE(refused.find("\"peer\":\"unix:uid=54321\",\"method\":\"KillJob\""), std::string::npos)
      << refused;
  EXPECT_NE(refused.find("\"peer\":\"unix:uid=54322\",\"method\":\"KillJob\""), std::string::npos);
  EXPECT_NE(refused.find("unix:uid=54323"), std::string::npos);
  EXPECT_EQ(std::count(refused.begin(), refused.end(), '\n'), 3) << refused;
  EXPECT_EQ(acts, "");
}

}  // namespace
}  // namespace kiln::server
