// SPDX-License-Identifier: MIT
#include "server/rpc/rpc_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <absl/synchronization/mutex.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "compiler/base/mutex.h"
#include "compiler/base/thread.h"
#include "server/rpc/connection_count.h"
#include "server/rpc/malformed.h"

namespace kiln::rpc {
namespace {

constexpr int kKeepaliveMs = 20'000;  // daemon §9.3
constexpr int kKeepaliveAnswerMs = 10'000;
constexpr unsigned kCertificateSeconds = 1;  // how often the files are looked at
constexpr std::array<const char*, 3> kHealthNames = {"", "kiln.v1.CompileService",
                                                     "kiln.v1.BatchService"};

constexpr int kSendBuffer = 512 << 10;  // bytes

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

std::optional<uint32_t> UserOf(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? std::optional(peer.uid)
                                                                    : std::nullopt;
}

std::string_view ViewOf(const grpc::string_ref& text) { return {text.data(), text.size()}; }

// What CallFrame does not see because kiln does not implement it: over TCP reflection is for
// administrators, health for everybody.
class ReflectionGate final : public grpc::AuthMetadataProcessor {
 public:
  explicit ReflectionGate(ops::Access& access) : access_(access) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* /*context*/,
                       OutputMetadata* /*consumed*/, OutputMetadata* /*response*/) override {
    const auto path = metadata.find(":path");
    if (path == metadata.end()) {
      return {grpc::StatusCode::INTERNAL, "a call without a path"};
    }
    const std::string_view method = ViewOf(path->second);
    if (!method.starts_with("/grpc.reflection.")) {
      return grpc::Status::OK;
    }
    ops::Caller caller{.transport = ops::Transport::kTcp, .peer = "reflection"};
    if (const auto bearer = metadata.find("authorization"); bearer != metadata.end()) {
      caller.bearer = BearerOf(ViewOf(bearer->second));
    }
    const auto permitted = access_.Permit(caller, method, ops::Scope::kAdmin);
    return permitted.ok() ? grpc::Status::OK
                          : grpc::Status(static_cast<grpc::StatusCode>(permitted.error().code),
                                         permitted.error().context);
  }

 private:
  ops::Access& access_;
};

// Writes down, once for each connection, which user it is of. gRPC asks before the first call of a
// connection is handed out, so nobody reads what is being written.
class NeighbourLabel final : public grpc::AuthMetadataProcessor {
 public:
  explicit NeighbourLabel(uint32_t uid) : name_(ops::NeighbourName(uid)) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& /*metadata*/, grpc::AuthContext* context,
                       OutputMetadata* /*consumed*/, OutputMetadata* /*response*/) override {
    const MutexLock lock(mutex_);
    if (context->FindPropertyValues(kNeighbourProperty).empty()) {
      context->AddProperty(kNeighbourProperty, name_);
    }
    return grpc::Status::OK;
  }

 private:
  const std::string name_;
  Mutex mutex_;
};

std::shared_ptr<grpc::ServerCredentials> OfNeighbour(uint32_t uid) {
  auto credentials = grpc::experimental::LocalServerCredentials(UDS);
  credentials->SetAuthMetadataProcessor(std::make_shared<NeighbourLabel>(uid));
  return credentials;
}

// TLS with a certificate on both sides. gRPC reads the files again when they change.
std::shared_ptr<grpc::ServerCredentials> MutualTls(const TlsFiles& files, ops::Access& access) {
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.cert, files.client_ca, kCertificateSeconds));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  auto credentials = grpc::experimental::TlsServerCredentials(options);
  credentials->SetAuthMetadataProcessor(std::make_shared<ReflectionGate>(access));
  return credentials;
}

int Milliseconds(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

void SetLimits(grpc::ServerBuilder& builder, const ServiceLimits& limits,
               uint64_t receiving_bytes) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits.request_message));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(limits.streams));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, static_cast<int>(limits.header_list));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, Milliseconds(limits.handshake));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, Milliseconds(limits.idle));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveAnswerMs);
  // gRPC 1.51 looks at the size of a message when it has all of it. Before all of them take all of
  // the memory it resets streams that are receiving, not only the one that is to blame.
  if (receiving_bytes != 0) {
    grpc::ResourceQuota quota("kilnd");
    quota.Resize(receiving_bytes);
    builder.SetResourceQuota(quota);
  }
}

}  // namespace

std::string BearerOf(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  return authorization.starts_with(kScheme) ? std::string(authorization.substr(kScheme.size()))
                                            : std::string();
}

// One acceptor for each kind of caller and each neighbour: how a connection came in is all that a
// call knows of it.
struct RpcServer::State {
  explicit State(const Doors& open_doors)
      : doors(open_doors), connections(open_doors.max_connections) {}

  void Accept();
  void TakeFrom(int listener, bool is_unix);
  Acceptor* AcceptorFor(int fd, bool is_unix);

  const Doors doors;
  ConnectionCount connections;
  std::atomic<uint64_t> refused = 0;
  std::unique_ptr<Acceptor> owner;
  std::map<uint32_t, std::unique_ptr<Acceptor>> neighbours;  // by uid
  std::unique_ptr<Acceptor> tcp;                             // null without TCP
  std::unique_ptr<grpc::Server> server;
  int wake = -1;
  Thread accepting;
};

