// SPDX-License-Identifier: MIT
// The flags that every verb has (spec/cli 2), and what follows from them: which daemon is meant,
// and whether an output may have colour and how wide it is.
#include "client/cli/global.h"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "client/autostart.h"
#include "client/daemon_socket.h"

namespace kiln::cli {

// Flags with a variable of the environment are those that a person or a build machine sets once for
// all commands. The variable loses against the flag (spec/cli 2).
void AddGlobal(CLI::App& app, Global& global) {
  app.add_option("--manifest", global.manifest, "Manifest; default: the nearest kiln.toml")
      ->envname("KILN_MANIFEST");
  app.add_option("-C", global.folder, "Look for the manifest from this folder upwards");
  app.add_option("--daemon", global.daemon,
                 "unix:PATH or https://HOST:PORT; default: the user's socket (KILN_DAEMON)");
  app.add_option("--token-file", global.token_file, "https: file of the token")
      ->envname("KILN_TOKEN_FILE");
  app.add_option("--tls-ca", global.tls_ca, "https: who signs the daemon's certificate, PEM")
      ->envname("KILN_TLS_CA");
  app.add_option("--tls-cert", global.tls_cert, "https: certificate of this client, PEM")
      ->envname("KILN_TLS_CERT");
  app.add_option("--tls-key", global.tls_key, "https: private key of this client, PEM")
      ->envname("KILN_TLS_KEY");
  app.add_flag("--no-daemon", global.no_daemon, "A private daemon for this command alone");
  app.add_option("--autostart", global.autostart,
                 "Start the daemon when it is absent; auto: yes, but private where CI is set")
      ->check(CLI::IsMember({"yes", "no", "auto"}))
      ->envname("KILN_AUTOSTART");
  app.add_option("--color", global.color, "Colours")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->envname("KILN_COLOR");
  app.add_option("--progress", global.progress, "Progress on stderr")
      ->check(CLI::IsMember({"auto", "bar", "lines", "none"}))
      ->envname("KILN_PROGRESS");
  app.add_option("--deadline", global.deadline, "How long the command may take: 500ms, 90s, 5m")
      ->envname("KILN_DEADLINE");
  app.add_option("-j", global.jobs, "Parallel jobs of a private daemon")
      ->check(CLI::Range(1, 1024))
      ->envname("KILN_JOBS");
  app.add_flag("--json", global.json, "Machine output on stdout, one object per line")
      ->envname("KILN_JSON");
  app.add_option("--diagnostics", global.diagnostics,
                 "On stderr: with snippets, one line each for editors, or annotations of GitHub")
      ->check(CLI::IsMember({"full", "short", "github"}));
  app.add_option("-W", global.warnings, "-Werror: warnings end with 1, as errors do")
      ->check(CLI::IsMember({"error"}));
  app.add_flag("-q,--quiet", global.quiet, "Errors only; KILN_LOG=error does the same");
  app.add_flag("-v", global.verbose,
               "-v: times of the stages; -vv: every call of the daemon, too; KILN_LOG=verbose and "
               "KILN_LOG=debug do the same");
  app.add_flag("--trace", global.trace, "The trace id at the end and on every error");
}

// The flag wins over the variable, and the variable over the socket of the user.
std::string DaemonAddress(const Global& global) {
  if (!global.daemon.empty()) {
    return global.daemon;
  }
  // Read here and not by the parser, because an empty variable means the user's socket.
  const char* environment = std::getenv("KILN_DAEMON");
  if (environment != nullptr && *environment != '\0') {
    return environment;
  }
  return "unix:" + client::DefaultSocket();
}

client::Endpoint EndpointOf(const Global& global) {
  return {.address = DaemonAddress(global),
          .token_file = global.token_file,
          .tls_ca = global.tls_ca,
          .tls_cert = global.tls_cert,
          .tls_key = global.tls_key};
}

// No connection is made yet; the first call makes it. A wrong address or an unreadable token file
// fails here.
Result<std::unique_ptr<client::Client>> OpenDaemon(const Global& global) {
  return client::Client::Open(EndpointOf(global));
}

// The descriptor counts, not the program: stdout may be a file while stderr is a terminal.
bool WantsColour(const Global& global, int descriptor) {
  // "auto" follows the usual signs: a terminal, NO_COLOR (https://no-color.org) and a terminal that
  // can do nothing.
  if (global.color != "auto") {
    return global.color == "always";
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

uint32_t WidthOf(int descriptor) {
  // spec/cli 3.2
  constexpr uint32_t kWidthOfFiles = 100;
  winsize size{};
  // A terminal that was never told its size reports 0 columns.
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return known ? size.ws_col : kWidthOfFiles;
}

}  // namespace kiln::cli
