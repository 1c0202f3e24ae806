// SPDX-License-Identifier: MIT
// What is looked at before a batch is accepted, in the call of StartBatch: programs, budgets and
// families. A batch that starts can still fail, but not for a reason that could have been told at
// once. Everything that is prepared here is found again in memory when the batch is scanned.
#include "server/compile/batch/batch_check.h"

#include <map>
#include <string>
#include <vector>

#include "cache/call_bounds.h"
#include "server/compile/batch/family_rule.h"

namespace kiln::compile {
namespace {

// Builds the metadata of every program of a family at its fixed and default values. What is found
// wrong here refuses the batch before it begins; with other option values the rule is checked again
// while it is built.
Result<void> CheckFamily(CachedBuild& builder, cache::BlobStore& store, const std::string& family,
                         const std::vector<const BatchProgram*>& members, const cache::Call& call) {
  std::vector<std::shared_ptr<const PreparedProgram>> prepared;
  std::vector<const PreparedProgram*> rows;
  for (const BatchProgram* member : members) {
    NamedTarget target = member->targets[0];
    target.metadata_only = true;
    KILN_TRY(std::shared_ptr<const PreparedProgram> program,
             builder.Prepare(member->program, target, call));
    if (program->ok()) {
      rows.push_back(program.get());
      prepared.push_back(std::move(program));
    }
  }
  FamilyRule rule(family, rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    KILN_TRY(const Outcome outcome,
             builder.Build(*rows[i], {}, {.use = ProgramUse::kOneVariant}, call));
    if (!outcome.artifact.has_value()) {
      continue;  // no variant of this kind; the batch tells what is wrong with those there are
    }
    KILN_TRY(const artifact::PipelineMetadata metadata, MetadataOf(store, outcome, call));
    if (const auto difference =
            rule.Add(i, {}, outcome.artifact->layout_hash, SetLinesOf(metadata));
        difference.has_value()) {
      return Error{.code = ErrorCode::kFailedPrecondition,
                   .context = std::string(kFamilyMismatch) + ": " + difference->message,
                   .reason = kFamilyMismatch};
    }
  }
  return {};
}

}  // namespace

// A program's own budget replaces that of the batch.
PointLimits LimitsOf(const BatchRequest& request, const BatchProgram& program) {
  return {.results = program.results != 0 ? program.results : request.budget.results,
          .variants = program.variants != 0 ? program.variants : request.budget.variants,
          .explore = request.explore};
}

Result<void> CheckBatch(CachedBuild& builder, cache::BlobStore& store, const BatchRequest& request,
                        Clock& clock, const cache::Call& call, const FormerResults& former) {
  std::map<std::string, std::vector<const BatchProgram*>> families;
  for (size_t i = 0; i < request.programs.size(); ++i) {
    const BatchProgram& program = request.programs[i];
    if (program.targets.empty() || former.Of(i) != nullptr) {
      // Nothing to check of a program without targets, and nothing of one whose results are taken
      // over.
      continue;
    }
    KILN_TRY_VOID(cache::StillWanted(call, clock));
    KILN_TRY(const std::shared_ptr<const PreparedProgram> prepared,
             builder.Prepare(program.program, program.targets[0], call,
                             PoisonFor(request.retry_failed)));
    // Wrong sources are no reason to refuse a batch: they are told as a failed program
    // (spec/daemon 2.2).
    if (!prepared->ok()) {
      continue;
    }
    const Result<void> checked = cache::WhileWanted(call, kMaxPointBytes, clock, [&] {
      return CheckPoints(*prepared->linked->value, program.space, LimitsOf(request, program),
                         clock);
    });
    if (!checked.ok()) {
      return WithContext(checked.error(), "program '" + program.program.name + "'");
    }
    if (!program.family.empty()) {
      families[program.family].push_back(&program);
    }
  }
  for (const auto& [family, members] : families) {
    KILN_TRY_VOID(CheckFamily(builder, store, family, members, call));
  }
  return {};
}

}  // namespace kiln::compile
