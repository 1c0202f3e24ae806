// SPDX-License-Identifier: MIT
// What follows from all programs of a batch together, once they are scanned: how many results there
// may be, which programs share entries, which belong to one material.
#include "server/compile/batch/batch_programs.h"

#include <map>

namespace kiln::compile {

// Each point may give a result for each of its targets; an exploration as many as its bound for
// each target. Saturates.
uint64_t ResultsUpper(const BatchRun::Program& program) {
  uint64_t upper = 0;
  for (size_t i = 0; i < program.points->points.size(); ++i) {
    upper += program.points->points.TargetsOf(i, program.targets.size());
  }
  if (program.points->exploration != nullptr) {
    uint64_t explored = 0;
    const bool many = __builtin_mul_overflow(program.points->exploration->bound(),
                                             program.targets.size(), &explored);
    upper = many || explored > UINT64_MAX - upper ? UINT64_MAX : upper + explored;
  }
  return upper;
}

// Programs that have an entry id in common can have results in common, so they count them together
// (SignatureGroupsOf). Programs that are taken over take part with the entries that they had.
void FindGroups(BatchRun& run) {
  std::vector<std::vector<Hash128>> entries;
  for (const BatchRun::Program& program : run.programs) {
    std::vector<Hash128>& of = entries.emplace_back();
    if (program.former != nullptr) {
      of = program.former->entries;
    }
    for (const std::shared_ptr<const PreparedProgram>& target : program.targets) {
      of.push_back(target->entry);
    }
  }
  std::vector<std::vector<SignatureGroupPtr>> groups = SignatureGroupsOf(entries);
  for (size_t i = 0; i < run.programs.size(); ++i) {
    run.programs[i].groups = std::move(groups[i]);
  }
  run.results.resize(run.programs.size());
}

// The first target stands for all of them. Programs that cannot be prepared have no layout to
// compare.
void FindFamilies(BatchRun& run) {
  std::map<std::string, std::vector<size_t>> members;
  for (size_t i = 0; i < run.programs.size(); ++i) {
    const bool usable = !run.programs[i].targets.empty() && run.programs[i].targets[0]->ok();
    if (usable && !run.request.programs[i].family.empty()) {
      members[run.request.programs[i].family].push_back(i);
    }
  }
  for (const auto& [family, indexes] : members) {
    std::vector<const PreparedProgram*> prepared;
    for (const size_t i : indexes) {
      prepared.push_back(run.programs[i].targets[0].get());
    }
    const auto rule = std::make_shared<FamilyRule>(family, std::move(prepared));
    for (size_t member = 0; member < indexes.size(); ++member) {
      run.programs[indexes[member]].family = rule;
      run.programs[indexes[member]].family_member = member;
    }
  }
}

}  // namespace kiln::compile
