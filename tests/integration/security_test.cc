// SPDX-License-Identifier: MIT
// Who may do what, seen from outside: real TLS, real tokens, every method of proto/ on both
// transports, and rubbish on the port. See spec/daemon 11
#include <fstream>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <google/protobuf/descriptor.h>

#include "compiler/base/files/user_folders.h"
#include "proto/kiln/v1/watch.grpc.pb.h"
#include "server/rpc/transport/method_table.h"
#include "tests/integration/security_case.h"
#include "tests/support/call_empty.h"

namespace kiln::server {
namespace {

constexpr std::array<const char*, 6> kServices = {"CompileService", "BatchService", "WatchService",
                                                  "PackService",    "CacheService", "AdminService"};

const google::protobuf::ServiceDescriptor* ServiceNamed(const std::string& name) {
  // Naming a message keeps the linker from dropping its file.
  (void)v1::WatchRequest::descriptor();
  return google::protobuf::DescriptorPool::generated_pool()->FindServiceByName("kiln.v1." + name);
}

using Security = SecurityCase;

constexpr const char* kInfo = "/kiln.v1.AdminService/GetServerInfo";

TEST(MethodTable, EveryMethodOfTheProtos_HasOneRow) {
  std::set<std::pair<std::string, std::string>> declared, rows;
  for (const char* name : kServices) {
    const auto* service = ServiceNamed(name);
    ASSERT_NE(service, nullptr) << name;
    for (int i = 0; i < service->method_count(); ++i) {
      declared.emplace(name, service->method(i)->name());
    }
  }
  std::set<std::string_view> names;
  for (const rpc::MethodRow& row : rpc::kMethods) {
    rows.emplace(row.service, row.method);
    EXPECT_TRUE(names.insert(row.method).second) << row.method << " is in two services";
  }
  EXPECT_EQ(rows, declared);
}

// Every method, every scope, both transports. Shutdown and Drain only set a flag here.
TEST_F(Security, EveryMethodAndScope_AreAsTheTableSays) {
  StartTcp();
  const auto tcp = Tcp();
  for (const rpc::MethodRow& row : rpc::kMethods) {
    const std::string path = "/kiln.v1." + std::string(row.service) + "/" + std::string(row.method);
    for (const auto& [scope, token] :
         {std::pair(ops::Scope::kRead, tokens[0]), std::pair(ops::Scope::kWrite, tokens[1]),
          std::pair(ops::Scope::kPeer, tokens[4]), std::pair(ops::Scope::kAdmin, tokens[2])}) {
      const grpc::Status status = CallEmpty(tcp, path, token);
      if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
        continue;  // nobody answers it: there is nothing to guard
      }
      const bool enough = row.scope <= scope;
      EXPECT_EQ(status.error_code() != grpc::StatusCode::PERMISSION_DENIED, enough)
          << path << " with scope " << ops::ScopeName(scope) << ": " << status.error_message();
      EXPECT_NE(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << path;
    }
    EXPECT_NE(CallEmpty(channel, path).error_code(), grpc::StatusCode::PERMISSION_DENIED) << path;
  }
}

TEST_F(Security, WrongTokens_AreUnauthenticatedOnEveryMethod) {
  StartTcp();
  std::string wrong = tokens[2];
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  const std::string bad[] = {"", "x", wrong, tokens[3]};
  const auto tcp = Tcp();
  for (const std::string& token : bad) {
    const grpc::Status status = CallEmpty(tcp, kInfo, token);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << token;
    EXPECT_EQ(
        status.error_message().find(token.substr(0, 30)) != std::string::npos && token.size() > 30,
        false);
  }
  EXPECT_TRUE(CallEmpty(tcp, kInfo, tokens[0]).ok());
}

TEST_F(Security, Denial_HasADetailThatNamesTheScope) {
  StartTcp();
  const auto stub = v1::AdminService::NewStub(Tcp());
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer " + tokens[0]);
  v1::KillJobReply reply;
  const grpc::Status status = stub->KillJob(&context, v1::KillJobRequest(), &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(DetailOf(context).reason(), "SCOPE");
  EXPECT_EQ(DetailOf(context).field(), "admin");
  grpc::ClientContext nobody;
  EXPECT_EQ(stub->KillJob(&nobody, v1::KillJobRequest(), &reply).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(DetailOf(nobody).reason(), "NO_TOKEN");
}

TEST_F(Security, Certificates_AreAskedOfBothSides) {
  StartTcp();
  EXPECT_TRUE(CallEmpty(Tcp(), kInfo, tokens[0]).ok());
  EXPECT_FALSE(CallEmpty(Over(authority.cert(), {}), kInfo, tokens[0]).ok());  // none
  Authority other("somebody else");
  EXPECT_FALSE(CallEmpty(Over(authority.cert(), other.Sign("builder")), kInfo, tokens[0]).ok());
  EXPECT_FALSE(
      CallEmpty(Over(authority.cert(), authority.Sign("late", -60)), kInfo, tokens[0]).ok());
  EXPECT_FALSE(CallEmpty(Over(other.cert(), client_files), kInfo, tokens[0]).ok());
  const auto plain = grpc::CreateChannel("localhost:" + std::to_string(Port()),
                                         grpc::InsecureChannelCredentials());
  EXPECT_FALSE(CallEmpty(plain, kInfo, tokens[0]).ok());
}

TEST_F(Security, Health_NeedsNoTokenAndReflectionNeedsAdmin) {
  StartTcp();
  const auto tcp = Tcp();
  EXPECT_TRUE(CallEmpty(tcp, "/grpc.health.v1.Health/Check").ok());
  constexpr const char* kReflection =
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  EXPECT_TRUE(CallEmpty(channel, kReflection).ok());
  EXPECT_TRUE(CallEmpty(tcp, kReflection, tokens[2]).ok());
  EXPECT_EQ(CallEmpty(tcp, kReflection, tokens[1]).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(CallEmpty(tcp, kReflection).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(Security, AuditLog_HasWhatChangesAndWhoDidIt) {
  StartTcp();
  const auto tcp = Tcp();
  EXPECT_TRUE(CallEmpty(tcp, kInfo, tokens[1]).ok());
  (void)CallEmpty(tcp, "/kiln.v1.AdminService/ClearNegative", tokens[1]);
  (void)CallEmpty(tcp, "/kiln.v1.AdminService/Drain", tokens[1]);
  (void)CallEmpty(channel, "/kiln.v1.AdminService/KillJob");
  (void)CallEmpty(channel, "/kiln.v1.AdminService/ListPins");
  (void)CallEmpty(tcp, kInfo, "kiln_guess");
  const std::string text = AuditText(2), refused = AuditText(2, "audit.refused.jsonl");
  const auto count = [text = text + refused](const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("\"method\":\"GetServerInfo\""), 1u) << text;  // the refused one
  EXPECT_EQ(count("\"event\":\"authentication\""), 1u);
  EXPECT_NE(refused.find("\"event\":\"authentication\""), std::string::npos);
  EXPECT_EQ(count("\"method\":\"ClearNegative\""), 1u);
  EXPECT_NE(refused.find("\"method\":\"Drain\",\"result\":\"PERMISSION_DENIED\""),
            std::string::npos)
      << refused;
  EXPECT_EQ(count("\"peer\":\"unix\",\"method\":\"KillJob\""), 1u);
  EXPECT_EQ(count("ListPins"), 0u);
  EXPECT_EQ(count("\"token\":\"" + rows[1].id + "\""), 2u);
  EXPECT_GE(count("builder"), 3u) << text;  // subject of the certificate
  for (const std::string& token : tokens) {
    EXPECT_EQ((text + refused).find(token.substr(22)), std::string::npos);
  }
}

TEST_F(Security, RevokedToken_IsRefusedWithoutRestart) {
  StartTcp();
  const auto tcp = Tcp();
  EXPECT_TRUE(CallEmpty(tcp, kInfo, tokens[0]).ok());
  rows.erase(rows.begin());
  ASSERT_TRUE(ops::WriteTokens(folder.path() + "/tokens.toml", rows).ok());
  EXPECT_EQ(CallEmpty(tcp, kInfo, tokens[0]).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

// What is open does not outlive the token: the next step of it is refused.
TEST_F(Security, RevokedToken_EndsWhatIsOpen) {
  using Code = grpc::StatusCode;
  StartTcp();
  const auto tcp = Tcp();
  for (const bool revoked : {false, true}) {
    grpc::ClientContext watching, sending;
    for (grpc::ClientContext* context : {&watching, &sending}) {
      context->AddMetadata("authorization", "Bearer " + tokens[1]);
    }
    const auto watch = v1::WatchService::NewStub(tcp)->Watch(&watching);
    v1::WatchRequest open;
    open.mutable_open()->set_project("revoked");
    open.mutable_open()->set_role(v1::WatchRequest::Open::SUBSCRIBER);
    ASSERT_TRUE(watch->Write(open));
    v1::PutSourcesReply put;
    const auto upload = v1::CompileService::NewStub(tcp)->PutSources(&sending, &put);
    const std::string text = "instance cheap: flag false;";
    v1::PutSourcesRequest chunk;
    chunk.mutable_digest()->set_id(Id(DigestOf(std::string_view(text)).id));
    chunk.mutable_digest()->set_size(text.size());
    chunk.set_data(text);
    chunk.set_last(true);
    ASSERT_TRUE(upload->Write(chunk));
    v1::WatchEvent event;
    ASSERT_TRUE(watch->Read(&event)) << "it is open";
    if (revoked) {
      rows.erase(rows.begin() + 1);
      ASSERT_TRUE(ops::WriteTokens(folder.path() + "/tokens.toml", rows).ok());
    }
    v1::WatchRequest more;
    (void)more.mutable_interest();
    (void)watch->Write(more);
    (void)watch->WritesDone();
    if (!revoked) {
      watching.TryCancel();  // a subscriber has no end of its own
    }
    while (watch->Read(&event)) {
    }
    EXPECT_EQ(watch->Finish().error_code(), revoked ? Code::UNAUTHENTICATED : Code::CANCELLED);
    (void)upload->WritesDone();
    EXPECT_EQ(upload->Finish().error_code(), revoked ? Code::UNAUTHENTICATED : Code::OK);
  }
}

TEST_F(Security, RubbishOnThePort_HarmsNobody) {
  StartTcp();
  const auto tcp = Tcp();
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(Port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    std::string bytes(random() % 2000, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random());
    }
    const std::string heads[] = {"", "GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                 std::string("\x16\x03\x01\xff\xff", 5)};
    const std::string text = heads[round % 4] + bytes;
    (void)send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    (void)close(fd);
  }
  EXPECT_TRUE(CallEmpty(tcp, kInfo, tokens[0]).ok());
  EXPECT_TRUE(CallEmpty(Tcp(), kInfo, tokens[0]).ok());
  EXPECT_TRUE(CallEmpty(channel, kInfo).ok());
}

TEST_F(Security, StartsThatCannotBeSafe_AreRefusedWithTheCause) {
  struct Row {
    const char* name;
    std::function<void(Daemon::Options&)> spoil;
    const char* component;
    const char* what;
  };
  const std::string folder_path = folder.path();
  const Row table[] = {
      {"no files", [](auto& o) { o.config.tls_cert.clear(); }, "tls", "tls.cert"},
      {"no such file", [](auto& o) { o.config.tls_key += "x"; }, "tls", "server.keyx"},
      {"no certificate", [&](auto& o) { o.config.tls_cert = Write("text.pem", "hello"); }, "tls",
       "is no certificate"},
      {"key of another", [&](auto& o) { o.config.tls_key = Write("other.key", client_files.key); },
       "tls", "is not the key"},
      {"key that others may read",
       [&](auto& o) {
         o.config.tls_key = Write("public.key", server_files.key);
         chmod(o.config.tls_key.c_str(), 0640);
       },
       "tls", "chmod 600"},
      {"expired",
       [&](auto& o) {
         const CertificateFiles late = authority.Sign("localhost", -60);
         o.config.tls_cert = Write("late.pem", late.cert);
         o.config.tls_key = Write("late.key", late.key);
       },
       "tls", "has expired"},
      {"tokens are broken",
       [&](auto& o) {
         o.config.tokens = Write("broken.toml", "[[token]");
         chmod(o.config.tokens.c_str(), 0600);
       },
       "security", "broken.toml:1"},
      {"tokens are public",
       [&](auto& o) {
         o.config.tokens = Write("public.toml", "");
         chmod(o.config.tokens.c_str(), 0644);
       },
       "security", "chmod 600"},
      {"no audit log", [&](auto& o) { o.config.audit_log = "/proc/none/audit"; }, "security",
       "audit"},
      {"no address", [](auto& o) { o.config.tcp = "nonsense"; }, "socket", "HOST:PORT"},
      {"address of nobody", [](auto& o) { o.config.tcp = "192.0.2.1:1"; }, "socket", "192.0.2.1"},
  };
  for (const Row& row : table) {
    Daemon::Options options = TcpOptions();
    row.spoil(options);
    const auto started = Daemon::Start(options, clock, log, failure);
    ASSERT_FALSE(started.ok()) << row.name;
    EXPECT_EQ(failure.component, row.component) << row.name << ": " << failure.what;
    EXPECT_NE(failure.what.find(row.what), std::string::npos) << row.name << ": " << failure.what;
    EXPECT_FALSE(failure.hint.empty());
  }
}

TEST_F(Security, RootServesTcp_OnlyWhenToldTo) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "needs root";
  }
  Daemon::Options options = TcpOptions();
  options.config.allow_root = false;
  ASSERT_FALSE(Daemon::Start(options, clock, log, failure).ok());
  EXPECT_EQ(failure.component, "security");
  EXPECT_NE(failure.what.find("--allow-root"), std::string::npos);
}

TEST_F(Security, SocketFolder_MustBeOursAlone) {
  namespace fs = std::filesystem;
  const std::string run = folder.path() + "/run";
  const auto refused = [&] {
    const auto started = Daemon::Start(OptionsIn(folder.path()), clock, log, failure);
    EXPECT_EQ(failure.component, "socket");
    EXPECT_NE(failure.what.find("'" + run + "'"), std::string::npos) << failure.what;
    return !started.ok();
  };
  fs::create_directories(run);
  for (const auto mode : {0755u, 0770u, 0500u}) {
    fs::permissions(run, static_cast<fs::perms>(mode));
    EXPECT_TRUE(refused()) << mode;
  }
  fs::permissions(run, static_cast<fs::perms>(0700));
  fs::rename(run, folder.path() + "/elsewhere");
  fs::create_directory_symlink(folder.path() + "/elsewhere", run);
  EXPECT_TRUE(refused());
  fs::remove(run);
  Start();
  struct stat status {};
  ASSERT_EQ(stat(daemon->socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(run.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

// The kernel tells the uid, so another process is needed for another one.
TEST_F(Security, NeighbourOfAllowUids_MayReadAndWriteAndOthersNothing) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "needs root to become somebody else";
  }
  constexpr uid_t kNeighbour = 54'321, kStranger = 54'322;
  chmod(folder.path().c_str(), 0711);
  Daemon::Options options = OptionsIn(folder.path());
  options.config.allow_uids = {kNeighbour};
  auto started = Daemon::Start(options, clock, log, failure);
  ASSERT_TRUE(started.ok()) << failure.what;
  daemon = std::move(started).value();
  const std::string shared = daemon->socket(), own = OwnersSocket(shared);
  const std::string kill_job = "/kiln.v1.AdminService/KillJob";
  struct Row {
    uid_t uid;
    std::string path;
    grpc::StatusCode code;
    std::string socket;
  };
  const Row table[] = {
      {kNeighbour, kInfo, grpc::StatusCode::OK, shared},
      {kNeighbour, "/kiln.v1.AdminService/ClearNegative", grpc::StatusCode::OK, shared},
      {kNeighbour, kill_job, grpc::StatusCode::PERMISSION_DENIED, shared},
      {kStranger, kInfo, grpc::StatusCode::UNAVAILABLE, shared},
      {0, kill_job, grpc::StatusCode::INVALID_ARGUMENT, shared},
      {kNeighbour, kInfo, grpc::StatusCode::UNAVAILABLE, own},  // nobody else reaches that door
      {0, kill_job, grpc::StatusCode::INVALID_ARGUMENT, own},
  };
  for (const Row& row : table) {
    const std::string command =
        "setpriv --reuid " + std::to_string(row.uid) +
        " --clear-groups --regid 54321 " KILN_BINARY_DIR "/tests/call_empty unix:" + row.socket +
        " " + row.path;
    const int result = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(result), row.code) << command;
  }
}

// Whoever may connect to the shared socket, let in or not, can keep its queue full.
TEST_F(Security, OwnerOfASharedDaemon_HasADoorOfHisOwnThatStays) {
  Daemon::Options options = OptionsIn(folder.path());
  const std::string own = OwnersSocket(options.config.socket);
  const auto calls = [&own] {
    grpc::ChannelArguments alone;
    alone.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return CallEmpty(
               grpc::CreateCustomChannel("unix:" + own, grpc::InsecureChannelCredentials(), alone),
               "/kiln.v1.AdminService/KillJob")
        .error_code();
  };
  StartWith(options);
  EXPECT_EQ(calls(), grpc::StatusCode::UNAVAILABLE) << "his only socket is his own already";
  Stop();
  options.config.allow_uids = {54'321};
  StartWith(options);
  struct stat status {};
  ASSERT_EQ(stat(own.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(std::filesystem::path(own).parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_EQ(calls(), grpc::StatusCode::INVALID_ARGUMENT) << "let in, as the owner";
  Stop();
  EXPECT_NE(stat(own.c_str(), &status), 0) << "it goes with the daemon";
  options.config.allow_uids = {};
  StartWith(options);
  EXPECT_EQ(calls(), grpc::StatusCode::INVALID_ARGUMENT) << "clients that have it in use find it";
}

}  // namespace
}  // namespace kiln::server
