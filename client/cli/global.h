// SPDX-License-Identifier: MIT
// The flags of every verb, and what follows from them alone: which daemon is meant, colours, width.
// See spec/cli 2, 9
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "client/client.h"
#include "compiler/base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): as its library names it
class App;
}

namespace kiln::cli {

struct Global {
  std::string folder = ".";  // -C
  std::string manifest;      // --manifest
  std::string daemon;        // --daemon
  std::string token_file;    // --token-file; this and the next for https only
  std::string tls_ca, tls_cert, tls_key;
  std::string autostart = "auto";
  bool no_daemon = false;  // a private one for this command
  bool no_cache = false;   // a private one that has a cache of its own, for as long as it lives
  uint32_t jobs = 0;       // of a private daemon; 0: as configured
  std::string deadline;    // of the whole command, "90s"; empty: none
  std::string color = "auto";
  std::string progress = "auto";
  bool json = false;
  bool quiet = false;
  int verbose = 0;                   // -v: 1, -vv: 2
  bool trace = false;                // the trace id at the end and on every error
  std::string diagnostics = "full";  // full, short or github
  std::string warnings;              // -Werror: "error"
};

// Declares them; `global` outlives the app.
void AddGlobal(CLI::App& app, Global& global);

// "unix:PATH" or "https://HOST:PORT": the flag, else KILN_DAEMON, else the user's socket.
std::string DaemonAddress(const Global& global);
client::Endpoint EndpointOf(const Global& global);
// Connects to nothing yet. Errors: as Client::Open.
Result<std::unique_ptr<client::Client>> OpenDaemon(const Global& global);

bool WantsColour(const Global& global, int descriptor);
uint32_t WidthOf(int descriptor);  // of a terminal; 100 if it is not one

}  // namespace kiln::cli
