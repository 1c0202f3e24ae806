// SPDX-License-Identifier: MIT
#include "client/connection.h"

#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <grpcpp/resource_quota.h>

#include "client/autostart.h"
#include "client/daemon_socket.h"
#include "compiler/base/files/file.h"

namespace kiln::client {
namespace {

// A bound against a peer that sends one endless message; what kiln itself sends is far smaller
// (spec/daemon 10).
constexpr int kMaxMessageBytes = 64 << 20;

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kHttps = "https://";

static_assert(kMostReceivingBytes == size_t{2} * kMaxMessageBytes);

// Calls that do work are repeated when the daemon is not ready or full, with jitter, within their
// deadline, and when the daemon says after how long (spec/daemon 2.5). What looks at the daemon
// itself is not, because its caller wants to know. Hot reload reconnects by itself.
constexpr char kServiceConfig[] = R"({"methodConfig": [{
  "name": [{"service": "kiln.v1.CompileService"}, {"service": "kiln.v1.BatchService"},
           {"service": "kiln.v1.PackService"}, {"service": "kiln.v1.CacheService"}],
  "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "5s",
                  "backoffMultiplier": 2,
                  "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]}}]})";

Error Wrong(std::string context) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(context), .reason = "USAGE"};
}

Result<std::string> OptionalFile(const std::string& path) {
  return path.empty() ? Result<std::string>(std::string()) : ReadFile(path);
}

grpc::ChannelArguments ChannelArguments(const Keepalive& keepalive = {}) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  grpc::ResourceQuota quota("kiln");
  quota.Resize(kMostReceivingBytes);
  arguments.SetResourceQuota(quota);
  arguments.SetServiceConfigJSON(kServiceConfig);
  // A daemon that comes back is found soon, since watches wait for it.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // In spite of its name: how long an attempt to connect may take, the first answer included.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, static_cast<int>(kPing.count()));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(keepalive.after.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(keepalive.answer.count()));
  // A watch may have nothing to send for hours; without this there are two questions in all.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return arguments;
}

std::unique_ptr<Connection> WithStubs(std::unique_ptr<Connection> connection) {
  connection->compile = v1::CompileService::NewStub(connection->channel);
  connection->batch = v1::BatchService::NewStub(connection->channel);
  connection->admin = v1::AdminService::NewStub(connection->channel);
  connection->cache = v1::CacheService::NewStub(connection->channel);
  connection->pack = v1::PackService::NewStub(connection->channel);
  return connection;
}

}  // namespace

// gRPC says "unavailable" whether a certificate is unknown, expired, or of another host. A second
// connection that only makes the handshake finds out which, and only after a failure, so it costs
// nothing usually.
Error Connection::ExplainReply(Error error) const {
  const bool unreached =
      error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kDeadlineExceeded;
  if (!unreached || host_port.empty()) {
    return error;
  }
  const Result<void> found =
      cache::upstream::ProbeTls(host_port, tls, cache::upstream::kFlagNames, kPing);
  return found.ok() ? error : found.error();
}

std::unique_ptr<Connection> Connection::Open(const std::string& address,
                                             const Keepalive& keepalive) {
  auto connection = std::make_unique<Connection>();
  connection->address = address;
  // A socket of another user's daemon that serves neighbours has a twin for its owner; the owner
  // talks to that one.
  const std::optional<std::string> owners =
      address.starts_with(kUnix) ? OwnersTarget(address.substr(kUnix.size())) : std::nullopt;
  connection->target = owners.value_or(address);
  connection->channel = OpenChannel(connection->target, grpc::InsecureChannelCredentials(),
                                    ChannelArguments(keepalive));
  return WithStubs(std::move(connection));
}

Result<std::unique_ptr<Connection>> Connection::OpenOwn(const std::string& address) {
  // The folder was checked and is held open. gRPC connects through the descriptor, so nobody can
  // put another folder in its place between the check and the connection.
  KILN_TRY(const std::string target, OwnTarget(address.substr(kUnix.size())));
  auto connection = std::make_unique<Connection>();
  connection->address = address;
  connection->target = target;
  connection->channel = OpenChannel(target, grpc::InsecureChannelCredentials(), ChannelArguments());
  return WithStubs(std::move(connection));
}

Result<std::unique_ptr<Connection>> Connection::Open(const Endpoint& endpoint) {
  if (endpoint.address == kUnix) {
    return Wrong(
        "there is no folder of this user for a socket: set XDG_RUNTIME_DIR or HOME, or name a "
        "daemon with --daemon");
  }
  if (endpoint.address.starts_with(kUnix)) {
    const bool own = endpoint.address.substr(kUnix.size()) == DefaultSocket();
    return own ? OpenOwn(endpoint.address)
               : Result<std::unique_ptr<Connection>>(Open(endpoint.address));
  }
  if (!endpoint.address.starts_with(kHttps)) {
    return Wrong(
        fmt::format("'{}' is no daemon: unix:PATH or https://HOST:PORT", endpoint.address));
  }
  if (endpoint.token_file.empty()) {
    return Wrong("a daemon behind https wants a token: --token-file FILE");
  }
  KILN_TRY(std::string token, ReadFile(endpoint.token_file));
  // Editors end files with a line end.
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back())) != 0) {
    token.pop_back();
  }
  // A file that is no token, a private key named by mistake for example, must not go over the wire.
  if (token.find_first_of(" \t\r\n") != std::string::npos || !token.starts_with("kiln_")) {
    return Wrong(fmt::format("'{}' holds no token of kiln", endpoint.token_file));
  }
  grpc::SslCredentialsOptions tls;
  KILN_TRY(tls.pem_root_certs, OptionalFile(endpoint.tls_ca));
  KILN_TRY(tls.pem_cert_chain, OptionalFile(endpoint.tls_cert));
  KILN_TRY(tls.pem_private_key, OptionalFile(endpoint.tls_key));
  // OpenSSL would ask the terminal for the pass phrase, and the command would wait for it. The word
  // stands in the first line of such a key, or in the second one of the older form.
  if (tls.pem_private_key.find("ENCRYPTED") != std::string::npos) {
    return Wrong(fmt::format("'{}' is protected by a pass phrase, which nobody can be asked for",
                             endpoint.tls_key));
  }
  auto connection = std::make_unique<Connection>();
  connection->address = endpoint.address;
  connection->target = connection->host_port = endpoint.address.substr(kHttps.size());
  connection->tls = {.ca = endpoint.tls_ca, .cert = endpoint.tls_cert, .key = endpoint.tls_key};
  connection->channel =
      OpenChannel(connection->target,
                  // The token travels inside of TLS only: gRPC refuses call credentials on a
                  // channel without it.
                  grpc::CompositeChannelCredentials(grpc::SslCredentials(tls),
                                                    grpc::AccessTokenCredentials(token)),
                  ChannelArguments());
  return WithStubs(std::move(connection));
}

}  // namespace kiln::client
