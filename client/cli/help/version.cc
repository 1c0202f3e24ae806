// SPDX-License-Identifier: MIT
// `kiln version`. The version is a number of this program and not of the daemon; `kiln status` and
// `kiln doctor` show both.
#include "client/cli/help/version.h"

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "compiler/base/version.h"

namespace kiln::cli {

// The line is also what --version prints, and `kiln doctor` compares the one of kilnd in the same
// form.
std::string VersionLine() { return "kiln " + std::string(Version()); }

void AddVersion(CLI::App& app, CommandLine& line) {
  AddVerb(app, line,
          {"version", "The version of this program", "  kiln version\n  kiln version --json"},
          [&line] {
            if (line.global.json) {
              Print("{{\"v\":1,\"type\":\"version\",\"version\":\"{}\"}}\n", Version());
            } else {
              Print("{}\n", VersionLine());
            }
            return int{kSuccess};
          });
}

}  // namespace kiln::cli
