// SPDX-License-Identifier: MIT
// `kiln config show` and `check` (spec/cli 6.12). kilnd itself has the table of keys and their
// rules (spec/daemon 15); this side only gives the words on, so the two cannot say different
// things.
#include "client/cli/daemon/config.h"

#include <string>
#include <vector>

#include "client/cli/add_verb.h"
#include "client/cli/daemon/daemon_process.h"

namespace kiln::cli {
namespace {

using Words = std::vector<std::string>;

struct ConfigArguments {
  bool origin = false;  // show
  std::string file;     // check
};

}  // namespace

void AddConfig(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<ConfigArguments>();
  CLI::App* config = AddGroup(app, "config", "The configuration of the daemon");
  CLI::App* show = AddVerb(*config, line,
                           {"show", "Every key and the value in force",
                            "  kiln config show\n  kiln config show --origin"},
                           [&line, arguments] {
                             Words words{"config", "show"};
                             if (arguments->origin) {
                               words.emplace_back("--origin");
                             }
                             return RunKilnd(line.global, words);
                           });
  show->add_flag("--origin", arguments->origin, "And where each value comes from");
  CLI::App* check =
      AddVerb(*config, line,
              {"check", "Read a file and say what is wrong with it",
               "  kiln config check kilnd.toml\n  kiln config check /etc/kiln/kilnd.toml --json"},
              [&line, arguments] {
                return RunKilnd(line.global, Words{"config", "check", arguments->file});
              });
  check->add_option("file", arguments->file, "Configuration file")->required();
}

}  // namespace kiln::cli
