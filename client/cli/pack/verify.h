// SPDX-License-Identifier: MIT
// kiln pack verify: whether a pack file is sound. See spec/cli 6.10
#pragma once

#include <string>
#include <vector>

#include "client/cli/command_line.h"

namespace kiln::cli {

struct PackVerifyArguments {
  std::string file;
  std::vector<std::string> bases;  // beside those in the folder of the file
  std::string require_signature;   // file of a public key
};
int RunPackVerify(const Global& global, const PackVerifyArguments& arguments);

void AddPackVerify(CLI::App& pack, CommandLine& line);

}  // namespace kiln::cli
