// SPDX-License-Identifier: MIT
// The steps of `kiln build` (spec/cli 6.2): check what was typed, connect, load the project, run
// the batch to its end, then write what was asked for, then reports, then the summary. A failure of
// an output comes behind the batch and does not undo it: results are in the cache. The exit code is
// decided once, at the end.
#include "client/cli/batch/build.h"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/batch/batch.h"
#include "client/cli/batch/batch_run.h"
#include "client/cli/batch/dry_run.h"
#include "client/cli/batch/fetch.h"
#include "client/cli/failure.h"
#include "client/cli/output/depfile.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/report.h"
#include "client/cli/output/results.h"
#include "client/cli/output/shell_word.h"
#include "client/cli/output/units.h"
#include "client/cli/pack/build.h"
#include "client/cli/project/mistakes.h"
#include "client/cli/project/unread_axes.h"
#include "client/cli/session.h"
#include "client/includes/include_set.h"
#include "compiler/base/files/beneath.h"
#include "compiler/base/files/file.h"
#include "compiler/diag/render.h"

namespace kiln::cli {
namespace {

struct BuildArguments {
  std::vector<std::string> programs;  // names or globs; none = all
  std::vector<std::string> targets;   // names; none = all
  std::string where;                  // expression; builds only variants where it is true
  bool dry_run = false;               // counts, compiles nothing
  bool retry_failed = false;
  std::string out;                   // folder for results
  std::string pack;                  // file
  std::vector<std::string> reports;  // FORMAT:FILE
  std::string on_error = "continue";
  bool fail_fast = false;
  bool detach = false;
  std::optional<std::string> resume;  // id, or how it begins; empty: the latest of the project
  uint64_t explore = 0;
  uint32_t priority = 0;
  std::string pin;  // name
  std::string durability = "local";
  std::string deps;            // dependency file
  std::string depfile_target;  // what it is about
};

using Time = std::chrono::steady_clock::time_point;

// Wall time of the whole command, with reading and uploading. The steady clock: a clock that is set
// during an hour of building must not make the wall time wrong.
double SecondsSince(Time start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// At most eight lines (spec/cli 6.2.4).
void PrintSummary(const Global& global, const Project& project, const BatchOutcome& batch,
                  double seconds, int exit) {
  const client::BatchProgress& p = batch.progress;
  const uint64_t hits = p.hit_memory + p.hit_local + p.hit_upstream;
  const uint64_t failed = p.failed + p.limited + p.poisoned;
  // Numbers of variants come as decimal text, since they may be larger than 64 bits
  // (spec/daemon 6.4). The count of the result line takes as much of it as fits.
  const std::vector<std::pair<std::string, uint64_t>> counts{
      {"programs", project.programs.size()},
      {"variants", std::strtoull(p.variants_served.c_str(), nullptr, 10)},
      {"results", p.results_done},
      {"modules", p.code_distinct},
      {"compiled", p.compiled},
      {"hits", hits},
      {"shared", p.shared},
      {"failed", failed}};
  NoteResult("build", seconds, counts);
  if (global.json || global.quiet) {
    return;
  }
  Print("build {}  {} programs, {} variants allowed   batch {}\n", project.manifest.name,
        project.programs.size(), p.variants_total, batch.id.substr(0, 8));
  Print("  {} distinct results   {} unique SPIR-V modules{}   {}\n", p.results_done,
        p.code_distinct, p.dedup_ratio < 1 ? "" : fmt::format("   dedup {:.1f}x", p.dedup_ratio),
        SizeText(p.bytes_out));
  Print("  {} cached   {} compiled   {} shared   {} failed\n", hits, p.compiled, p.shared, failed);
  Print("  wall {:.2f} s   compile cpu {:.2f} s   saved {:.2f} s\n", seconds,
        static_cast<double>(p.cpu_ms) / 1000.0, static_cast<double>(p.cpu_saved_ms) / 1000.0);
  for (const client::BatchProgress::Slow& slow : p.slowest) {
    if (slow.ms == 0) {
      continue;  // not worth a line
    }
    const std::string options = client::OptionsText(slow.options);
    Print("  slowest {}{}{}   {} ms\n", slow.program, options.empty() ? "" : " ", options, slow.ms);
  }
  if (exit == kSuccess) {
    Print("ok. again: kiln build   one file for the engine: kiln pack build --out {}\n",
          ShellWord((project.manifest.name.empty() ? "all" : project.manifest.name) + ".kpack"));
  }
}

// Writes blobs by content id and an index that leads from programs and options to them. Content
// first and the index last, so an index never names what is not there. Names are digests and one
// word, and both are written below the folder alone (spec/daemon 11.6).
Result<void> WriteResults(const std::string& folder, const FetchResult& fetched) {
  nlohmann::ordered_json index = nlohmann::ordered_json::array();
  for (const auto& [id, bytes] : fetched.blobs) {
    KILN_TRY_VOID(WriteFileBeneath(folder, "blobs/" + id.hex(), bytes));
  }
  for (const client::Outcome& outcome : fetched.outcomes) {
    for (const client::Artifact& artifact : outcome.artifacts) {
      index.push_back(IndexRow(artifact));
    }
  }
  return WriteFileBeneath(folder, "index.json", AsBytes(index.dump(1)));
}

// All results of the batch in memory: their sum is what goes to disk, each content once. So a build
// that is larger than the memory of this machine cannot be written with --out.
Result<FetchResult> FetchAll(client::Client& client, const std::string& batch) {
  FetchResult fetched;
  KILN_TRY(fetched.done, client.FetchBatch(batch, {}, Collect(fetched)));
  return fetched;
}

client::OnError OnErrorOf(const BuildArguments& arguments) {
  return arguments.fail_fast || arguments.on_error == "stop" ? client::OnError::kStop
         : arguments.on_error == "stop-program"              ? client::OnError::kStopProgram
                                                             : client::OnError::kContinue;
}

// The budget is left out: the spaces carry it, and RunBatch adds what the manifest says.
client::BatchOptions OptionsOf(const BuildArguments& arguments) {
  return {.retry_failed = arguments.retry_failed,
          .pin = arguments.pin,
          .targets = arguments.targets,
          .filter = arguments.where,
          .on_error = OnErrorOf(arguments),
          .priority = arguments.priority,
          .detach = arguments.detach,
          .explore = arguments.explore,
          .quorum = arguments.durability == "quorum",
          .budget = {}};
}

// Starts the batch and leaves it; it goes on over restarts of the daemon (spec/daemon 7.1). The
// budget goes along, since nobody is there to be asked.
int Detach(const Global& global, const Project& project, client::Client& client,
           const BuildArguments& arguments, Time start) {
  client::BatchOptions how = OptionsOf(arguments);
  const project::ManifestBudget& budget = project.manifest.budget;
  how.budget = {.results = budget.results,
                .variants = budget.variants,
                .cpu_ms = budget.cpu_ms,
                .output = budget.output};
  const Result<std::string> id = client.StartBatch(project.manifest.name, project.spaces, how);
  if (!id.ok() && id.error().reason == "BAD_EXPRESSION") {
    return Fail(global, WithMistakes(global, project, how.filter, id.error(), client));
  }
  if (!id.ok()) {
    return Fail(global, id.error());
  }
  if (global.json) {
    PrintLine({{"v", 1}, {"type", "batch"}, {"id", *id}});
  } else {
    Print("batch {} runs in the daemon; follow it: kiln batch attach {}\n", *id, id->substr(0, 8));
  }
  NoteResult("build", SecondsSince(start), {});
  return kSuccess;
}

// Sources and manifest, as somebody in the working directory names them. What Make and Ninja have
// to look at. Files that includes lead to are among the texts; files that were looked for in vain
// cannot be named in such a file.
std::vector<std::string> Dependencies(const Project& project) {
  std::vector<std::string> files{project.manifest.path};
  for (const LoadedProgram& loaded : project.programs) {
    for (const client::Source& source : client::TextsOf(loaded.program)) {
      files.push_back(project.manifest.folder.empty()
                          ? source.path
                          : project.manifest.folder + "/" + source.path);
    }
  }
  return files;
}

// What follows a build that went well, but for reports. The depfile is written only after the
// results, so that a build that was cut short is repeated.
Result<void> WriteOutputs(const BuildArguments& arguments, const Project& project,
                          const BatchOutcome& batch, client::Client& client) {
  if (!arguments.out.empty()) {
    KILN_TRY(const FetchResult fetched, FetchAll(client, batch.id));
    KILN_TRY_VOID(WriteResults(arguments.out, fetched));
  }
  if (!arguments.deps.empty()) {
    const std::string target = !arguments.depfile_target.empty() ? arguments.depfile_target
                               : !arguments.out.empty()          ? arguments.out + "/index.json"
                                                                 : arguments.pack;
    KILN_TRY_VOID(WriteDepfile(arguments.deps, target, Dependencies(project)));
  }
  return {};
}

// What does not fit together, before anything is asked of a daemon.
Result<void> CheckArguments(const BuildArguments& arguments) {
  KILN_TRY_VOID(CheckReports(arguments.reports));
  if (!arguments.deps.empty() && arguments.out.empty() && arguments.pack.empty() &&
      arguments.depfile_target.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context =
                     "--deps needs --out, --pack or --depfile-target: what depends on the "
                     "sources",
                 .reason = "USAGE"};
  }
  if (arguments.detach && (!arguments.out.empty() || !arguments.pack.empty() ||
                           !arguments.deps.empty() || !arguments.reports.empty())) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "--detach ends before there is anything to write",
                 .reason = "USAGE"};
  }
  return {};
}

