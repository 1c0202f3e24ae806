// SPDX-License-Identifier: MIT
#include "server/rpc/rpc_server.h"

#include <array>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include "server/rpc/convert.h"

namespace kiln::rpc {
namespace {

constexpr int kMaxStreams = 100;           // of one connection
constexpr int kMaxHeaderBytes = 16 << 10;  // daemon §10
constexpr std::array<const char*, 3> kHealthNames = {"", "kiln.v1.CompileService",
                                                     "kiln.v1.BatchService"};

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

bool IsOwnUser(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

// Accepts until `wake` becomes readable.
void Accept(int listener, int wake, Acceptor& acceptor, LogSink& log) {
  for (;;) {
    std::array<pollfd, 2> ready = {{{.fd = listener, .events = POLLIN, .revents = 0},
                                    {.fd = wake, .events = POLLIN, .revents = 0}}};
    (void)poll(ready.data(), ready.size(), -1);
    if (ready[1].revents != 0) {
      return;
    }
    if (ready[0].revents == 0) {
      continue;  // a signal
    }
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      continue;  // the client is gone already, or out of descriptors
    }
    if (!IsOwnUser(fd)) {
      log.Write(LogLevel::kWarning, "rpc", "a connection of another user was refused");
      (void)close(fd);
      continue;
    }
    Acceptor::NewConnectionParameters connection;
    connection.listener_fd = listener;
    connection.fd = fd;
    acceptor.HandleNewConnection(&connection);
  }
}

}  // namespace

struct RpcServer::State {
  std::unique_ptr<Acceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
  int wake = -1;
  std::thread accepting;
};

RpcServer::RpcServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<RpcServer>> RpcServer::Start(const std::vector<grpc::Service*>& services,
                                                    const UnixListener& listener, LogSink& log) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto state = std::make_unique<State>();
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxRequest));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxHeaderBytes);
  state->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  for (grpc::Service* service : services) {
    builder.RegisterService(service);
  }
  state->server = builder.BuildAndStart();
  state->wake = eventfd(0, EFD_CLOEXEC);
  if (state->server == nullptr || state->wake < 0) {
    return Error{.code = ErrorCode::kInternal, .context = "gRPC did not start", .reason = "BUG"};
  }
  state->accepting =
      std::thread([fd = listener.fd(), wake = state->wake, acceptor = state->acceptor.get(), &log] {
        Accept(fd, wake, *acceptor, log);
      });
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(state)));
}

void RpcServer::SetServing(bool serving) {
  for (const char* name : kHealthNames) {
    state_->server->GetHealthCheckService()->SetServingStatus(name, serving);
  }
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
