// SPDX-License-Identifier: MIT
// kiln: the command line of people and build scripts.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "client/cli/verbs.h"

namespace kiln::cli {
namespace {

constexpr char kVersion[] = "kiln 0.1.0";
constexpr char kVerbs[] =
    "kiln turns shader sources into everything an engine draws with\n\n"
    "look at one   kiln compile   one variant, artifacts to files\n"
    "              kiln inspect   a variant or a file of one as text\n"
    "              kiln graph     the plan of a frame, and a picture of it\n"
    "build         kiln build     every variant of kiln.toml\n"
    "              kiln fetch     download results, as an engine would\n"
    "operate       kiln status    daemon, queue, batches\n"
    "              kiln serve     the daemon in the foreground\n"
    "              kiln start     the daemon in the background\n"
    "              kiln stop      finish running work, then end\n\n"
    "kiln VERB --help shows flags and examples\n";

using Action = std::function<int()>;

void AddGlobal(CLI::App& app, Global& global) {
  app.add_option("--manifest", global.manifest, "Manifest; default: the nearest kiln.toml")
      ->envname("KILN_MANIFEST");
  app.add_option("-C", global.folder, "Look for the manifest from this folder upwards");
  app.add_option("--daemon", global.daemon, "unix:PATH; default: the user's socket (KILN_DAEMON)");
  app.add_option("--autostart", global.autostart, "Start the daemon when it is absent")
      ->check(CLI::IsMember({"yes", "no", "auto"}))
      ->envname("KILN_AUTOSTART");
  app.add_option("--color", global.color, "Colours")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->envname("KILN_COLOR");
  app.add_option("--progress", global.progress, "Progress on stderr")
      ->check(CLI::IsMember({"auto", "bar", "lines", "none"}))
      ->envname("KILN_PROGRESS");
  app.add_flag("--json", global.json, "Machine output on stdout, one object per line")
      ->envname("KILN_JSON");
  app.add_flag("-q,--quiet", global.quiet, "Errors only");
}

CLI::App* AddVerb(CLI::App& app, const char* name, const char* what, const char* examples,
                  Action& chosen, Action action) {
  CLI::App* verb = app.add_subcommand(name, what);
  verb->fallthrough();
  verb->footer(std::string("Examples:\n") + examples);
  verb->callback([&chosen, action = std::move(action)] { chosen = action; });
  return verb;
}

struct Arguments {
  Global global;
  CompileArguments compile;
  BuildArguments build;
  FetchArguments fetch;
  InspectArguments inspect;
  GraphArguments graph;
  std::vector<std::string> serve;
};

// What names one variant.
void AddVariant(CLI::App& verb, VariantArguments& variant) {
  verb.add_option("what", variant.what, "A program of the manifest, or files")->required();
  verb.add_option("--entry", variant.entries, "Files: STAGE=FUNCTION; repeatable")->take_all();
  verb.add_option("-o,--option", variant.options, "NAME=VALUE; repeatable")->take_all();
  verb.add_option("--pipeline", variant.pipeline, "Files: graphics_classic or compute")
      ->check(CLI::IsMember({"graphics_classic", "compute"}));
  verb.add_option("--env", variant.environment, "Files: vulkan1.0 to vulkan1.4")
      ->check(CLI::IsMember({"vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3", "vulkan1.4"}));
  verb.add_flag("--combined", variant.combined, "Files: one module for all entry points");
  verb.add_flag("--retry-failed", variant.retry_failed, "Compile again what failed before");
}

void AddCompile(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(
      app, "compile", "Compile one variant",
      "  kiln compile rock/forward -o fog -o lights=4 --out out\n"
      "  kiln compile rock.rpl --entry vertex=main_vertex --entry fragment=main_fragment --out out",
      chosen, [&a] { return RunCompile(a.global, a.compile); });
  AddVariant(*verb, a.compile.variant);
  verb->add_option("--out", a.compile.out, "Folder for the artifacts");
  verb->add_option("--meta", a.compile.meta, "File for the metadata as JSON");
}

void AddBuild(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(app, "build", "Build every variant of the manifest",
                           "  kiln build\n  kiln build 'rock/*' --out results", chosen,
                           [&a] { return RunBuild(a.global, a.build); });
  verb->add_option("programs", a.build.programs, "Names or globs; default: all");
  verb->add_flag("--retry-failed", a.build.retry_failed, "Compile again what failed before");
  verb->add_option("--out", a.build.out, "Folder for the results");
  CLI::App* fetch = AddVerb(app, "fetch", "Download results, as an engine would",
                            "  kiln fetch --all --out run/shaders", chosen,
                            [&a] { return RunFetch(a.global, a.fetch); });
  fetch->add_option("programs", a.fetch.programs, "Names or globs");
  fetch->add_flag("--all", a.fetch.all, "Every program");
  fetch->add_option("--out", a.fetch.out, "Folder for the results")->required();
}

void AddDaemon(CLI::App& app, Arguments& a, Action& chosen) {
  AddVerb(app, "status", "Daemon, queue, batches", "  kiln status\n  kiln status --json", chosen,
          [&a] { return RunStatus(a.global); });
  CLI::App* serve = AddVerb(app, "serve", "Run the daemon in the foreground", "  kiln serve",
                            chosen, [&a] { return RunServe(a.global, a.serve); });
  serve->allow_extras()->add_option("flags", a.serve, "Flags of kilnd, after --");
  AddVerb(app, "start", "Start the daemon in the background", "  kiln start", chosen,
          [&a] { return RunStart(a.global); });
  AddVerb(app, "stop", "Finish running work, then end the daemon", "  kiln stop", chosen,
          [&a] { return RunStop(a.global); });
}

void AddInspect(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* inspect =
      AddVerb(app, "inspect", "Show a variant, or a SPIR-V or metadata file, as text",
              "  kiln inspect rock/forward -o fog --view disasm\n"
              "  kiln inspect out/rock.meta --view layout\n"
              "  kiln inspect out/rock.0aef2595.fragment.spv",
              chosen, [&a] { return RunInspect(a.global, a.inspect); });
  AddVariant(*inspect, a.inspect.variant);
  inspect->add_option("--view", a.inspect.views, "Default: stats, meta, options")
      ->delimiter(',')
      ->check(CLI::IsMember({"stats", "meta", "options", "layout", "disasm"}));
}

void AddGraph(CLI::App& app, Arguments& a, Action& chosen) {
  CLI::App* verb = AddVerb(app, "graph", "Plan a frame and draw the plan",
                           "  kiln graph frame.json\n  kiln graph frame.json --svg frame.svg",
                           chosen, [&a] { return RunGraph(a.global, a.graph); });
  verb->add_option("file", a.graph.file, "Frame description (docs/RENDER_GRAPH.md)")->required();
  verb->add_option("--svg", a.graph.svg, "File for the picture");
  verb->add_option("--dot", a.graph.dot, "File for Graphviz");
  verb->add_option("--json", a.graph.json, "File for the plan as JSON; - is stdout");
  verb->add_option("--order", a.graph.order, "priority, declared, levels or random")
      ->check(CLI::IsMember({"priority", "declared", "levels", "random"}));
  verb->add_option("--seed", a.graph.seed, "Of the random order");
  verb->add_option("--effort", a.graph.effort, "Packing: fast, normal or search")
      ->check(CLI::IsMember({"fast", "normal", "search"}));
  verb->add_flag("--no-cull", a.graph.no_cull, "Keep passes that nothing needs");
  verb->add_flag("--no-alias", a.graph.no_alias, "Bytes of its own for every resource");
  verb->add_flag("--unify-reads", a.graph.unify_reads, "One layout for all readers of a version");
}

int Run(int argc, char** argv) {
  CLI::App app{"kiln"};
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(0, 1);
  Arguments arguments;
  Action chosen;
  AddGlobal(app, arguments.global);
  AddCompile(app, arguments, chosen);
  AddBuild(app, arguments, chosen);
  AddInspect(app, arguments, chosen);
  AddDaemon(app, arguments, chosen);
  AddGraph(app, arguments, chosen);
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
  return chosen();
}

}  // namespace
}  // namespace kiln::cli

int main(int argc, char** argv) {
  int code = kiln::cli::kInternal;
  try {
    code = kiln::cli::Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: internal error: %s\n", error.what());
  }
  (void)std::fflush(stdout);
  (void)std::fflush(stderr);
  std::_Exit(code);  // gRPC's own shutdown may take seconds (docs: dependencies)
}
