// SPDX-License-Identifier: MIT
// Who may come in, and how: the sockets of a daemon, tokens, the audit log, who decides, and how
// many connections whom is left. Part of a daemon; made before anything is answered. spec/daemon
// 11, 14.1
#pragma once

#include <memory>
#include <optional>

#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "server/config.h"
#include "server/daemon.h"
#include "server/ops/access.h"
#include "server/ops/audit_log.h"
#include "server/ops/line_log.h"
#include "server/ops/party_log.h"
#include "server/ops/tcp_listener.h"
#include "server/ops/tokens.h"
#include "server/rpc/transport/connections.h"
#include "server/rpc/transport/rpc_server.h"

namespace kiln::server {

// Members go in the opposite of their order, which is that of their references.
struct DaemonEntrance {
  DaemonEntrance(const Config& use_config, Clock& use_clock, ops::LineLog& use_log)
      : config(use_config), clock(use_clock), log(use_log) {}

  Result<void> Listen(const PassedSockets& passed);
  // Requires: Listen.
  Result<void> Guard();

  Result<void> ListenForOwner(bool may_fail);
  size_t MostConnections();
  rpc::Connections::Options ConnectionOptions();

  const Config& config;
  Clock& clock;
  ops::LineLog& log;
  std::unique_ptr<rpc::UnixListener> listener;
  std::unique_ptr<rpc::UnixListener> owners;  // null: the other one is the owner's alone
  std::optional<ops::TcpListener> tcp;
  std::unique_ptr<ops::AuditLog> audit;
  std::optional<ops::TokenBook> tokens;
  std::optional<ops::Access> access;
  std::optional<rpc::Connections> connections;
  std::optional<ops::PartyLog> party_log;
};

}  // namespace kiln::server
