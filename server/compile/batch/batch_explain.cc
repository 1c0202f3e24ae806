// SPDX-License-Identifier: MIT
// A batch explains itself by a histogram of causes and a few records (spec/cache 11.1): thousands
// of records of one build would push everything else out of the ring.
#include "server/compile/batch/batch_explain.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cache/explain/explain_ring.h"
#include "server/compile/explainer.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kExplained = 16;  // misses of a program and target that leave a record

}  // namespace

// The cause of a miss is found by comparing the inputs of the point with the records of earlier
// runs, which were read once when the batch was scanned.
void ExplainPoint(const BatchContext& context, BatchRun& run, ExplainedPoint explained) {
  auto& [program, target, point, trace, failed] = explained;
  const bool miss = trace.result == cache::ExplainResult::kMiss;
  std::shared_ptr<const PreparedProgram> prepared;
  std::shared_ptr<const std::vector<BatchCauses>> causes;
  bool leaves_record = false;
  // What is decided under the lock is whether this point leaves a record; the record is made
  // without it.
  {
    const MutexLock lock(run.mutex);
    BatchRun::Program& of = run.programs[program];
    ++run.misses.results;
    prepared = of.targets[target];
    causes = of.causes;
    leaves_record = miss ? of.explained[target] < kExplained : !of.hit_explained[target];
    of.explained[target] += miss && leaves_record ? 1 : 0;
    leaves_record = leaves_record || failed;
    of.hit_explained[target] = of.hit_explained[target] || !miss;
  }
  const cache::Cause cause = !miss ? cache::Cause::kNone
                             : trace.cause != cache::Cause::kNone
                                 ? trace.cause
                                 : (*causes)[target].CauseOf(trace.options);
  // Options of hits are looked up only for the one hit that leaves a
  // record.
  uint64_t seq = 0;
  if (leaves_record) {
    if (!miss) {
      std::vector<resolve::OptionSetting> settings = prepared->request.options;
      settings.insert(settings.end(), point.begin(), point.end());
      const auto values = resolve::CheckOptions(prepared->program(), settings);
      trace.options =
          values.ok() ? OptionTexts(prepared->program(), *values.value) : OptionTexts(settings);
    }
    cache::ExplainRecord record = ExplainRecordOf(*prepared, run.asker, trace, context.clock);
    // An explanation for content that was there once: the ring knows who removed it.
    record.cause = cause == cache::Cause::kEvicted ? cache::Cause::kNone : cause;
    seq = context.options.explains->Append(std::move(record));
  } else if (miss) {
    context.options.explains->CountMisses(cause, 1);
  }
  if (miss) {
    const MutexLock lock(run.mutex);
    MissHistogram::Row& row = run.misses.causes[cause];
    ++row.count;
    if (seq != 0 && row.examples.size() < MissHistogram::kExamples) {
      row.examples.push_back(seq);
    }
  }
}

}  // namespace kiln::compile
