// SPDX-License-Identifier: MIT
#include "client/cli/app.h"

namespace kiln::cli {

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
  app.add_flag("-q,--quiet", global.quiet, "Errors only");
}

}  // namespace kiln::cli
