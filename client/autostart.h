// SPDX-License-Identifier: MIT
// Finds the user's daemon, or starts it and says exactly why it cannot. Spec: daemon §14.2
#pragma once

#include <memory>
#include <string>

#include "client/client.h"
#include "compiler/base/result.h"

namespace kiln::client {

// $XDG_RUNTIME_DIR/kiln/kilnd.sock, else /tmp/kiln-UID/kilnd.sock.
std::string DefaultSocket();

// The program `kilnd`: beside this executable, else as found by PATH.
std::string DaemonProgram();

enum class Autostart : uint8_t { kYes, kNo };

struct Connected {
  std::unique_ptr<Client> client;
  bool started = false;  // by this call
  ServerInfo info;
};

// Only a daemon of this user is started, never one behind https. Errors: kUnavailable with
// component, cause and hint as the daemon said them; kUnauthenticated and kPermissionDenied as the
// daemon said; as Client::Open.
Result<Connected> Connect(const Endpoint& endpoint, Autostart autostart);

// Starts kilnd for the socket and waits until it is ready. Errors: as Connect.
Result<void> StartDaemon(const std::string& socket);

}  // namespace kiln::client
