// SPDX-License-Identifier: MIT
#include "server/daemon_entrance.h"

#include <chrono>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "compiler/base/files/own_folder.h"
#include "compiler/base/files/user_folders.h"
#include "server/ops/machine.h"

namespace kiln::server {

// Whoever may connect to the shared socket may fill its queue, allowed or not, so the owner has one
// that nobody else can reach. Once there, it stays: a client that has it in use finds the next
// daemon by the same name.
Result<void> DaemonEntrance::ListenForOwner(bool may_fail) {
  const std::string path = OwnersSocket(config.socket);
  std::error_code ignored;
  if (config.allow_uids.empty() &&
      !std::filesystem::exists(std::filesystem::path(path).parent_path(), ignored)) {
    return {};
  }
  Result<std::unique_ptr<rpc::UnixListener>> opened =
      rpc::UnixListener::Listen(path, rpc::UnixListener::SocketAudience::kOwner);
  if (opened.ok()) {
    owners = std::move(opened).value();
  } else if (may_fail || config.allow_uids.empty()) {
    log.Write(LogLevel::kWarning, "rpc", "the owner has no socket of his own",
              {{"cause", opened.error().context}});
  } else {
    return opened.error();
  }
  return {};
}

Result<void> DaemonEntrance::Listen(const PassedSockets& passed) {
  const auto whom = config.allow_uids.empty() ? rpc::UnixListener::SocketAudience::kOwner
                                              : rpc::UnixListener::SocketAudience::kNeighbours;
  if (passed.unix_socket >= 0) {
    listener = rpc::UnixListener::Adopt(passed.unix_socket, config.socket);
  } else {
    KILN_TRY(listener, rpc::UnixListener::Listen(config.socket, whom));
  }
  // The folder of a socket that was passed need not be ours.
  KILN_TRY_VOID(ListenForOwner(passed.unix_socket >= 0));
  if (config.tcp.empty() && passed.tcp < 0) {
    return {};
  }
  // A hole in gRPC or in a front end would be root's. See spec/daemon 11.8
  if (geteuid() == 0 && !config.allow_root) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context =
                     "root does not serve TCP; run kilnd as another user or pass "
                     "--allow-root",
                 .reason = "ROOT"};
  }
  const auto now_s = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count();
  KILN_TRY(const rpc::TlsSummary tls,
           rpc::CheckTlsFiles({config.tls_cert, config.tls_key, config.tls_client_ca}, now_s));
  if (passed.tcp >= 0) {
    tcp = ops::TcpListener::Adopt(passed.tcp);
  } else {
    KILN_TRY(tcp, ops::TcpListener::Listen(config.tcp));
  }
  log.Write(LogLevel::kInfo, "daemon", "serving TCP",
            {{"address", tcp->Address()}, {"certificate", tls.subject}});
  return {};
}

// The configured number of connections, if there are descriptors for them and everything else;
// otherwise connections of others would take descriptors of the owner's share.
size_t DaemonEntrance::MostConnections() {
  constexpr uint64_t kOwnDescriptors = 512;  // files, workers, upstreams
  const uint64_t wanted = config.max_connections + kOwnDescriptors;
  const uint64_t descriptors = ops::RaiseDescriptorLimit(wanted);
  if (descriptors >= wanted) {
    return config.max_connections;
  }
  // Half for connections, half for everything else.
  const uint64_t most = descriptors / 2;
  log.Write(LogLevel::kWarning, "rpc", "too few descriptors for limits.connections",
            {{"limit", descriptors}, {"connections", most}});
  return most;
}

// Tokens, audit log, and who decides.
Result<void> DaemonEntrance::Guard() {
  if (!config.audit_log.empty()) {
    Result<std::unique_ptr<ops::AuditLog>> opened =
        ops::AuditLog::Open(config.audit_log, clock, log);
    if (opened.ok()) {
      audit = std::move(opened).value();
    } else if (tcp.has_value()) {
      Error error = opened.error();  // strangers are served with an audit log or not at all
      error.context = "the audit log: " + error.context;
      return error;
    } else {
      log.Write(LogLevel::kWarning, "audit", "there is no audit log",
                {{"cause", opened.error().context}});
    }
  }
  if (tcp.has_value() && !config.tokens.empty()) {
    tokens.emplace(config.tokens, clock, log);
    // Read now, so that a broken file ends the start. Later it only keeps what was read before.
    KILN_TRY_VOID(tokens->Reload());
  }
  access.emplace(tokens.has_value() ? &*tokens : nullptr, clock, audit.get(), log);
  party_log.emplace(clock, log);
  connections.emplace(ConnectionOptions(), clock);
  return {};
}

// The first call of a connection may have the longest message there is. Several such may be on
// their way at once, none of which has arrived: of all newcomers, or of a client with a token.
rpc::Connections::Options DaemonEntrance::ConnectionOptions() {
  constexpr uint64_t kHandshake = uint64_t{256} << 10;  // of TLS, with certificates
  constexpr uint64_t kAtOnce = 8;                       // calls
  const uint64_t call = uint64_t{config.limits.request_message} + config.limits.header_list;
  return {.most = MostConnections(),
          .users = !config.allow_uids.empty(),
          .first_call = config.limits.first_call,
          .newcomer_bytes = call + kHandshake,
          .newcomers_bytes = kAtOnce * (call + kHandshake),
          .client_bytes = kAtOnce * call,
          .resident = ops::ResidentBytes,
          .on_flood = [this](const ops::Party& party) {
            access->RefuseConnection(party, ops::Access::RefusalCause::kFlood);
          }};
}

}  // namespace kiln::server
