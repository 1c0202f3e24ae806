// SPDX-License-Identifier: MIT
// kiln: the command line of people and build scripts.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "client/call_log.h"
#include "client/cli/cut_file.h"
#include "client/cli/failure.h"
#include "client/cli/help/help.h"
#include "client/cli/help/version.h"
#include "client/cli/output/print.h"
#include "client/cli/session.h"
#include "client/cli/verbs.h"
#include "compiler/base/printable.h"

namespace kiln::cli {
namespace {

// "pack show"
std::string VerbOf(const CLI::App& app) {
  std::string verb;
  // From the root downwards along the verb that was used; a parser that stopped half-way has the
  // part that it understood.
  for (const CLI::App* used = &app; !used->get_subcommands().empty();) {
    used = used->get_subcommands().front();
    verb += (verb.empty() ? "" : " ") + used->get_name();
  }
  return verb;
}

// Its output is a script, words or a protocol: no line of JSON belongs behind them.
bool IsForShells(const CLI::App& app) {
  const std::string verb = VerbOf(app);
  return verb == "completion" || verb == "complete" || verb == "manual" || verb == "lsp";
}

// --json as it was meant, where the words could not be parsed.
bool WantsJson(int argc, char** argv) {
  // When parsing fails the flags have not been set, and the error must come in the form that the
  // caller reads. Words behind "--" are no flags.
  const char* environment = std::getenv("KILN_JSON");
  bool wanted = environment != nullptr && std::string_view(environment) == "1";
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    wanted = wanted || std::string_view(argv[i]) == "--json";
  }
  return wanted;
}

// What the parser stopped at: help that was asked for, or words that are wrong.
int AnswerParser(const CLI::App& app, const CLI::ParseError& error, Global& global, bool json) {
  // Help and the version are exceptions of the parser that are no mistake.
  if (error.get_exit_code() == 0) {
    return app.exit(error);
  }
  global.json = json;
  const std::string verb = VerbOf(app);
  const int code = Fail(
      global, {.code = ErrorCode::kInvalidArgument,
               .context = fmt::format("{}; see kiln{}{} -h", MisunderstoodText(app, error.what()),
                                      verb.empty() ? "" : " ", verb),
               .reason = "USAGE"});
  return EndCommand(global, verb, code);
}

// Runs the chosen verb; an exception, a bug of kiln, becomes a failure like any other.
int RunChosen(CommandLine& line) {
  Global& global = line.global;
  try {
    if (const Result<void> begun = BeginSession(global); !begun.ok()) {
      return Fail(global, begun.error());
    }
    if (const Result<void> limited = SetDeadline(global); !limited.ok()) {
      return Fail(global, limited.error());
    }
    return line.chosen();
  } catch (const std::system_error&) {
    throw;  // stdout is gone
  } catch (const std::exception& error) {
    return Fail(global, {.code = ErrorCode::kInternal,
                         .context = std::string("internal error: ") + error.what(),
                         .reason = "BUG"});
  }
}

int Run(int argc, char** argv) {
  CommandLine line;
  CLI::App app{"kiln"};
  app.name("kiln");
  SetHelp(app);
  app.set_version_flag("--version", VersionLine());
  app.require_subcommand(0, 1);
  // All verbs are declared before a word is read: help, completion and the manual walk over the
  // same declarations.
  AddGlobal(app, line.global);
  AddVerbs(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return AnswerParser(app, error, line.global, WantsJson(argc, argv));
  }
  if (!line.chosen) {
    Print("{}", Lines{VerbTable()});
    return kSuccess;
  }
  int code = RunChosen(line);
  // The last line belongs to the verb, and the end of a private daemon comes behind it: waiting for
  // that must not hold back the result.
  if (!IsForShells(app)) {
    code = EndCommand(line.global, VerbOf(app), code);
  }
  EndSession(line.global);
  return code;
}

}  // namespace
}  // namespace kiln::cli

namespace {

// A reader that stops is not an error; a full disk is.
int CannotWrite(int error, int code) {
  // `kiln … | head` closes the pipe early and is satisfied.
  if (error == EPIPE) {
    return code;
  }
  (void)std::fprintf(stderr, "error: cannot write to stdout: %s\n", std::strerror(error));
  const int own = error == ENOSPC ? kiln::cli::kLimit : kiln::cli::kNotFound;
  return code == kiln::cli::kSuccess ? own : code;
}

// A reader that stops is none.
bool IsFileOrDevice(std::FILE* file) {
  struct stat status {};
  return ::fstat(::fileno(file), &status) == 0 && !S_ISFIFO(status.st_mode) &&
         !S_ISSOCK(status.st_mode);
}

}  // namespace

int main(int argc, char** argv) {
  // gRPC writes its own log to stderr, which belongs to the messages of kiln.
  kiln::client::SilenceTransport();
  kiln::cli::AnswerCutFiles();
  int code = kiln::cli::kInternal;
  try {
    code = kiln::cli::Run(argc, argv);
  } catch (const std::system_error& error) {  // of fmt::print: files have results
    code = CannotWrite(error.code().value(), kiln::cli::kSuccess);
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "error: internal error: %s\n",
                       kiln::Printable(error.what()).c_str());
  }
  // The last bytes of a result are written here, and a full disk may only show now. An exit code of
  // 0 would claim that the file is whole.
  if (std::fflush(stdout) != 0) {
    code = CannotWrite(errno, code);
  } else if (code == kiln::cli::kSuccess && std::ferror(stdout) != 0 && IsFileOrDevice(stdout)) {
    // Help is written by a stream of C++, which flushes itself and tells nobody what went wrong.
    code = CannotWrite(ENOSPC, code);
  }
  (void)std::fflush(stderr);
  std::_Exit(code);  // gRPC's own shutdown may take seconds (docs: dependencies)
}
