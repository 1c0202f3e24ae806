// SPDX-License-Identifier: MIT
// kiln: the command line of people and build scripts.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "client/cli/app.h"
#include "client/cli/completion.h"
#include "client/cli/manual.h"
#include "client/project/manifest.h"
#include "compiler/base/file.h"

namespace kiln::cli {
namespace {

constexpr char kVersion[] = "kiln 0.1.0";
constexpr char kVerbs[] =
    "kiln turns shader sources into everything an engine draws with\n\n"
    "start here    kiln init      write kiln.toml from the sources found\n"
    "look at one   kiln compile   one variant, artifacts to files\n"
    "              kiln explain   why a hit, why a miss\n"
    "              kiln inspect   a variant or a file of one as text\n"
    "              kiln options   the option space of a program, with counts\n"
    "              kiln preview   a variant, or a grid of them, as a picture\n"
    "              kiln graph     the plan of a frame, and a picture of it\n"
    "              kiln watch     rebuild on save, show what is wrong\n"
    "build         kiln build     every variant of kiln.toml\n"
    "              kiln batch     list, attach, items, pause, resume, cancel\n"
    "              kiln fetch     download results, as an engine would\n"
    "              kiln pack      build, show, verify, diff, flatten, extract packs\n"
    "operate       kiln status    daemon, queue, batches, cache, health\n"
    "              kiln doctor    check the installation, with what to do\n"
    "              kiln cache     stats, gc, verify, repair, export, import, pins, why\n"
    "              kiln serve     the daemon in the foreground\n"
    "              kiln start     the daemon in the background\n"
    "              kiln stop      finish running work, then end\n"
    "              kiln config    the configuration in force; check a file\n"
    "              kiln token     create, list, revoke tokens of TCP clients\n"
    "              kiln version   of this program\n"
    "              kiln completion  a script for bash, zsh or fish\n\n"
    "kiln VERB --help shows flags and examples\n";

void AddVersion(CLI::App& app, Arguments& a, Action& chosen) {
  AddVerb(app, "version", "The version of this program", "  kiln version\n  kiln version --json",
          chosen, [&a] {
            if (a.global.json) {
              fmt::print("{{\"v\":1,\"type\":\"version\",\"version\":\"{}\"}}\n",
                         std::string_view(kVersion).substr(sizeof("kiln ") - 1));
            } else {
              fmt::print("{}\n", kVersion);
            }
            return int{kSuccess};
          });
}

void AddCompletion(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* script = AddVerb(app, "completion", "Print a completion script for a shell",
                             "  kiln completion bash >> ~/.bashrc\n"
                             "  kiln completion fish > ~/.config/fish/completions/kiln.fish",
                             chosen, [&a] {
                               fmt::print("{}", CompletionScript(a.shell));
                               return int{kSuccess};
                             });
  script->add_option("shell", a.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  CLI::App* complete =
      AddVerb(app, "complete", "What the last of the words may become", "", chosen, [&app, &a] {
        for (const std::string& candidate : Candidates(app, a.global, a.words)) {
          fmt::print("{}\n", candidate);
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

// "unknown verb 'buld'; did you mean 'build'?", or empty if the first word is no verb.
std::string UnknownVerb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    return {};
  }
  std::vector<std::string_view> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == argv[1]) {
      return {};
    }
    verbs.push_back(verb->get_name());
  }
  const std::string_view closest = project::Closest(argv[1], verbs);
  return fmt::format("unknown verb '{}'{}", argv[1],
                     closest.empty() ? std::string("; kiln alone lists the verbs")
                                     : fmt::format("; did you mean '{}'?", closest));
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

int Run(int argc, char** argv) {
  CLI::App app{"kiln"};
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
  if (const std::string unknown = UnknownVerb(app, argc, argv); !unknown.empty()) {
    fmt::print(stderr, "error: {}\n", unknown);
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? int{kSuccess} : int{kUsage};
  }
  if (!chosen) {
    fmt::print("{}", kVerbs);
    return kSuccess;
  }
  const Result<void> limited = SetDeadline(arguments.global);
  const int code = limited.ok() ? chosen() : Fail(arguments.global, limited.error());
  if (!ResultWasPrinted() && !IsForShells(app)) {
    PrintResult(arguments.global, VerbOf(app), code, 0, {});
  }
  return code;
}

}  // namespace
}  // namespace kiln::cli

namespace {

// A reader that stops is no error; a disk that is full is one.
int CannotWrite(int error, int code) {
  if (error == EPIPE) {
    return code;
  }
  (void)std::fprintf(stderr, "error: cannot write to stdout: %s\n", std::strerror(error));
  return code == kiln::cli::kSuccess ? int{kiln::cli::kNotFound} : code;
}

}  // namespace

int main(int argc, char** argv) {
  int code = kiln::cli::kInternal;
  try {
    code = kiln::cli::Run(argc, argv);
  } catch (const std::system_error& error) {  // of fmt::print: files have results
    code = CannotWrite(error.code().value(), kiln::cli::kSuccess);
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "error: internal error: %s\n", error.what());
  }
  if (std::fflush(stdout) != 0) {
    code = CannotWrite(errno, code);
  }
  (void)std::fflush(stderr);
  std::_Exit(code);  // gRPC's own shutdown may take seconds (docs: dependencies)
}
