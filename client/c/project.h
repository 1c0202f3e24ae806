// SPDX-License-Identifier: MIT
// A project of files, or one that is put together. What is made of it keeps it alive.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kiln/client.h>

#include "client/autostart.h"
#include "client/project/manifest.h"

namespace kiln::c {

struct ClientProject {
  std::shared_ptr<client::DaemonConnection> connection;
  std::function<void()> start_daemon;  // as that of the client
  bool of_files = false;
  project::Manifest manifest;             // of_files
  std::vector<client::Program> programs;  // that were loaded or added
  std::string name;
};

}  // namespace kiln::c

struct kiln_client_project {
  std::shared_ptr<kiln::c::ClientProject> project;
};
