// SPDX-License-Identifier: MIT
// kiln pack build: all results of the manifest's programs as one file. The daemon builds the pack;
// a base that it does not have, and the signature, are added here. See spec/cli 6.10
#pragma once

#include <string>
#include <vector>

#include "client/cli/batch/batch_run.h"
#include "client/cli/command_line.h"
#include "client/client.h"

namespace kiln::cli {

struct PackBuildArguments {
  std::vector<std::string> programs;  // names or globs; none: all
  std::string out;                    // file
  std::string base;                   // file of a pack
  std::string sign;                   // file of a private key
  std::string pin;
  std::string warm;  // file of a list
  bool small = false;
  bool fast = false;  // the default
};
int RunPackBuild(const Global& global, const PackBuildArguments& arguments);

// A batch that went well as the file arguments.out, with what the manifest says of passes, and with
// warm list, base and signature of the arguments.
Result<client::BuiltPack> PackBatch(client::Client& client, const Project& project,
                                    const std::string& batch, const PackBuildArguments& arguments);

void AddPackBuild(CLI::App& pack, CommandLine& line);

}  // namespace kiln::cli