// What -Werror is about: warnings of results that are all right, each place once. Warnings are with
// the results, which were not shown while the batch ran.
Result<void> ShowWarnings(const Global& global, const Project& project, client::Client& client,
                          const std::string& batch) {
  KILN_TRY(const std::vector<client::BatchItem> items, client.BatchItems(batch, {}));
  Mistakes mistakes(global);
  for (const client::BatchItem& item : items) {
    for (const LoadedProgram& loaded : project.programs) {
      if (loaded.program.name == item.program && item.outcome.kind == client::OutcomeKind::kOk) {
        (void)mistakes.Add(item.program, item.outcome.diagnostics, loaded.program.sources);
      }
    }
  }
  mistakes.End();
  return {};
}

// Whether a build asks for nothing that the daemon would have to make or keep for it. A pin, a pack
// or a filter would be quietly left out by a mere fetch, so such a build fails for a reader
// instead.
bool IsPlain(const BuildArguments& arguments) {
  return arguments.pack.empty() && arguments.deps.empty() && arguments.reports.empty() &&
         arguments.pin.empty() && arguments.where.empty() && arguments.targets.empty() &&
         arguments.explore == 0 && !arguments.retry_failed;
}

// A build of somebody who may only read: what is in the cache is served, and a miss is an error. A
// reader's build is a fetch: same results, same outputs, and what is missing is an error.
int BuildKnown(const Global& global, const BuildArguments& arguments, const Error& refused) {
  if (!global.json && !global.quiet) {
    Print(stderr, "scope read: what is in the cache is served, nothing is compiled\n");
  }
  return RunFetch(global, {.programs = arguments.programs,
                           .all = arguments.programs.empty(),
                           .on_miss = "fail",
                           .out = arguments.out,
                           .may_not_compile = refused});
}

