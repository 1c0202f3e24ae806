// SPDX-License-Identifier: MIT
// Variants that follow their sources.
#pragma once

#include <memory>

#include <kiln/client.h>

#include "client/c/project.h"
#include "client/engine/live_reload.h"

struct kiln_client_watch {
  std::shared_ptr<kiln::c::ClientProject> project;
  std::unique_ptr<kiln::client::LiveReload> reload;  // ends first
};
