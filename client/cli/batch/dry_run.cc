// SPDX-License-Identifier: MIT
#include "client/cli/batch/dry_run.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/project/mistakes.h"
#include "client/cli/project/space_mistakes.h"

namespace kiln::cli {
namespace {

// The default of budget.results in a manifest (spec/daemon 6.2).
constexpr uint64_t kDefaultResults = 100'000;
constexpr size_t kAdvice = 3;

// Decimals without leading zeros, of any length.
// Counts of spaces may have hundreds of digits and are texts. The longer number is larger; of equal
// length the order of texts is that of numbers.
bool IsAbove(const std::string& count, uint64_t limit) {
  const std::string most = std::to_string(limit);
  return count.size() != most.size() ? count.size() > most.size() : count > most;
}

// The nearest one: of the program, of the manifest, the default.
uint64_t BudgetOf(const Project& project, const client::ProgramSpace& space) {
  if (space.budget.results != 0) {
    return space.budget.results;
  }
  return project.manifest.budget.results != 0 ? project.manifest.budget.results : kDefaultResults;
}

// The axes that contribute most, with what could be written instead.
void PrintAdvice(const client::ProgramSpace& space, const client::VariantCount& count) {
  std::vector<client::AxisCount> axes = count.axes;
  std::ranges::stable_sort(axes, std::greater(), &client::AxisCount::factor);
  // The factor of an axis is by how much it multiplies the variants, so fixing the first one in the
  // list helps most.
  axes.resize(std::min(axes.size(), kAdvice));
  for (const client::AxisCount& axis : axes) {
    Print("    axis {} has {} values and contributes a factor of {:.1f}\n", axis.name, axis.values,
          axis.factor);
  }
  if (!axes.empty()) {
    Print("    edit: remove '{}' from the axes of '{}' and fix it in options\n", axes[0].name,
          space.program.name);
    Print("    edit: exclude combinations that nobody draws, such as \"{} && {}\"\n", axes[0].name,
          axes[axes.size() > 1 ? 1 : 0].name);
  }
}

}  // namespace

int DryRun(const Global& global, const Project& project, const std::string& where,
           client::Client& client) {
  const auto start = std::chrono::steady_clock::now();
  int exit = kSuccess;
  uint64_t above = 0;
  Mistakes mistakes(global);
  const SpaceMistakes in_files(project.manifest, where);
  for (size_t i = 0; i < project.spaces.size(); ++i) {
    const client::ProgramSpace& space = project.spaces[i];
    // Counting enumerates nothing, so a space of any size has its answer at once (spec/daemon 6.4).
    const Result<client::VariantCount> count = client.CountVariants(space, where);
    if (!count.ok()) {
      return Fail(global, count.error());
    }
    const std::vector<PlacedDiagnostic> found = in_files.InFiles(count->diagnostics);
    if (mistakes.Add(space.program.name, found, in_files.SourcesWith(space.program.sources))
            .errors != 0) {
      exit = exit == kSuccess ? int{kWrongSource} : exit;
      continue;
    }
    const uint64_t budget = BudgetOf(project, space);
    const bool too_many = IsAbove(count->results_upper, budget);
    above += too_many ? 1 : 0;
    if (global.json) {
      PrintLine({{"v", 1},
                 {"type", "count"},
                 {"program", space.program.name},
                 {"variants", count->variants},
                 {"results_upper", count->results_upper},
                 {"exact", count->exact},
                 {"cached", count->cached},
                 {"budget", budget},
                 {"above", too_many}});
      continue;
    }
    Print("{}  {}{} variants, at most {} results of {} in the budget{}{}\n", space.program.name,
          count->exact ? "" : "at most ", count->variants, count->results_upper, budget,
          count->cached.empty() ? "" : fmt::format(", {} cached", count->cached),
          too_many ? ": too many" : "");
    if (too_many) {
      PrintAdvice(space, *count);
    }
  }
  mistakes.End();
  // Above the budget counts more than a wrong program: the limit is what a dry run is asked for.
  exit = above != 0 && !project.manifest.budget_warns ? int{kLimit} : exit;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::vector<std::pair<std::string, uint64_t>> counts{{"programs", project.spaces.size()},
                                                             {"above_budget", above}};
  NoteResult("build", seconds.count(), counts);
  return exit;
}

}  // namespace kiln::cli
