// SPDX-License-Identifier: MIT
// The gRPC server and the thread that accepts for it (spec/daemon 2, 14.1). gRPC listens nowhere
// itself: each connection is accepted here, put to its owner, user or host, counted, and then
// handed over.
#include "server/rpc/transport/rpc_server.h"

#include <array>
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

#include "compiler/base/threads/thread.h"
#include "server/rpc/transport/gates.h"
#include "server/rpc/transport/peer_name.h"
#include "server/rpc/transport/user_relay.h"

namespace kiln::rpc {
namespace {

constexpr int kKeepaliveMs = 20'000;  // spec/daemon 9.3
constexpr int kKeepaliveAnswerMs = 10'000;
// Clients ask once a minute whether the daemon still is there (Keepalive in client/connection.h).
// gRPC would take it for an attack if they did so more than once in five.
constexpr int kLeastPingMs = 20'000;
constexpr std::array<const char*, 3> kHealthNames = {"", "kiln.v1.CompileService",
                                                     "kiln.v1.BatchService"};

constexpr int kSendBuffer = 512 << 10;  // bytes
// What a list of headers may take on its way, with the heads of its frames, of its own length.
constexpr size_t kBlocksOfHeaders = 2;

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

// Streams of artifacts go faster when more of them may be on their way; the kernel bounds it.
void SetSendBuffer(int fd) {
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof(kSendBuffer));
}

std::optional<uint32_t> UserOf(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? std::optional(peer.uid)
                                                                    : std::nullopt;
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
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kLeastPingMs);
  // A compressed request is refused: gRPC would inflate it before it looks at its size.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  // gRPC 1.51 looks at the size of a message when it has all of it. Before all of them take all of
  // the memory it resets streams that are receiving, not only the one that is to blame.
  if (receiving_bytes != 0) {
    grpc::ResourceQuota quota("kilnd");
    quota.Resize(receiving_bytes);
    builder.SetResourceQuota(quota);
  }
}

}  // namespace

// One acceptor for each kind of caller and each other user: how a connection came in is all that a
// call knows of it.
struct RpcServer::State {
  explicit State(const Doors& open_doors)
      : doors(open_doors),
        relay({.block_bytes = kBlocksOfHeaders * open_doors.limits.header_list,
               .message_bytes = open_doors.connections.options().client_bytes,
               .on_flood = open_doors.connections.options().on_flood},
              open_doors.log) {}

  void Accept();
  void TakeFrom(int listener, bool is_unix);
  static ops::Party PartyOf(int fd, bool is_unix);
  Acceptor* AcceptorFor(const ops::Party& party);

  const Doors doors;
  UserRelay relay;  // goes after the server, whose last words it tells
  std::unique_ptr<Acceptor> owner;
  std::map<ops::Party, std::unique_ptr<Acceptor>> neighbours;
  std::unique_ptr<Acceptor> tcp;  // null without TCP
  std::unique_ptr<grpc::Server> server;
  int wake = -1;
  Thread accepting;
};

ops::Party RpcServer::State::PartyOf(int fd, bool is_unix) {
  if (!is_unix) {
    return ops::Party::Host(PeerNameOf(fd));
  }
  const std::optional<uint32_t> user = UserOf(fd);
  return user == geteuid() ? ops::Party::Owner() : ops::Party::User(user);
}

// Null if the party is refused.
Acceptor* RpcServer::State::AcceptorFor(const ops::Party& party) {
  if (party.is_owner()) {
    return owner.get();
  }
  if (party.kind() == ops::Party::Kind::kHost) {
    return tcp.get();
  }
  const auto found = neighbours.find(party);
  return found == neighbours.end() ? nullptr : found->second.get();
}

