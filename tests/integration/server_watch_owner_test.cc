// SPDX-License-Identifier: MIT
// Whose watch session it is: one workspace of one principal, whatever the project is called and
// whatever ids clients give themselves. See spec/daemon 8.1
#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <grpcpp/create_channel_posix.h>

#include "server/ops/tokens.h"
#include "server/test_watch.h"
#include "tests/support/certificates.h"

namespace kiln::server {
namespace {

class WatchOwner : public Watch {
 protected:
  static Open Both(const std::string& text, const std::string& workspace) {
    Open open = OpenBoth(text);
    open.set_workspace(workspace);
    return open;
  }
  static Open Reader(const std::string& workspace) {
    Open open = OpenSubscriber("engine");
    open.set_workspace(workspace);
    return open;
  }

  // The bytes that each event of `client` brings, up to the settled one.
  static std::set<std::string> BytesOf(const std::vector<v1::WatchEvent>& events) {
    std::set<std::string> bytes;
    for (const v1::WatchEvent& event : events) {
      if (event.has_artifact()) {
        bytes.insert(event.artifact().artifact().data());
      }
    }
    return bytes;
  }

  // Two clients that call their project, and themselves, the same: neither hears of the other.
  static void ExpectStrangers(Client& one, Client& two) {
    one.UntilSettled();
    const std::vector<v1::WatchEvent> opened = two.UntilSettled();
    EXPECT_EQ(BytesOf(opened).size(), 2u);
    one.Push(kBroken);
    one.UntilSettled();
    one.Push(SourceOf("color * 0.125"));
    one.UntilSettled();
    two.Push(kOther);
    const std::vector<v1::WatchEvent> events = two.UntilSettled();
    EXPECT_EQ(Count(events, v1::WatchEvent::kChanged), 1u) << "somebody else's";
    EXPECT_EQ(Count(events, v1::WatchEvent::kDiagnostics), 0u);
    EXPECT_EQ(events.back().settled().generation(), 2u);
    one.Push(kOther);
    EXPECT_EQ(BytesOf(one.UntilSettled()), BytesOf(events)) << "the same text, the same bytes";
  }

  // A channel over a connection that this user made: the kernel tells the daemon who it is.
  std::shared_ptr<grpc::Channel> ChannelOf(uid_t uid) const {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    daemon->socket().copy(address.sun_path, sizeof(address.sun_path) - 1);
    // Of this thread only, which no function of the C library does.
    EXPECT_EQ(syscall(SYS_setresuid, -1, uid, -1), 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(syscall(SYS_setresuid, -1, 0, -1), 0);
    return grpc::CreateInsecureChannelFromFd("localhost", fd);
  }
};

TEST_F(WatchOwner, TwoWorkspacesOfOneProject_NeverMeet) {
  Start();
  const auto one = Connect(Both(kGood, "worktree 1"));
  const auto two = Connect(Both(kGood, "worktree 2"));
  ExpectStrangers(*one, *two);
}

TEST_F(WatchOwner, EngineThatNamesTheWorkspace_IsServedAndNoOther) {
  Start();
  const auto source = Connect(Both(kGood, "worktree 1"));
  source->UntilSettled();
  EXPECT_EQ(Count(Connect(Reader("worktree 1"))->UntilSettled(), v1::WatchEvent::kArtifact), 2u);
  for (const char* const other : {"worktree 2", ""}) {
    const auto reader = Connect(Reader(other));
    const std::vector<v1::WatchEvent> events = reader->Until(v1::WatchEvent::kProblem);
    EXPECT_EQ(events.back().problem().code(), "NO_SOURCE_CLIENT") << other;
    EXPECT_EQ(events[0].opened().programs_size(), 0) << other;
    EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 0u) << other;
  }
}

TEST_F(WatchOwner, ClientsThatNameNoWorkspace_HaveSessionsOfTheirOwn) {
  Start();
  Open first = Both(kGood, "");
  Open second = first;
  second.set_session_id("artist 2");
  {
    const auto one = Connect(first);
    const auto two = Connect(second);
    ExpectStrangers(*one, *two);
  }
  first.clear_session_id();
  const auto one = Connect(first);
  const auto two = Connect(first);
  ExpectStrangers(*one, *two);
}

TEST_F(WatchOwner, ClientWithoutAWorkspace_ComesBackToItsSession) {
  Start();
  Open open = Both(kGood, "");
  uint64_t epoch = 0, seq = 0;
  {
    const auto client = Connect(open);
    epoch = client->UntilSettled()[0].opened().epoch();
    seq = client->last_seq;
  }
  open.mutable_resume()->set_epoch(epoch);
  open.mutable_resume()->set_seq(seq);
  const auto again = Connect(open);
  const std::optional<v1::WatchEvent> opened = again->Next();
  ASSERT_TRUE(opened.has_value());
  EXPECT_TRUE(opened->opened().resumed());
}

TEST_F(WatchOwner, LastGoodArtifacts_AreThoseOfTheWorkspace) {
  Start();
  { Connect(Both(kGood, "worktree 1"))->UntilSettled(); }
  for (const auto& [workspace, artifacts] :
       std::map<std::string, size_t>{{"worktree 1", 2}, {"worktree 2", 0}, {"", 0}}) {
    Stop();
    Start();
    const auto client = Connect(Both(kBroken, workspace));
    EXPECT_EQ(Count(client->UntilSettled(), v1::WatchEvent::kArtifact), artifacts) << workspace;
  }
}

TEST_F(WatchOwner, MistakesOfTheSourcesBefore_AreNotTold) {
  Start();
  {
    const auto client = Connect(OpenBoth(kGood));
    client->UntilSettled();
    client->Push(kBroken);
    client->UntilSettled();
  }
  const auto still = Connect(OpenBoth(kBroken, "another editor"));
  EXPECT_EQ(Count(still->UntilSettled(), v1::WatchEvent::kDiagnostics), 1u) << "it is so now";
  const auto client = Connect(OpenBoth(kGood, "a third one"));
  for (const v1::WatchEvent& event : client->UntilSettled()) {
    EXPECT_TRUE(!event.has_diagnostics() || event.diagnostics().cleared());
  }
}

TEST_F(WatchOwner, TwoNeighboursAndTheOwner_NeverMeet) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "needs root to become somebody else";
  }
  constexpr uid_t kAlice = 54'321, kBob = 54'322;
  ASSERT_EQ(chmod(folder.path().c_str(), 0711), 0);
  Daemon::Options options = OptionsIn(folder.path());
  options.config.allow_uids = {kAlice, kBob};
  StartWith(options);
  const Open open = Both(kGood, "here");
  {
    Client alice(ChannelOf(kAlice), open);
    Client bob(ChannelOf(kBob), open);
    ExpectStrangers(alice, bob);
  }
  Client alice(ChannelOf(kAlice), open);
  const auto owner = Connect(open);
  ExpectStrangers(alice, *owner);
}

