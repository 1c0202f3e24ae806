// SPDX-License-Identifier: MIT
#include "client/cli/help/version.h"

#include <string_view>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"

namespace kiln::cli {

void AddVersion(CLI::App& app, CommandLine& line) {
  AddVerb(app, line,
          {"version", "The version of this program", "  kiln version\n  kiln version --json"},
          [&line] {
            if (line.global.json) {
              Print("{{\"v\":1,\"type\":\"version\",\"version\":\"{}\"}}\n",
                    std::string_view(kVersion).substr(sizeof("kiln ") - 1));
            } else {
              Print("{}\n", kVersion);
            }
            return int{kSuccess};
          });
}

}  // namespace kiln::cli
