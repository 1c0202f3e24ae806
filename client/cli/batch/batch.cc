// SPDX-License-Identifier: MIT
// `kiln batch` (spec/cli 6.3): looks at and steers batches of the daemon (spec/daemon 7). A batch
// is named by its id or by how the id begins; BatchNamed refuses a beginning that fits several.
#include "client/cli/batch/batch.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/batch/batch_run.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/results.h"
#include "client/cli/project/mistakes.h"
#include "client/cli/session.h"

namespace kiln::cli {
namespace {

struct BatchArguments {
  std::string what;  // list, show, attach, items, pause, resume, cancel
  std::string id;    // or how it begins
  std::vector<std::string> kinds;
};

nlohmann::ordered_json BatchJson(const client::BatchInfo& batch) {
  return {{"v", 1},
          {"type", "batch"},
          {"id", batch.id},
          {"project", batch.project},
          {"state", batch.state},
          {"paused_by", batch.paused_by},
          {"variants_total", batch.variants_total},
          {"variants_served", batch.variants_served},
          {"results_done", batch.results_done},
          {"results_upper", batch.results_upper},
          {"compiled", batch.compiled},
          {"hits", batch.hits},
          {"shared", batch.shared},
          {"failed", batch.failed},
          {"limited", batch.limited},
          {"poisoned", batch.poisoned},
          {"code_distinct", batch.code_distinct},
          {"programs_done", batch.programs_done},
          {"programs_total", batch.programs_total},
          {"started_ms", batch.started_ms},
          {"updated_ms", batch.updated_ms}};
}

// "3 m" since that time of the clock.
// A clock that was set back gives no negative age. Units change at twice their size, as in
// explanations, so that small ages keep their precision.
std::string AgeText(uint64_t unix_ms) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const int64_t s = std::max<int64_t>(now_ms - static_cast<int64_t>(unix_ms), 0) / 1000;
  return s < 120       ? fmt::format("{} s", s)
         : s < 7200    ? fmt::format("{} m", s / 60)
         : s < 172'800 ? fmt::format("{} h", s / 3600)
                       : fmt::format("{} d", s / 86'400);
}

void PrintBatch(const Global& global, const client::BatchInfo& batch) {
  if (global.json) {
    PrintLine(BatchJson(batch));
    return;
  }
  const uint64_t failed = batch.failed + batch.limited + batch.poisoned;
  // Eight digits of an id are enough to name a batch (BatchNamed), and they fit in a line.
  Print("{}  {:<9}  {}  {}/{} results, {} of {} variants{}   {} ago, by {}\n",
        batch.id.substr(0, 8), batch.state, batch.project.empty() ? "-" : batch.project,
        batch.results_done, batch.results_upper, batch.variants_served, batch.variants_total,
        failed == 0 ? "" : fmt::format(", {} FAILED", failed), AgeText(batch.updated_ms),
        batch.owner.empty() ? "-" : batch.owner);
}

void PrintWhole(const Global& global, const client::BatchInfo& batch) {
  if (global.json) {
    return PrintBatch(global, batch);
  }
  Print("batch {}\n  project {}\n  state {}{}\n", batch.id, batch.project, batch.state,
        batch.paused_by.empty() ? "" : " by " + batch.paused_by);
  Print("  variants {} of {}\n  results {} of at most {}\n", batch.variants_served,
        batch.variants_total, batch.results_done, batch.results_upper);
  Print("  {} compiled, {} cached, {} shared, {} failed, {} SPIR-V modules\n", batch.compiled,
        batch.hits, batch.shared, batch.failed + batch.limited + batch.poisoned,
        batch.code_distinct);
  Print("  programs {} of {}\n", batch.programs_done, batch.programs_total);
}

void PrintItem(const Global& global, const client::BatchItem& item) {
  // A failed result has no artifact, hence no signature.
  const bool has = !item.outcome.artifacts.empty();
  const std::string signature = has ? item.outcome.artifacts[0].signature : std::string();
  if (global.json) {
    nlohmann::ordered_json line = ItemJson({.program = item.program,
                                            .options = item.options,
                                            .outcome = item.outcome,
                                            .artifact = has ? &item.outcome.artifacts[0] : nullptr,
                                            .served = item.served});
    line["cpu_ms"] = static_cast<double>(item.cpu_us) / 1000.0;
    return PrintLine(line);
  }
  Print("{:<12}  {:<8}  {} {}  serves {}  {:.1f} ms\n", OutcomeName(item.outcome.kind),
        signature.substr(0, 8), item.program, client::OptionsText(item.options), item.served,
        static_cast<double>(item.cpu_us) / 1000.0);
  for (const PlacedDiagnostic& diagnostic : item.outcome.diagnostics) {
    Print("    {}:{}:{}: {} [{}]\n", diagnostic.primary.path, diagnostic.primary.line,
          diagnostic.primary.column, diagnostic.message, diagnostic.code);
  }
}

// Follows a batch to its end; nobody has its sources here, so failures are one line each.
Result<int> Attach(const Global& global, const std::string& id, client::Client& client) {
  KILN_TRY(const client::BatchInfo info, client.GetBatch(id));
  Mistakes mistakes(global);
  // After a restart of the daemon connecting is enough: a batch lives in the store and goes on
  // there (spec/daemon 7.1).
  const BatchFollower following{.name = info.project,
                                .restart = [&]() -> Result<void> {
                                  KILN_TRY_VOID(ConnectTo(global));
                                  return {};
                                },
                                .failed =
                                    [&](const client::BatchItem& item) {
                                      (void)mistakes.Add(item.program, item.outcome.diagnostics,
                                                         {});
                                    }};
  // The mistakes are ended before a failure is returned, so that what was found so far is counted
  // even if the daemon went.
  const Result<BatchOutcome> followed = FollowBatch(global, id, following, client);
  mistakes.End();
  KILN_TRY(const BatchOutcome outcome, followed);
  KILN_TRY(const client::BatchInfo last, client.GetBatch(id));
  PrintWhole(global, last);
  // The daemon knows best what the batch came to: its hint is the exit code (spec/daemon 7.5).
  return WasInterrupted() ? int{kInterrupted} : static_cast<int>(outcome.final.exit_hint);
}

// Pausing and resuming return as soon as the daemon has noted it. The state that is shown is the
// one of that moment: variants that run may still end (spec/daemon 7.4).
Result<int> Run(const Global& global, const BatchArguments& arguments) {
  KILN_TRY(const client::DaemonConnection connected, ConnectTo(global));
  client::Client& client = *connected.client;
  // Listing needs no id. All other verbs find their batch first, so a wrong id ends the same way in
  // each of them.
  if (arguments.what == "list") {
    KILN_TRY(const std::vector<client::BatchInfo> batches, client.ListBatches({}));
    for (const client::BatchInfo& batch : batches) {
      PrintBatch(global, batch);
    }
    if (batches.empty() && !global.json) {
      Print("the daemon knows no batch\n");
    }
    return int{kSuccess};
  }
  KILN_TRY(const std::string id, BatchNamed(client, arguments.id));
  if (arguments.what == "attach") {
    return Attach(global, id, client);
  }
  if (arguments.what == "items") {
    // Shown as they come: a batch may have a million, each with its diagnostics.
    KILN_TRY_VOID(client.EachBatchItem(id, arguments.kinds,
                                       [&](const client::BatchItem& item) -> Result<void> {
                                         PrintItem(global, item);
                                         return {};
                                       }));
    return int{kSuccess};
  }
  const Result<client::BatchInfo> info = arguments.what == "pause"    ? client.PauseBatch(id)
                                         : arguments.what == "resume" ? client.ResumeBatch(id)
                                         : arguments.what == "cancel" ? client.CancelBatch(id)
                                                                      : client.GetBatch(id);
  if (!info.ok()) {
    return info.error();
  }
  // Cancelling returns when it is noted. A script that goes on should find the batch ended, so its
  // events are read up to the last one.
  if (arguments.what == "cancel") {  // its end comes when its workers have seen it
    KILN_TRY_VOID(client.WatchBatch(id, 0, [](const client::BatchEvent& event, uint64_t) {
      return std::holds_alternative<client::BatchFinal>(event) ? client::Next::kStop
                                                               : client::Next::kGoOn;
    }));
    KILN_TRY(const client::BatchInfo ended, client.GetBatch(id));
    PrintWhole(global, ended);
    return int{kSuccess};
  }
  PrintWhole(global, *info);
  return int{kSuccess};
}

int RunBatchVerb(const Global& global, const BatchArguments& arguments) {
  return RunTimed(global, "batch", [&] { return Run(global, arguments); });
}

}  // namespace

// `kiln build --resume`: the batch and not the sources decide what is built, so the project is not
// loaded. Without an id the manifest is read for the project's name alone.
int RunBatchResume(const Global& global, const std::string& prefix) {
  const auto resume = [&]() -> Result<int> {
    KILN_TRY(const client::DaemonConnection connected, ConnectTo(global));
    client::Client& client = *connected.client;
    std::string id;
    // The list has the latest batch first.
    if (prefix.empty()) {
      KILN_TRY(const project::Manifest manifest, LoadManifest(global));
      KILN_TRY(const std::vector<client::BatchInfo> batches, client.ListBatches(manifest.name));
      if (batches.empty()) {
        return Error{.code = ErrorCode::kNotFound,
                     .context = fmt::format("the daemon knows no batch of '{}'", manifest.name),
                     .reason = "UNKNOWN_BATCH"};
      }
      id = batches[0].id;
    } else {
      KILN_TRY(id, BatchNamed(client, prefix));
    }
    KILN_TRY_VOID(client.ResumeBatch(id));
    return Attach(global, id, client);
  };
  return RunTimed(global, "build", resume);
}

void AddBatch(CLI::App& app, CommandLine& line) {
  // The verbs differ in their words only. They are declared from a table and share their arguments,
  // of which the chosen verb has its own name.
  const auto arguments = std::make_shared<BatchArguments>();
  struct Row {
    const char* name;
    const char* what;
  };
  CLI::App* batch = AddGroup(app, "batch", "Batches of the daemon");
  for (const Row& row :
       {Row{"list", "All that the daemon remembers, latest first"}, Row{"show", "State and counts"},
        Row{"attach", "Follow it to its end"}, Row{"items", "Its distinct results"},
        Row{"pause", "Let running variants end, start no others"}, Row{"resume", "Go on"},
        Row{"cancel", "End it; results stay cached"}}) {
    const std::string name = row.name;
    const std::string example = fmt::format("  kiln batch {}{}\n  kiln batch {}{}", name,
                                            name == "list" ? "" : " 7c1e", name,
                                            name == "list"    ? " --json"
                                            : name == "items" ? " 7c1e --kinds failed,slow"
                                                              : " 7c1e --json");
    CLI::App* verb =
        AddVerb(*batch, line, {row.name, row.what, example.c_str()}, [&line, arguments, name] {
          arguments->what = name;
          return RunBatchVerb(line.global, *arguments);
        });
    if (name != "list") {
      verb->add_option("id", arguments->id, "Id, or how it begins")->required();
    }
    if (name == "items") {
      verb->add_option("--kinds", arguments->kinds, "failed, poison, slow, deduped; default: all")
          ->delimiter(',')
          ->check(CLI::IsMember({"failed", "poison", "slow", "deduped"}));
    }
  }
}

}  // namespace kiln::cli
