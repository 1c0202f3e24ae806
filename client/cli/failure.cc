// SPDX-License-Identifier: MIT
#include "client/cli/failure.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "client/cli/global.h"
#include "client/cli/output/diagnostics_view.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/session.h"
#include "client/error_detail.h"
#include "client/trace.h"

namespace kiln::cli {
namespace {

// The content of the last line; a verb notes it once.
struct VerbSummary {
  std::string verb;
  double seconds = 0;
  std::vector<std::pair<std::string, uint64_t>> counts;
};

// A verb knows its counts long before the last line is written, and the deadline may end the
// command in between. So they are noted here, where the end of the command finds them from any
// thread.
VerbSummary& Summary() {
  static VerbSummary noted;
  return noted;
}

// The text without the advice, which has a member of its own.
// The client appends the advice of a daemon to the text of an error, for readers of text. In JSON
// it would be there twice.
std::string MessageOf(const Error& error, const client::ErrorDetail& detail) {
  const std::string help = "; " + detail.help;
  return !detail.help.empty() && error.context.ends_with(help)
             ? error.context.substr(0, error.context.size() - help.size())
             : error.context;
}

void PrintJson(const Error& error, const client::ErrorDetail& detail, int code) {
  ErrorRow row = ErrorRowOf(error, code);
  row.message = MessageOf(error, detail);
  row.limit = detail.limit;
  row.max = detail.max;
  row.actual = detail.actual;
  row.retry_after_ms = detail.retry_after_ms;
  row.trace_id = detail.trace_id;
  row.help = detail.help;
  PrintLine(JsonOf(row));
}

// Where a daemon of this machine writes what it logs.
std::string LogText(const Global& global) {
  const std::string address = DaemonAddress(global);
  if (IsPrivateDaemonInUse()) {
    return "the log of a private daemon ends with it; repeat without --no-daemon to keep one";
  }
  // The daemon logs beside its socket; where a remote one logs this side cannot know.
  const size_t name = address.rfind('/');
  return address.starts_with("unix:") && name != std::string::npos
             ? fmt::format("log {}/kilnd.log", address.substr(5, name - 5))
             : fmt::format("the log is that of the daemon at {}", address);
}

void PrintText(const Global& global, const Error& error, const client::ErrorDetail& detail) {
  Print(stderr, "error: {}\n", Message{error.context});
  // Only a bug names its trace unasked: it is what a report needs, and noise everywhere else.
  if (error.code == ErrorCode::kInternal) {
    Print(stderr,
          "  trace {}; {}\n  this is a bug of kiln; please report it with the file that "
          "'kiln doctor --bundle report.json' writes\n",
          detail.trace_id, LogText(global));
  } else if (global.trace) {
    Print(stderr, "  trace {}\n", detail.trace_id);
  }
}

// The deadline thread ends the command while the verb is still at work, and calls that are cut off
// by that fail. The first thread that claims the output keeps it, so that one error is told and not
// a second one that is only its echo.
std::atomic<bool> last_word_is_taken = false;
thread_local bool has_last_word = false;

}  // namespace

int ExitCodeOf(const Error& error) {
  // One exit code for each kind of failure (spec/cli 4). The codes of the command are coarser than
  // those of errors, since scripts branch on them.
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kUnimplemented:
      return kUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kOutOfRange:
      return kNotFound;
    case ErrorCode::kUnavailable:
      return kUnreachable;
    case ErrorCode::kResourceExhausted:
      return kLimit;
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kCancelled:
      return kDeadline;
    case ErrorCode::kDataLoss:
    case ErrorCode::kAborted:
      return kIntegrity;
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnauthenticated:
      return kNotPermitted;
    case ErrorCode::kInternal:
      return kInternal;
  }
  return kInternal;
}

void ClaimOutput() {
  has_last_word = true;
  last_word_is_taken = true;
}

int Fail(const Global& global, const Error& error) {
  while (last_word_is_taken && !has_last_word) {
    (void)::pause();  // what fails because the command ends has nothing to say, and it ends
  }
  const int code = ExitCodeOf(error);
  client::ErrorDetail detail = client::DetailOf(error).value_or(client::ErrorDetail());
  // An error of this side has no detail of the daemon, but the trace of the command covers it.
  if (detail.trace_id.empty()) {
    detail.trace_id = client::TraceId();
  }
  if (global.json) {
    PrintJson(error, detail, code);
  } else {
    PrintText(global, error, detail);
  }
  return code;
}

void NoteResult(const std::string& verb, double seconds,
                std::span<const std::pair<std::string, uint64_t>> counts) {
  Summary() = {.verb = verb, .seconds = seconds, .counts = {counts.begin(), counts.end()}};
}

// A failure keeps its own code: that there were warnings as well does not matter then.
int ExitWithWarnings(const Global& global, int code) {
  const bool are_errors = global.warnings == "error" && HasShownWarnings();
  return code == kSuccess && are_errors ? int{kWrongSource} : code;
}

int EndCommand(const Global& global, const std::string& verb, int code) {
  // The verb and the deadline may both come here; whoever is first writes the last line.
  static std::atomic<bool> ended = false;
  if (ended.exchange(true)) {
    return code;
  }
  if (const int with_warnings = ExitWithWarnings(global, code); with_warnings != code) {
    if (!global.json) {
      Print(stderr, "error: {}\n", kWarningsAreErrors);
    }
    code = with_warnings;
  }
  if (global.json) {
    const VerbSummary& noted = Summary();
    PrintLine(JsonOf(ResultRow{.verb = noted.verb.empty() ? verb : noted.verb,
                               .counts = noted.counts,
                               .seconds = noted.seconds,
                               .trace_id = client::TraceId(),
                               .exit = code}));
  } else if (global.trace) {
    Print(stderr, "trace {}\n", client::TraceId());
  }
  return code;
}

int RunTimed(const Global& global, const std::string& verb,
             const std::function<Result<int>()>& run) {
  const auto start = std::chrono::steady_clock::now();
  // Time is noted for failures, too: the last line of JSON has it whatever the verb came to.
  const Result<int> exit = run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  NoteResult(verb, seconds.count(), {});
  return exit.ok() ? *exit : Fail(global, exit.error());
}

}  // namespace kiln::cli
