// SPDX-License-Identifier: MIT
// `kiln serve` (spec/cli 6.12): becomes kilnd in the foreground, for service managers and for
// people who look at its log. The socket is the one that all other verbs would ask.
#include "client/cli/daemon/serve.h"

#include <string>
#include <utility>
#include <vector>

#include "client/cli/add_verb.h"
#include "client/cli/daemon/daemon_process.h"

namespace kiln::cli {
namespace {

using Words = std::vector<std::string>;

// The socket goes first, so a --listen.unix among the words of the user is the later one and wins.
int RunServe(const Global& global, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"--listen.unix=" + SocketOf(global)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return RunKilnd(global, std::move(words));
}

}  // namespace

void AddServe(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<Words>();
  CLI::App* serve = AddVerb(app, line,
                            {"serve", "Run the daemon in the foreground",
                             "  kiln serve\n  kiln serve -- --metrics.listen 127.0.0.1:9464"},
                            [&line, arguments] { return RunServe(line.global, *arguments); });
  serve->allow_extras()->add_option("flags", *arguments, "Flags of kilnd, after --");
}

}  // namespace kiln::cli
