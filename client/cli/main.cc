// SPDX-License-Identifier: MIT
// kiln: the command line of people and build scripts.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "client/cli/app.h"
#include "client/cli/completion.h"
#include "client/cli/help.h"
#include "client/cli/manual.h"
#include "client/cli/print.h"
#include "client/transport_log.h"
#include "compiler/base/file.h"
#include "compiler/base/printable.h"

namespace kiln::cli {
namespace {

constexpr char kVersion[] = "kiln 0.1.0";

void AddVersion(CLI::App& app, Arguments& a, Action& chosen) {
  AddVerb(app, "version", "The version of this program", "  kiln version\n  kiln version --json",
          chosen, [&a] {
            if (a.global.json) {
              Print("{{\"v\":1,\"type\":\"version\",\"version\":\"{}\"}}\n",
                    std::string_view(kVersion).substr(sizeof("kiln ") - 1));
            } else {
              Print("{}\n", kVersion);
            }
            return int{kSuccess};
          });
}

void AddCompletion(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* script = AddVerb(app, "completion", "Print a completion script for a shell",
                             "  kiln completion bash >> ~/.bashrc\n"
                             "  kiln completion fish > ~/.config/fish/completions/kiln.fish",
                             chosen, [&a] {
                               Print("{}", Lines{CompletionScript(a.shell)});
                               return int{kSuccess};
                             });
  script->add_option("shell", a.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  CLI::App* complete =
      AddVerb(app, "complete", "What the last of the words may become", "", chosen, [&app, &a] {
        for (const std::string& candidate : Candidates(app, a.global, a.words)) {
          Print("{}\n", candidate);
        }
        return int{kSuccess};
      });
  complete->group("")->add_option("words", a.words, "Words so far, after --");
}

// Hidden: for packagers.
void AddManual(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(
      app, "manual", "Write the manual pages", "  kiln manual --out man", chosen, [&app, &a] {
        for (const auto& [name, text] : ManualPages(app, kVersion)) {
          const Result<void> written = WriteFile(a.manual + "/" + name, AsBytes(text));
          if (!written.ok()) {
            return Fail(a.global, written.error());
          }
        }
        return int{kSuccess};
      });
  verb->group("")->add_option("--out", a.manual, "Folder")->required();
}

// "pack show"
std::string VerbOf(const CLI::App& app) {
  std::string verb;
  for (const CLI::App* used = &app; !used->get_subcommands().empty();) {
    used = used->get_subcommands().front();
    verb += (verb.empty() ? "" : " ") + used->get_name();
  }
  return verb;
}

// Its output is a script or words: no line of JSON belongs behind them.
bool IsForShells(const CLI::App& app) {
  const std::string verb = VerbOf(app);
  return verb == "completion" || verb == "complete" || verb == "manual";
}

// --json as it was meant, where the words could not be parsed.
bool WantsJson(int argc, char** argv) {
  const char* environment = std::getenv("KILN_JSON");
  bool wanted = environment != nullptr && std::string_view(environment) == "1";
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    wanted = wanted || std::string_view(argv[i]) == "--json";
  }
  return wanted;
}

// What the parser stopped at: help that was asked for, or words that are wrong.
int AnswerParser(const CLI::App& app, const CLI::ParseError& error, Global& global, bool json) {
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
int RunChosen(Global& global, const Action& chosen) {
  try {
    if (const Result<void> begun = BeginSession(global); !begun.ok()) {
      return Fail(global, begun.error());
    }
    if (const Result<void> limited = SetDeadline(global); !limited.ok()) {
      return Fail(global, limited.error());
    }
    return chosen();
  } catch (const std::system_error&) {
    throw;  // stdout is gone
  } catch (const std::exception& error) {
    return Fail(global, {.code = ErrorCode::kInternal,
                         .context = std::string("internal error: ") + error.what(),
                         .reason = "BUG"});
  }
}

int Run(int argc, char** argv) {
  CLI::App app{"kiln"};
  app.name("kiln");
  SetHelp(app);
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(0, 1);
  Arguments arguments;
  Action chosen;
  AddGlobal(app, arguments.global);
  AddLookVerbs(app, arguments, chosen);
  AddBuildVerbs(app, arguments, chosen);
  AddOperatorVerbs(app, arguments, chosen);
  AddVersion(app, arguments, chosen);
  AddCompletion(app, arguments, chosen);
  AddManual(app, arguments, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return AnswerParser(app, error, arguments.global, WantsJson(argc, argv));
  }
  if (!chosen) {
    Print("{}", Lines{VerbTable()});
    return kSuccess;
  }
  int code = RunChosen(arguments.global, chosen);
  if (!IsForShells(app)) {
    code = EndCommand(arguments.global, VerbOf(app), code);
  }
  EndSession(arguments.global);
  return code;
}

}  // namespace
}  // namespace kiln::cli

namespace {

// A reader that stops is not an error; a full disk is.
int CannotWrite(int error, int code) {
  if (error == EPIPE) {
    return code;
  }
  (void)std::fprintf(stderr, "error: cannot write to stdout: %s\n", std::strerror(error));
  return code == kiln::cli::kSuccess ? int{kiln::cli::kNotFound} : code;
}

}  // namespace

int main(int argc, char** argv) {
  kiln::client::SilenceTransport();
  int code = kiln::cli::kInternal;
  try {
    code = kiln::cli::Run(argc, argv);
  } catch (const std::system_error& error) {  // of fmt::print: files have results
    code = CannotWrite(error.code().value(), kiln::cli::kSuccess);
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "error: internal error: %s\n",
                       kiln::Printable(error.what()).c_str());
  }
  if (std::fflush(stdout) != 0) {
    code = CannotWrite(errno, code);
  }
  (void)std::fflush(stderr);
  std::_Exit(code);  // gRPC's own shutdown may take seconds (docs: dependencies)
}
