// SPDX-License-Identifier: MIT
// Variants of a project, in the order in which they were added.
#pragma once

#include <memory>
#include <vector>

#include <kiln/client.h>

#include "client/c/project.h"
#include "client/engine/live_reload.h"
#include "client/startup_fetch.h"

struct kiln_client_variants {
  std::shared_ptr<kiln::c::ClientProject> project;
  kiln::client::StartupVariants subject;
  std::vector<kiln::client::ArtifactContent> known;  // what was fetched of each
};
