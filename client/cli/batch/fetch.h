// SPDX-License-Identifier: MIT
// kiln fetch: results of the manifest's programs as an engine would get them, into a folder by
// content id or as a pack. See spec/cli 6.4
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cli/command_line.h"
#include "compiler/base/result.h"

namespace kiln::cli {

struct FetchArguments {
  std::vector<std::string> programs;
  bool all = false;
  bool warm = false;                // only variants that the manifest marks
  std::string have;                 // file with the root of the last fetch; rewritten
  std::string on_miss = "compile";  // or skip, or fail
  std::string out;                  // folder, or *.kpack
  // For a build whose caller may only read: why a miss cannot be compiled. `out` may be empty then.
  std::optional<Error> may_not_compile = {};
};

int RunFetch(const Global& global, const FetchArguments& arguments);

void AddFetch(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
