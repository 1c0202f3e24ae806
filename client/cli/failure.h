// SPDX-License-Identifier: MIT
// How a command says that it failed, what it came to, and how it ends. See spec/cli 4, 7.1, 9.4
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/global.h"
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

// Prints "error: …" (or an `error` object with --json) and returns the exit code of the error.
int Fail(const Global& global, const Error& error);
int ExitCodeOf(const Error& error);
// From now on only this thread fails and ends the command; another one that fails waits for the
// end.
void ClaimOutput();

// Of the result line of --json.
using Counts = std::vector<std::pair<std::string, uint64_t>>;

// What the last line of --json says of the verb: {"v":1,"type":"result",…}.
void NoteResult(const std::string& verb, double seconds,
                std::span<const std::pair<std::string, uint64_t>> counts);
// What a command that comes to `code` ends with: -Werror makes warnings that were shown errors.
int ExitWithWarnings(const Global& global, int code);
// Why that is another code.
inline constexpr std::string_view kWarningsAreErrors =
    "there are warnings, and -Werror makes them errors";
// That line, and the trace if it was asked for; once. `verb`: if none was noted. Gives the exit
// code, which -Werror may change.
int EndCommand(const Global& global, const std::string& verb, int code);

// Runs a verb; what it gives or fails with is told by NoteResult or Fail. The exit code.
int RunTimed(const Global& global, const std::string& verb,
             const std::function<Result<int>()>& run);

}  // namespace kiln::cli
