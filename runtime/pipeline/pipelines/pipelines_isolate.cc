// SPDX-License-Identifier: MIT
// A child that ends or hangs takes one pipeline with it: that one is quarantined, and the next
// child goes on behind it. What a child made is not taken over but for its cache, which the driver
// reads when the pipeline is made here. See spec/pso 7.8
#include "runtime/pipeline/pipelines/pipelines_isolate.h"

#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "compiler/base/threads/thread.h"
#include "runtime/pipeline/pipelines/pipelines_build.h"

namespace kiln::runtime {

namespace {

// False: no child can be started. Afterwards the build is free again, or quarantined.
bool MakeInChild(PipelinesState& state, ChildBuilds& children,
                 const std::shared_ptr<Build>& build) {
  // What is made already or being made needs no child.
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
    if (state.journal != nullptr) {
      state.journal->Quarantine(build->key);
    }
    build->Fail(
        PipelineState::kQuarantined,
        {ErrorCode::kFailedPrecondition,
         fmt::format("'{}': a child process {} while it made pipeline {}", build->desc.name,
                     *fate == ChildBuilds::Fate::kDied ? "ended" : "hung", build->key.hex()),
         "QUARANTINED"});
    return true;
  }
  // The build is given back: the child has only proved that it can be made, and filled the cache.
  build->GiveUp();
  if (!fate.ok() && fate.error().code != ErrorCode::kCancelled) {
    state.log->Write(LogLevel::kWarning, "pipelines", "pipelines are not isolated",
                     {{"why", ErrorText(fate.error())}});
  }
  return fate.ok();
}

// The caches of the children are the driver's own, with a checked header.
void AdoptCache(PipelinesState& state, const std::string& folder) {
  if (const Result<void> adopted = state.cache->Adopt(folder); !adopted.ok()) {
    state.log->Write(LogLevel::kWarning, "pipelines", "the driver cache of a child is not used",
                     {{"why", ErrorText(adopted.error())}});
  }
  std::error_code left;
  std::filesystem::remove_all(folder, left);  // what stays is found by nobody
}

}  // namespace

// Runs on the ticket's own thread, or on the one that waits for the ticket, with one child at a
// time. Whether to stop is asked between two pipelines and by the child's keeper while it waits.
void Isolate(PipelinesState& state, const Isolation& isolation) {
  const std::vector<std::shared_ptr<Build>> builds = state.TicketOf(isolation.ticket).builds;
  const auto stopped = [&] {
    return state.closing || state.lost || state.IsCancelled(isolation.ticket);
  };
  // Children write their caches into a folder of their own, which nobody else reads.
  const std::string folder = state.cache == nullptr
                                 ? std::string()
                                 : fmt::format("{}/child.{}.{}", state.config.cache_folder,
                                               getpid(), isolation.ticket.index);
  const Result<void> isolated = CatchAll([&] {
    ChildBuilds children({.start = state.config.start_child ? state.config.start_child
                                                            : SpawnPipelineChild(*state.device),
                          .cache_folder = folder,
                          .timeout = state.config.isolate_timeout,
                          .stopped = stopped});
    for (const std::shared_ptr<Build>& build : builds) {
      if (stopped() || !MakeInChild(state, children, build)) {
        break;
      }
    }
    children.End();
  });
  if (!isolated.ok()) {  // somebody waits for these builds: they are made here
    state.log->Write(LogLevel::kWarning, "pipelines", "pipelines are not isolated",
                     {{"why", ErrorText(isolated.error())}});
  }
  if (state.cache != nullptr) {
    AdoptCache(state, folder);
  }
  // What was not quarantined is built here, mostly from the cache that the children filled.
  for (const std::shared_ptr<Build>& build : builds) {
    if (!stopped() && build->Wanted()) {
      state.queue.Push(isolation.lane.value_or(build->lane), build);
    }
  }
}

}  // namespace kiln::runtime
