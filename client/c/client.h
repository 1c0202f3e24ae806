// SPDX-License-Identifier: MIT
// A connection to a daemon, as C has it.
#pragma once

#include <functional>
#include <memory>

#include <kiln/client.h>

#include "client/autostart.h"

struct kiln_client {
  std::shared_ptr<kiln::client::DaemonConnection> connection;
  std::function<void()> start_daemon;  // null: it is not this client's to start
};
