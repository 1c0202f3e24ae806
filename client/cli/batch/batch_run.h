// SPDX-License-Identifier: MIT
// The programs of a manifest as a batch of the daemon, followed to its end, over restarts of the
// daemon too. See spec/cli 6.2
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/project/project.h"

namespace kiln::cli {

// Loaded programs and what to send for them.
struct Project {
  project::Manifest manifest;
  std::vector<LoadedProgram> programs;
  std::vector<client::ProgramSpace> spaces;
  std::vector<std::pair<std::string, client::OptionList>> declared;  // by program
};

// `patterns`: names or globs; none: all. Errors: kNotFound, kInvalidArgument.
Result<Project> LoadProject(const Global& global, const std::vector<std::string>& patterns,
                            client::Client& client);

struct BatchOutcome {
  std::string id;
  client::BatchProgress progress;
  client::BatchFinal final;
  std::vector<client::BatchItem> failures;
};

// Shows progress and failures. Ctrl-C cancels the batch. Errors: those of the daemon.
Result<BatchOutcome> RunBatch(const Global& global, const Project& project, client::Client& client,
                              client::BatchOptions how);

// Shows what is wrong with variants that the daemon refuses to build (BAD_EXPRESSION), where it
// stands; then the error has no more to say. `where`: what --where says. One of variants that are
// right when they are counted stays as it is.
Error WithMistakes(const Global& global, const Project& project, const std::string& where,
                   const Error& error, client::Client& client);

// Follows a batch that runs. `restart` is called when the daemon went and came back, and makes the
// batch known to it again; `failed` shows what failed, and is called between lines of progress.
struct BatchFollower {
  std::string name;  // of the project
  std::function<Result<void>()> restart;
  std::function<void(const client::BatchItem&)> failed;
};
Result<BatchOutcome> FollowBatch(const Global& global, const std::string& id,
                                 const BatchFollower& following, client::Client& client);

// The batch whose id begins like this. Errors: kNotFound, kInvalidArgument if there are several.
Result<std::string> BatchNamed(client::Client& client, const std::string& prefix);

bool WasInterrupted();

}  // namespace kiln::cli
