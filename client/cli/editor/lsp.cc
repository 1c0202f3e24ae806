// SPDX-License-Identifier: MIT
// `kiln lsp` (spec/cli 6.13): hands stdin and stdout to the language server. Nothing else may print
// to stdout while it runs, since that is the protocol's stream.
#include "client/cli/editor/lsp.h"

#include <csignal>
#include <memory>
#include <string>
#include <unistd.h>

#include "client/cli/add_verb.h"
#include "client/lsp/server/run.h"
#include "compiler/base/clock.h"
#include "compiler/base/version.h"

namespace kiln::cli {
namespace {

// An editor that is gone is the end of the input, too; a write to it must not end the process
// without a status.
int RunLsp() {
  (void)std::signal(SIGPIPE, SIG_IGN);
  SystemClock clock;
  return lsp::Run(STDIN_FILENO, STDOUT_FILENO, clock, std::string(Version()));
}

}  // namespace

void AddLsp(CLI::App& app, CommandLine& line) {
  const auto stdio = std::make_shared<bool>(false);
  CLI::App* verb =
      AddVerb(app, line,
              {"lsp", "Serve an editor: the language server protocol on stdin and stdout",
               "  kiln lsp\n  kiln lsp --stdio"},
              [stdio] { return RunLsp(); });
  verb->add_flag("--stdio", *stdio, "What it does anyway; some editors say so");
}

}  // namespace kiln::cli