// ---- Over TCP -----------------------------------------------------------------------------------

class WatchTenants : public WatchOwner {
 protected:
  WatchTenants() : authority_("kiln tests") {
    Write("ca.pem", authority_.cert());
    const CertificateFiles server = authority_.Sign("localhost");
    Write("server.pem", server.cert);
    Write("server.key", server.key);
  }

  // The text of a new token that may write.
  std::string NewToken(const std::string& tenant) {
    std::array<uint8_t, ops::kTokenRandomBytes> random{};
    random.fill(static_cast<uint8_t>(rows_.size() + 1));
    ops::NewToken made = ops::MakeToken(random);
    made.token.scope = ops::Scope::kWrite;
    made.token.tenant = tenant;
    rows_.push_back(made.token);
    EXPECT_TRUE(ops::WriteTokens(folder.path() + "/tokens.toml", rows_).ok());
    return made.text;
  }

  void StartTcp() {
    Daemon::Options options = OptionsIn(folder.path());
    options.config.tcp = "127.0.0.1:0";
    options.config.tls_cert = folder.path() + "/server.pem";
    options.config.tls_key = folder.path() + "/server.key";
    options.config.tls_client_ca = folder.path() + "/ca.pem";
    options.config.tokens = folder.path() + "/tokens.toml";
    options.config.allow_root = true;
    StartWith(options);
  }

  std::unique_ptr<Client> ConnectAs(const std::string& token, const Open& open) {
    const CertificateFiles mine = authority_.Sign("somebody");
    const std::string address = daemon->tcp();
    const auto over = grpc::CreateChannel(
        "localhost" + address.substr(address.rfind(':')),
        grpc::CompositeChannelCredentials(grpc::SslCredentials({.pem_root_certs = authority_.cert(),
                                                                .pem_private_key = mine.key,
                                                                .pem_cert_chain = mine.cert}),
                                          grpc::AccessTokenCredentials(token)));
    return std::make_unique<Client>(over, open);
  }

 private:
  Authority authority_;
  std::vector<ops::Token> rows_;
};

TEST_F(WatchTenants, OfOneProjectAndOneWorkspace_NeverMeet) {
  const std::string alice = NewToken("alice"), bob = NewToken("bob");
  const std::string nobody = NewToken(""), nobody_else = NewToken("");
  StartTcp();
  const Open open = Both(kGood, "here");
  for (const auto& [one, two] :
       {std::pair(alice, bob), std::pair(alice, nobody), std::pair(nobody, nobody_else)}) {
    const auto first = ConnectAs(one, open);
    const auto second = ConnectAs(two, open);
    ExpectStrangers(*first, *second);
  }
  const auto first = ConnectAs(alice, open);
  const auto owner = Connect(open);
  ExpectStrangers(*first, *owner);
}

TEST_F(WatchTenants, TokensOfOneTenant_ShareItsSessions) {
  const std::string desk = NewToken("alice"), console = NewToken("alice");
  StartTcp();
  const auto source = ConnectAs(desk, Both(kGood, "here"));
  source->UntilSettled();
  const auto engine = ConnectAs(console, Reader("here"));
  EXPECT_EQ(Count(engine->UntilSettled(), v1::WatchEvent::kArtifact), 2u);
}

}  // namespace
}  // namespace kiln::server
