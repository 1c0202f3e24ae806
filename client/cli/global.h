// SPDX-License-Identifier: MIT
// What every verb shares: global flags, exit codes, how errors and diagnostics are shown.
// See spec/cli 2 to 4, 7, 9
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/autostart.h"
#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::cli {

// Exit codes never change meaning (spec/cli 4).
enum ExitCode : int {
  kSuccess = 0,
  kWrongSource = 1,
  kUsage = 2,
  kNotFound = 3,
  kUnreachable = 4,
  kLimit = 5,
  kDeadline = 6,
  kIntegrity = 7,
  kPartial = 8,
  kNotPermitted = 9,
  kInternal = 70,
  kInterrupted = 130,
};

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

// "unix:PATH" or "https://HOST:PORT": the flag, else KILN_DAEMON, else the user's socket.
std::string DaemonAddress(const Global& global);
client::Endpoint EndpointOf(const Global& global);
// Connects to nothing yet. Errors: as Client::Open.
Result<std::unique_ptr<client::Client>> OpenDaemon(const Global& global);

// What the flags and KILN_LOG say of the log, before anything is connected. Errors:
// kInvalidArgument for another word in KILN_LOG.
Result<void> BeginSession(Global& global);
// Connects, starts the daemon if the flags allow it and says so on stderr.
Result<client::DaemonConnection> ConnectTo(const Global& global);
// Whether the last ConnectTo gave a daemon of this command.
bool IsPrivateDaemonInUse();
// What is left to tell of the daemon's work, then the end of a private one. Nothing is asked of a
// daemon behind it.
void EndSession(const Global& global);
// Ends the process with kDeadline when the time is over; a daemon notices at once. Errors:
// kInvalidArgument for what is not a duration.
Result<void> SetDeadline(const Global& global);

// Prints "error: …" (or an `error` object with --json) and returns the exit code of the error.
int Fail(const Global& global, const Error& error);
int ExitCodeOf(const Error& error);
// From now on only this thread fails and ends the command; another one that fails waits for the
// end.
void ClaimOutput();

// Shows diagnostics on stderr as --diagnostics says, or one JSON object per line on stdout. Sources
// give the snippets; `more` says where those are that are too many. Returns how many are errors.
size_t ShowDiagnostics(const Global& global, std::span<const PlacedDiagnostic> diagnostics,
                       std::span<const client::Source> sources, const std::string& program,
                       std::string_view more = "--json");
// The same as one JSON object, with all programs that have it.
void ShowMistake(const Global& global, const PlacedDiagnostic& diagnostic,
                 const std::set<std::string>& programs);
// The limit of lines begins anew: what follows is another answer.
void ResetDiagnosticsShown();
bool HasShownWarnings();

// What the last line of --json says of the verb: {"v":1,"type":"result",…}.
void NoteResult(const std::string& verb, double seconds,
                std::span<const std::pair<std::string, uint64_t>> counts);
// That line, and the trace if it was asked for; once. `verb`: if none was noted. Gives the exit
// code, which -Werror may change.
int EndCommand(const Global& global, const std::string& verb, int code);

// Runs a verb; what it gives or fails with is told by NoteResult or Fail. The exit code.
int RunTimed(const Global& global, const std::string& verb,
             const std::function<Result<int>()>& run);

bool WantsColour(const Global& global, int descriptor);
uint32_t WidthOf(int descriptor);  // of a terminal; 100 if it is not one

}  // namespace kiln::cli
