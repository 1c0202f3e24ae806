// SPDX-License-Identifier: MIT
// kilnc layout: a case file -> what the layout engine makes of it. The format is spec/layout 17.
#pragma once

#include <string>

namespace kiln::tool {

// The arguments of the command, as written.
struct LayoutArguments {
  std::string file;
  bool json = false;   // fill in `expect`
  bool check = false;  // compare with `expect`
};

// Runs the command: answers and differences to stdout, messages to stderr. Returns an ExitCode:
// kWrongSource if there is a difference or the file is no case file.
int RunLayout(const LayoutArguments& arguments);

}  // namespace kiln::tool
