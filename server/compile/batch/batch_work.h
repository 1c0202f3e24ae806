// SPDX-License-Identifier: MIT
// What a batch does on worker threads: chunks of the batch lane that scan it, build its points in
// slices, and end it with the last one.
//
// Threads: all functions may run concurrently. The object guards nothing: the state of a run is
// under the run's lock, which is taken to take points and to note what came of them, and never held
// while something is built, stored or asked.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "cache/store.h"
#include "compiler/base/result.h"
#include "server/compile/batch/batch_context.h"
#include "server/compile/batch/batch_run.h"
#include "server/compile/batch/exploration.h"
#include "server/compile/build_options.h"

namespace kiln::compile {

class BatchWorker {
 public:
  // The context must outlive the object, and the object every chunk that was submitted.
  explicit BatchWorker(const BatchContext& context) : context_(context) {}

  // One more chunk. Errors: those of the queue.
  Result<void> Submit(const BatchRunPtr& run);
  // Submits chunks for a run that has none. False if the queue takes none.
  bool Wake(const BatchRunPtr& run);
  // The run is over. Nothing if it was already, or goes on in the next process.
  void Finish(const BatchRunPtr& run, BatchState state);

 private:
  void Work(const BatchRunPtr& run, const cache::Call& call);
  void RunChunk(const BatchRunPtr& run, const cache::Call& call, bool& ends);
  void Break(const BatchRunPtr& run, std::string_view what, bool ends) noexcept;
  void BuildPoints(const BatchRunPtr& run, const cache::Call& call);
  std::vector<cache::Item> BuildPoint(const BatchRunPtr& run, const TakenPoints& taken,
                                      size_t index, const cache::Call& call);
  void Expand(const BatchRunPtr& run, const TakenPoints& taken, size_t index,
              std::optional<Exploration::Reading> read, const cache::Call& call);
  void ObeyFamily(const BatchRunPtr& run, size_t program,
                  std::span<const resolve::OptionSetting> point, const Outcome& outcome,
                  const cache::Call& call);
  void Measure(const BatchRunPtr& run);

  const BatchContext& context_;
};

}  // namespace kiln::compile