// One connection for each call, so that a busy listener does not keep the others waiting.
void RpcServer::State::TakeFrom(int listener, bool is_unix) {
  int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    if (errno == EMFILE || errno == ENFILE) {  // the client waits until there are descriptors
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return;  // or the client is gone already
  }
  const ops::Party party = PartyOf(fd, is_unix);
  Acceptor* const acceptor = AcceptorFor(party);
  SetSendBuffer(fd);
  // From here on `fd` is our end of a pair of sockets; the relay has the connection itself.
  if (acceptor != nullptr && party.kind() == ops::Party::Kind::kUser) {
    fd = relay.Lead(fd, party);
    SetSendBuffer(fd);
  }
  if (acceptor == nullptr || fd < 0 || !doors.connections.Add(fd, party)) {
    doors.access.RefuseConnection(party, acceptor == nullptr ? ops::Access::RefusalCause::kStranger
                                                             : ops::Access::RefusalCause::kNoRoom);
    (void)close(fd);
    return;
  }
  // gRPC takes the descriptor over and closes it without telling, which is why Connections looks at
  // it.
  Acceptor::NewConnectionParameters connection;
  connection.listener_fd = listener;
  connection.fd = fd;
  acceptor->HandleNewConnection(&connection);
}

// Accepts until `wake` becomes readable.
void RpcServer::State::Accept() {
  const int unix_fd = doors.unix_socket.fd();
  const int owners_fd = doors.owners_socket == nullptr ? -1 : doors.owners_socket->fd();
  const int tcp_fd = doors.tcp == nullptr ? -1 : doors.tcp->fd();  // poll skips what is below 0
  for (;;) {
    std::array<pollfd, 4> ready = {{{.fd = wake, .events = POLLIN, .revents = 0},
                                    {.fd = unix_fd, .events = POLLIN, .revents = 0},
                                    {.fd = tcp_fd, .events = POLLIN, .revents = 0},
                                    {.fd = owners_fd, .events = POLLIN, .revents = 0}}};
    const Duration next = doors.connections.NextTick();
    (void)poll(ready.data(), ready.size(), next == Duration::max() ? -1 : Milliseconds(next));
    // One thread accepts and looks after the connections: the list changes in one place, and a
    // flood of connections cannot starve the looks.
    doors.connections.Tick();
    if (ready[0].revents != 0) {
      return;
    }
    // The owner's own socket first.
    if (ready[3].revents != 0) {
      TakeFrom(owners_fd, true);
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
    // An acceptor for each user, because its credentials are all that a call can tell of its
    // connection.
    if (std::unique_ptr<Acceptor>& of_user = state->neighbours[ops::Party::User(uid)];
        of_user == nullptr) {
      of_user = add(OfNeighbour(uid, doors.connections, doors.limits.header_list));
    }
  }
  if (doors.tcp != nullptr) {
    state->tcp = add(OfTcp(doors.tls, doors.access, doors.connections, doors.limits.header_list));
  }
  for (grpc::Service* service : services) {
    builder.RegisterService(service);
  }
  // No port is given to gRPC: all connections come through the acceptors.
  state->server = builder.BuildAndStart();
  state->wake = eventfd(0, EFD_CLOEXEC);
  if (state->server == nullptr || state->wake < 0) {
    return Error{.code = ErrorCode::kInternal, .context = "gRPC did not start", .reason = "BUG"};
  }
  std::unique_ptr<RpcServer> server(new RpcServer(std::move(state)));
  // Whoever checks the health must not send work before the daemon says that it is ready.
  server->SetServing(false);
  return server;
}

void RpcServer::Accept() {
  state_->accepting = Thread({.name = "accepting", .log = &state_->doors.log},
                             [this](const std::stop_token&) { state_->Accept(); });
}

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
    // The thread waits for connections in a system call, so a descriptor has to wake it.
    const uint64_t one = 1;
    (void)!write(state_->wake, &one, sizeof(one));
    state_->accepting.join();
  }
}

// No new connection comes in while gRPC ends the open ones. `grace` is what running calls have.
// After it gRPC cancels them and waits for their handlers.
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