// What a build comes to behind its batch.
struct BuildEnd {
  int exit = kSuccess;
  std::string problem;  // why it is not well, beside what failed; or empty
};

// Warnings and outputs of a batch that went well; what is wrong is shown as well. The order is
// warnings, files, pack. The first failure ends it, and its text becomes the problem of the report.
BuildEnd EndWithOutputs(const Global& global, const BuildArguments& arguments,
                        const Project& project, const BatchOutcome& batch, client::Client& client) {
  const auto failed = [&](const Error& error) {
    return BuildEnd{.exit = Fail(global, error), .problem = error.context};
  };
  if (global.warnings == "error") {
    if (const Result<void> looked = ShowWarnings(global, project, client, batch.id); !looked.ok()) {
      return failed(looked.error());
    }
  }
  if (const Result<void> written = WriteOutputs(arguments, project, batch, client); !written.ok()) {
    return failed(written.error());
  }
  if (!arguments.pack.empty()) {
    PackBuildArguments pack;
    pack.programs = arguments.programs;
    pack.out = arguments.pack;
    if (const int packed = RunPackBuild(global, pack); packed != kSuccess) {
      return {.exit = packed, .problem = fmt::format("the pack '{}' was not written", pack.out)};
    }
  }
  return {.exit = kSuccess, .problem = batch.final.problem};
}

// Comes last, and so says what the command ends with, whatever became of the outputs. The state and
// the problem are those of the whole command. A report that says "ok" while the command fails would
// let a step of a CI system pass.
Result<void> Report(const BuildArguments& arguments, const Project& project,
                    const BatchOutcome& batch, const BuildEnd& end, double seconds) {
  std::vector<std::string> programs;
  for (const LoadedProgram& loaded : project.programs) {
    programs.push_back(loaded.program.name);
  }
  return WriteReports(arguments.reports, {.project = project.manifest.name,
                                          .batch = batch.id,
                                          .state = batch.final.state,
                                          .exit = end.exit,
                                          .seconds = seconds,
                                          .programs = std::move(programs),
                                          .progress = batch.progress,
                                          .failures = batch.failures,
                                          .problem = end.problem});
}

