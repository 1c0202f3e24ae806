// SPDX-License-Identifier: MIT
// What the handles of kiln/client.h are. Each keeps what it was made of alive.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kiln/client.h>

#include "client/autostart.h"
#include "client/engine/live_reload.h"
#include "client/project/manifest.h"

namespace kiln::c {

// A project of files, or one that is put together.
struct ClientProject {
  std::shared_ptr<client::DaemonConnection> connection;
  std::function<void()> start_daemon;  // null: it is not this client's to start
  bool of_files = false;
  project::Manifest manifest;             // of_files
  std::vector<client::Program> programs;  // that were loaded or added
  std::string name;
};

}  // namespace kiln::c

struct kiln_client {
  std::shared_ptr<kiln::client::DaemonConnection> connection;
  std::function<void()> start_daemon;
};

struct kiln_client_project {
  std::shared_ptr<kiln::c::ClientProject> project;
};

struct kiln_client_variants {
  std::shared_ptr<kiln::c::ClientProject> project;
  kiln::client::StartupVariants subject;
  std::vector<kiln::client::ArtifactContent> known;  // what was fetched of each
};

struct kiln_client_watch {
  std::shared_ptr<kiln::c::ClientProject> project;
  std::unique_ptr<kiln::client::LiveReload> reload;  // ends first
};
