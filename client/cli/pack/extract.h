// SPDX-License-Identifier: MIT
// kiln pack extract: files of one variant of a pack. See spec/cli 6.10
#pragma once

#include <string>
#include <vector>

#include "client/cli/command_line.h"

namespace kiln::cli {

struct PackExtractArguments {
  std::string file;
  std::vector<std::string> bases;  // beside those in the folder of the file
  std::string program;
  std::string target;                // empty: all
  std::vector<std::string> options;  // NAME=VALUE
  std::string out;                   // folder
};
int RunPackExtract(const Global& global, const PackExtractArguments& arguments);

void AddPackExtract(CLI::App& pack, CommandLine& line);

}  // namespace kiln::cli