// Who may only read gets what is there if nothing would have to be made for the request
// (spec/daemon 11.4).
int Build(const Global& global, const BuildArguments& arguments, const Project& project,
          client::Client& client, Time start) {
  const Result<BatchOutcome> batch = RunBatch(global, project, client, OptionsOf(arguments));
  if (!batch.ok() && batch.error().reason == "SCOPE" && IsPlain(arguments)) {
    return BuildKnown(global, arguments, batch.error());
  }
  if (!batch.ok()) {
    return Fail(global, batch.error());
  }
  // An interrupted batch is over for this command and goes on being resumable (spec/cli 4.2).
  const int exit = WasInterrupted() ? kInterrupted : static_cast<int>(batch->final.exit_hint);
  // A build of which nothing changed has nothing new to say.
  if (exit != kInterrupted && (batch->progress.compiled != 0 || global.warnings == "error")) {
    ShowUnreadAxes(global, project.manifest, project.spaces, client);
  }
  BuildEnd end{.exit = exit, .problem = batch->final.problem};
  if (exit == kSuccess) {
    end = EndWithOutputs(global, arguments, project, *batch, client);
  }
  // The code that is told has -Werror in it already. The one that is returned gets it from
  // EndCommand.
  BuildEnd told = end;  // EndCommand makes the same of the exit code
  told.exit = ExitWithWarnings(global, end.exit);
  told.problem = told.exit == end.exit ? end.problem : std::string(kWarningsAreErrors);
  const double seconds = SecondsSince(start);
  if (const Result<void> reported = Report(arguments, project, *batch, told, seconds);
      !reported.ok()) {
    const int unreported = Fail(global, reported.error());
    return end.exit == kSuccess ? unreported : end.exit;
  }
  PrintSummary(global, project, *batch, seconds, told.exit);
  return end.exit;
}

// Mistakes of the command line come before anything is started. The daemon is connected before the
// project is loaded, because loading asks the daemon for includes and option spaces.
int RunBuild(const Global& global, const BuildArguments& arguments) {
  const Time start = std::chrono::steady_clock::now();
  if (const Result<void> fit = CheckArguments(arguments); !fit.ok()) {
    return Fail(global, fit.error());
  }
  if (arguments.resume.has_value()) {
    return RunBatchResume(global, *arguments.resume);
  }
  Result<client::DaemonConnection> connected = ConnectTo(global);
  if (!connected.ok()) {
    return Fail(global, connected.error());
  }
  client::Client& client = *connected->client;
  const Result<Project> project = LoadProject(global, arguments.programs, client);
  if (!project.ok()) {
    return Fail(global, project.error());
  }
  if (arguments.dry_run) {
    ShowUnreadAxes(global, project->manifest, project->spaces, client);
    return DryRun(global, *project, arguments.where, client);
  }
  return arguments.detach ? Detach(global, *project, client, arguments, start)
                          : Build(global, arguments, *project, client, start);
}

}  // namespace

// The flags of spec/cli 6.2, each with the words of its manual.
void AddBuild(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<BuildArguments>();
  CLI::App* verb = AddVerb(app, line,
                           {"build", "Build every variant of the manifest",
                            "  kiln build\n  kiln build 'rock/*' --out results"},
                           [&line, arguments] { return RunBuild(line.global, *arguments); });
  verb->add_option("programs", arguments->programs, "Names or globs; default: all");
  BuildArguments& build = *arguments;
  verb->add_option("-t,--target", build.targets, "Target of the manifest; repeatable")->take_all();
  verb->add_option("--where", build.where, "Only variants where this expression is true")
      ->check(SaysSomething);
  verb->add_flag("--dry-run", build.dry_run, "Count, check the budget, compile nothing");
  verb->add_flag("--retry-failed", build.retry_failed, "Compile again what failed before");
  verb->add_option("--out", build.out, "Folder for the results");
  verb->add_option("--pack", build.pack, "Pack file to write");
  verb->add_option("--report", build.reports, "json, junit, github or md:FILE; repeatable")
      ->take_all();
  verb->add_option("--on-error", build.on_error, "What a failure ends; default: nothing")
      ->check(CLI::IsMember({"continue", "stop-program", "stop"}));
  verb->add_flag("--fail-fast", build.fail_fast, "The same as --on-error stop");
  verb->add_flag("--detach", build.detach, "Return at once; the daemon goes on, over restarts too");
  verb->add_option_function<std::string>(
          "--resume", [&build](const std::string& id) { build.resume = id == "latest" ? "" : id; },
          "Go on with a batch; default: the latest of the project")
      ->expected(0, 1)
      ->default_str("latest");
  verb->add_option("--explore", build.explore, "Results to discover beyond the budget");
  verb->add_option("--priority", build.priority, "0 to 9")->check(CLI::Range(0, 9));
  verb->add_option("--pin", build.pin, "Keep the results from removal under this name");
  verb->add_option("--durability", build.durability, "local or quorum")
      ->check(CLI::IsMember({"local", "quorum"}));
  verb->add_option("--deps", build.deps, "Dependency file for Make and Ninja");
  verb->add_option("--depfile-target", build.depfile_target, "What that file is about");
}

}  // namespace kiln::cli
