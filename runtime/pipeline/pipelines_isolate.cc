// SPDX-License-Identifier: MIT
// Pipelines: warm starts whose pipelines are made in child processes first. See spec/pso 7.8
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "compiler/base/thread.h"
#include "runtime/pipeline/pipelines_state.h"

namespace kiln::runtime {

// False: no child can be started. Afterwards the build is free again, or quarantined.
bool PipelinesState::MakeInChild(ChildBuilds& children, const std::shared_ptr<Build>& build) {
  if (build->State() != PipelineState::kQueued || !build->Claim()) {
    return true;
  }
  const Result<HeldWords> held = ReadWords(*build);
  if (!held.ok()) {  // as building it will say
    build->GiveUp();
    return true;
  }
  ChildJob job{.desc = build->desc, .stages = {}, .words = held->words, .hints = build->hints};
  for (const CodeRef& code : build->code) {
    job.stages.push_back(code.stage);
  }
  const auto fate = children.Try(job);
  if (fate.ok() && *fate != ChildBuilds::Fate::kLived) {
    if (journal != nullptr) {
      journal->Quarantine(build->key);
    }
    build->Fail(
        PipelineState::kQuarantined,
        {ErrorCode::kFailedPrecondition,
         fmt::format("'{}': a child process {} while it made pipeline {}", build->desc.name,
                     *fate == ChildBuilds::Fate::kDied ? "ended" : "hung", build->key.hex()),
         "QUARANTINED"});
    return true;
  }
  build->GiveUp();
  if (!fate.ok() && fate.error().code != ErrorCode::kCancelled) {
    log->Write(LogLevel::kWarning, "pipelines", "pipelines are not isolated",
               {{"why", ErrorText(fate.error())}});
  }
  return fate.ok();
}

// The caches of the children are the driver's own, with a checked header.
void PipelinesState::AdoptCache(const std::string& folder) {
  if (const Result<void> adopted = cache->Adopt(folder); !adopted.ok()) {
    log->Write(LogLevel::kWarning, "pipelines", "the driver cache of a child is not used",
               {{"why", ErrorText(adopted.error())}});
  }
  std::error_code left;
  std::filesystem::remove_all(folder, left);  // what stays is found by nobody
}

void PipelinesState::Isolate(const Isolation& isolation) {
  const std::vector<std::shared_ptr<Build>> builds = TicketOf(isolation.ticket).builds;
  const auto stopped = [&] { return closing || lost || IsCancelled(isolation.ticket); };
  const std::string folder = cache == nullptr ? std::string()
                                              : fmt::format("{}/child.{}.{}", config.cache_folder,
                                                            getpid(), isolation.ticket.index);
  const Result<void> isolated = CatchAll([&] {
    ChildBuilds children(
        {.start = config.start_child ? config.start_child : SpawnPipelineChild(*device),
         .cache_folder = folder,
         .timeout = config.isolate_timeout,
         .stopped = stopped});
    for (const std::shared_ptr<Build>& build : builds) {
      if (stopped() || !MakeInChild(children, build)) {
        break;
      }
    }
    children.End();
  });
  if (!isolated.ok()) {  // somebody waits for these builds: they are made here
    log->Write(LogLevel::kWarning, "pipelines", "pipelines are not isolated",
               {{"why", ErrorText(isolated.error())}});
  }
  if (cache != nullptr) {
    AdoptCache(folder);
  }
  for (const std::shared_ptr<Build>& build : builds) {
    if (!stopped() && build->Wanted()) {
      queue.Push(isolation.lane.value_or(build->lane), build);
    }
  }
}

}  // namespace kiln::runtime
