// SPDX-License-Identifier: MIT
// The programs of a manifest as a batch of the daemon, followed to its end. Spec: cli §6.2
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/cli/project.h"

namespace kiln::cli {

// Loaded programs and what to send for them.
struct Project {
  project::Manifest manifest;
  std::vector<LoadedProgram> programs;
  std::vector<client::ProgramSpace> spaces;
  std::vector<std::pair<std::string, client::ListedOptions>> declared;  // by program
};

// `patterns`: names or globs; none: all. Errors: kNotFound, kInvalidArgument.
Result<Project> LoadProject(const Global& global, const std::vector<std::string>& patterns,
                            client::Client& client);

struct BatchOutcome {
  std::string id;
  client::BatchProgress progress;
  client::BatchFinal final;
};

// Shows progress and failures. Ctrl-C cancels the batch. Errors: those of the daemon.
Result<BatchOutcome> RunBatch(const Global& global, const Project& project, client::Client& client,
                              const client::BatchOptions& how);
bool WasInterrupted();

}  // namespace kiln::cli
