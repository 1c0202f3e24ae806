// SPDX-License-Identifier: MIT
// What the verbs about the daemon's process share: where its socket is, who answers there, and how
// kilnd is run in place of this program.
#include "client/cli/daemon/daemon_process.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

#include "client/autostart.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"

namespace kiln::cli {

std::string SocketOf(const Global& global) {
  std::string address = DaemonAddress(global);
  return address.starts_with("unix:") ? address.substr(5) : address;
}

// A ping with its own short deadline (client::kPing), so that a daemon that hangs is told soon.
Result<client::ServerInfo> InfoOf(const Global& global) {
  KILN_TRY(const std::unique_ptr<client::Client> client, OpenDaemon(global));
  return client->Ping(client::kPing);
}

// The JSON form has the same members in every state; those that are not known are empty or 0
// (spec/cli 7.1).
void ShowDaemon(const Global& global, std::string_view state, const client::ServerInfo& info,
                const std::string& text) {
  if (global.json) {
    PrintLine({{"v", 1},
               {"type", "daemon"},
               {"state", state},
               {"version", info.version},
               {"pid", info.pid},
               {"address", DaemonAddress(global)}});
  } else if (!global.quiet) {
    Print("{}\n", text);
  }
}

// Returns only if kilnd could not be run. The caller must have flushed what it printed, since the
// buffers of this process are gone afterwards.
int RunKilnd(const Global& global, std::vector<std::string> words) {
  words.insert(words.begin(), client::DaemonProgram());
  // Verbs of kilnd know --json; a daemon that serves has flags only and does not.
  if (global.json && words.size() > 1 && !words[1].starts_with("-")) {
    words.emplace_back("--json");
  }
  // The process becomes kilnd: its output, signals and exit status are those of the command, with
  // nobody in between.
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return Fail(global,
              {.code = ErrorCode::kUnavailable,
               .context = fmt::format("cannot run '{}': {}", words[0], std::strerror(errno)),
               .reason = "DAEMON_UNREACHABLE"});
}

}  // namespace kiln::cli
