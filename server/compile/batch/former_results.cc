// SPDX-License-Identifier: MIT
// Decides which programs of a request are equal to those of an earlier batch, so that their results
// stand (spec/daemon 7.1). Equality is of everything that decides results or how they are told;
// whether the store still has them is asked elsewhere (losses).
#include "server/compile/batch/former_results.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace kiln::compile {
namespace {

bool SameAxis(const project::Axis& a, const project::Axis& b) {
  return a.name == b.name && a.all == b.all && a.values == b.values;
}

// Places are for messages, and a program without messages has none to place.
bool SameSpace(const project::SpaceRequest& a, const project::SpaceRequest& b) {
  return a.only_explicit == b.only_explicit && a.fixed == b.fixed && a.exclude == b.exclude &&
         a.require == b.require && a.variants == b.variants && a.warm == b.warm &&
         a.variant_targets == b.variant_targets && std::ranges::equal(a.axes, b.axes, SameAxis);
}

bool SameProgram(const BatchProgram& a, const BatchProgram& b) {
  return a.program == b.program && a.targets == b.targets && a.results == b.results &&
         a.variants == b.variants && a.family == b.family && SameSpace(a.space, b.space);
}

}  // namespace

// What a batch must be so that single programs of it may be taken over: it neither pins nor waits
// nor retries, and has no budget that is used up by work.
bool MayStandFor(const BatchRequest& earlier, const BatchRequest& request) {
  const BatchBudget& a = earlier.budget;
  const BatchBudget& b = request.budget;
  return earlier.project == request.project && !request.retry_failed && request.pin.empty() &&
         !request.quorum && b.cpu_us == 0 && b.output == 0 && a.results == b.results &&
         a.variants == b.variants && earlier.explore == request.explore;
}

// A family stands or falls as a whole, because its layouts are compared with each other. Linear in
// the programs.
std::vector<ProgramResultsPtr> ResultsOfEqual(const BatchRequest& earlier,
                                              std::span<const ProgramResultsPtr> results,
                                              const BatchRequest& request) {
  std::unordered_map<std::string_view, size_t> by_name;
  for (size_t i = 0; i < std::min(results.size(), earlier.programs.size()); ++i) {
    if (results[i] != nullptr) {
      by_name.emplace(earlier.programs[i].program.name, i);
    }
  }
  std::vector<ProgramResultsPtr> equal(request.programs.size());
  std::set<std::string_view> changed;  // families
  for (size_t i = 0; i < equal.size(); ++i) {
    const BatchProgram& program = request.programs[i];
    const auto found = by_name.find(program.program.name);
    if (found != by_name.end() && SameProgram(earlier.programs[found->second], program)) {
      equal[i] = results[found->second];
    } else if (!program.family.empty()) {
      changed.insert(program.family);
    }
  }
  for (size_t i = 0; i < equal.size(); ++i) {
    if (changed.contains(request.programs[i].family)) {
      equal[i] = nullptr;
    }
  }
  return equal;
}

}  // namespace kiln::compile