Acceptor* RpcServer::State::AcceptorFor(int fd, bool is_unix) {
  if (!is_unix) {
    return tcp.get();
  }
  const std::optional<uint32_t> user = UserOf(fd);
  if (user == geteuid()) {
    return owner.get();
  }
  if (const auto found = user.has_value() ? neighbours.find(*user) : neighbours.end();
      found != neighbours.end()) {
    return found->second.get();
  }
  doors.log.Write(LogLevel::kWarning, "rpc", "a connection of another user was refused",
                  {{"uid", user.has_value() ? std::to_string(*user) : "unknown"}});
  doors.access.AddFailure(
      {.transport = ops::Transport::kNeighbour,
       .peer = user.has_value() ? ops::NeighbourName(*user) : "unix:uid=unknown"},
      "connect", "another user");
  return nullptr;
}

void RpcServer::State::TakeFrom(int listener, bool is_unix) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    if (errno == EMFILE || errno == ENFILE) {  // the client waits until there are descriptors
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return;  // or the client is gone already
  }
  Acceptor* const acceptor = AcceptorFor(fd, is_unix);
  if (acceptor == nullptr) {
    (void)close(fd);
    return;
  }
  if (!connections.Add(fd)) {
    if (refused.fetch_add(1) == 0) {
      doors.log.Write(LogLevel::kWarning, "rpc", "too many connections",
                      {{"max", doors.max_connections}});
    }
    (void)close(fd);
    return;
  }
  // Streams of artifacts go faster when more of them may be on their way; the kernel bounds it.
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof(kSendBuffer));
  Acceptor::NewConnectionParameters connection;
  connection.listener_fd = listener;
  connection.fd = fd;
  acceptor->HandleNewConnection(&connection);
}

// Accepts until `wake` becomes readable.
void RpcServer::State::Accept() {
  const int unix_fd = doors.unix_socket.fd();
  const int tcp_fd = doors.tcp == nullptr ? -1 : doors.tcp->fd();  // poll skips what is below 0
  for (;;) {
    std::array<pollfd, 3> ready = {{{.fd = wake, .events = POLLIN, .revents = 0},
                                    {.fd = unix_fd, .events = POLLIN, .revents = 0},
                                    {.fd = tcp_fd, .events = POLLIN, .revents = 0}}};
    (void)poll(ready.data(), ready.size(), -1);
    if (ready[0].revents != 0) {
      return;
    }
    if (ready[1].revents != 0) {
      TakeFrom(unix_fd, true);
    }
    if (ready[2].revents != 0) {
      TakeFrom(tcp_fd, false);
    }
  }
}

RpcServer::RpcServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<RpcServer>> RpcServer::Start(const std::vector<grpc::Service*>& services,
                                                    const Doors& doors) {
  grpc::EnableDefaultHealthCheckService(true);
  // Debian's Abseil looks for deadlocks at every lock of gRPC, which is a debugging aid.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto state = std::make_unique<State>(doors);
  grpc::ServerBuilder builder;
  SetLimits(builder, doors.limits, doors.receiving_bytes);
  const auto add = [&builder](std::shared_ptr<grpc::ServerCredentials> credentials) {
    return builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        std::move(credentials));
  };
  state->owner = add(grpc::InsecureServerCredentials());
  for (const uint32_t uid : doors.allow_uids) {
    if (!state->neighbours.contains(uid)) {
      state->neighbours[uid] = add(OfNeighbour(uid));
    }
  }
  if (doors.tcp != nullptr) {
    state->tcp = add(MutualTls(doors.tls, doors.access));
  }
  for (grpc::Service* service : services) {
    builder.RegisterService(service);
  }
  if (doors.host != nullptr) {
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> factories;
    factories.push_back(RefusesMalformed(*doors.host));
    builder.experimental().SetInterceptorCreators(std::move(factories));
  }
  state->server = builder.BuildAndStart();
  state->wake = eventfd(0, EFD_CLOEXEC);
  if (state->server == nullptr || state->wake < 0) {
    return Error{.code = ErrorCode::kInternal, .context = "gRPC did not start", .reason = "BUG"};
  }
  std::unique_ptr<RpcServer> server(new RpcServer(std::move(state)));
  server->SetServing(false);
  return server;
}

void RpcServer::Accept() {
  state_->accepting = Thread({.name = "accepting", .log = &state_->doors.log},
                             [this](const std::stop_token&) { state_->Accept(); });
}

size_t RpcServer::Connections() { return state_->connections.Count(); }

uint64_t RpcServer::refused_connections() const { return state_->refused; }

void RpcServer::SetServing(bool serving) {
  for (const char* name : kHealthNames) {
    state_->server->GetHealthCheckService()->SetServingStatus(name, serving);
  }
}

void RpcServer::SetUpstream(bool answers) {
  state_->server->GetHealthCheckService()->SetServingStatus("kiln.upstream", answers);
}

void RpcServer::StopAccepting() {
  if (state_->accepting.joinable()) {
    const uint64_t one = 1;
    (void)!write(state_->wake, &one, sizeof(one));
    state_->accepting.join();
  }
}

void RpcServer::Shutdown(Duration grace) {
  StopAccepting();
  state_->server->Shutdown(std::chrono::system_clock::now() +
                           std::chrono::duration_cast<std::chrono::system_clock::duration>(grace));
  state_->server->Wait();
}

RpcServer::~RpcServer() {
  Shutdown(Duration::zero());
  (void)close(state_->wake);
}

}  // namespace kiln::rpc
