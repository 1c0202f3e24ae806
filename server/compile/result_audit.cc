// SPDX-License-Identifier: MIT
// Looks again at a sample of what was built, behind the answers: results are rebuilt by the direct
// path, modules are validated. It never changes an answer; what it finds goes to the log, the
// counters and the health. One job of the batch lane works at a time, in slices, and stops being
// submitted when nothing waits.
#include "server/compile/result_audit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cache/call_bounds.h"
#include "compiler/base/threads/thread.h"
#include "compiler/driver/stages.h"
#include "server/compile/product_list.h"
#include "server/jobs/job.h"

namespace kiln::compile {
namespace {

// A tenth of the slice of a batch, so that a batch keeps nine tenths of a thread.
constexpr Duration kSlice = std::chrono::milliseconds(5);
constexpr Duration kLongest = std::chrono::minutes(2);  // of validating one module
// Modules that were validated are remembered by their ids, some tens of megabytes at most. One that
// drops out is validated again when it is built again.
constexpr size_t kMostSeen = 1'000'000;
constexpr uint32_t kBuckets = 100;

std::string TextOf(const std::vector<cache::Product>& products) {
  std::string text;
  for (const cache::Product& product : products) {
    // A uniform choice: 32 bits of the id modulo 100.
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", product.name, product.digest.id.hex());
  }
  return text;
}

}  // namespace

// Ids are hashes, so any of their bits are as good as random. Taking them from the id means that
// all daemons, and the same one tomorrow, look at the same share.
bool IsSampled(const Hash128& id, uint32_t percent) {
  const uint32_t number = static_cast<uint32_t>(id.bytes[0]) << 24 |
                          static_cast<uint32_t>(id.bytes[1]) << 16 |
                          static_cast<uint32_t>(id.bytes[2]) << 8 | id.bytes[3];
  return number % kBuckets < percent;
}

// Told once and then only counted: a warning for each result would fill the log in the very hour in
// which the machine has no time for audits.
void ResultAudit::Skip() {
  if (counters_.skipped.fetch_add(1) == 0) {
    log_.Write(LogLevel::kWarning, "audit", "more is built than can be looked at again");
  }
}

// Requires: the lock. Samples are bounded by number: what does not fit is skipped, since audits
// must never slow a build.
bool ResultAudit::AddResult(const FreshResult& built) {
  if (!IsSampled(built.signature, options_.twice_percent)) {
    return false;
  }
  if (results_.size() >= options_.most_results) {
    Skip();
    return false;
  }
  const PreparedProgram& program = built.program;
  // The linked program is shared and not copied. It stays in memory as long as the task waits,
  // which `most_results` bounds.
  results_.push_back({.linked = program.linked,
                      .entries = program.request.entries,
                      .target = program.target.target,
                      .metadata_only = program.target.metadata_only,
                      .values = built.values,
                      .signature = built.signature,
                      .record = built.record});
  return true;
}

bool ResultAudit::AddModules(const FreshResult& built) {
  bool added = false;
  for (const cache::Product& product : built.record->products) {
    if (!product.name.starts_with("code") ||
        !IsSampled(product.digest.id, options_.validate_percent)) {
      continue;
    }
    if (seen_.Find(product.digest.id) != nullptr) {
      continue;
    }
    if (seen_.size() >= kMostSeen) {
      seen_.DropOldest();
    }
    // Noted before it is validated: equal modules of many variants are one piece of work, whatever
    // comes of it.
    seen_.Add(product.digest.id, {}, 0);
    if (modules_.size() >= options_.most_modules) {
      Skip();
      continue;
    }
    modules_.push_back({.environment = built.program.target.environment, .digest = product.digest});
    added = true;
  }
  return added;
}

void ResultAudit::Note(const FreshResult& built) {
  {
    const MutexLock lock(mutex_);
    const bool result = AddResult(built);
    const bool modules = AddModules(built);
    // One job at a time works off what waits. It is submitted outside of the mutex, which Submit
    // takes itself if the queue refuses.
    if (working_ || !(result || modules)) {
      return;
    }
    working_ = true;
  }
  Submit();
}

void ResultAudit::Submit() {
  const jobs::Job job{.lane = jobs::Lane::kBatch,
                      .name = "audit",
                      .tenant = {},
                      .session = "audit",
                      .run = [this](const cache::Call& call) {
                        // The queue would report the exception, but nobody would set `working_`
                        // again.
                        if (const Result<void> worked = CatchAll([&] { Work(call); });
                            !worked.ok()) {
                          Broke(worked.error());
                        }
                      }};
  if (!queue_.Submit(job).ok()) {  // full or closed: whoever is noted next tries again
    const MutexLock lock(mutex_);
    working_ = false;
  }
}

// An exception costs only the result that was being checked; the next one is checked all the same.
void ResultAudit::Broke(const Error& error) {
  log_.Write(LogLevel::kError, "audit", "an audit failed", {{"what", error.context}});
  const MutexLock lock(mutex_);
  working_ = false;
}

void ResultAudit::Work(const cache::Call& call) {
  const Duration end = clock_.Monotonic() + kSlice;
  bool more = true;
  // At least one task in each slice, or audits would never end on a slow machine.
  while (more && !call.stop.stop_requested() && clock_.Monotonic() < end) {
    std::optional<RebuildTask> result;
    std::optional<Module> module;
    {
      const MutexLock lock(mutex_);
      if (!results_.empty()) {
        result = std::move(results_.front());
        results_.pop_front();
      } else if (!modules_.empty()) {
        module = modules_.front();
        modules_.pop_front();
      }
      more = !results_.empty() || !modules_.empty();
    }
    // Results come before modules: they hold a linked program in memory.
    if (result.has_value()) {
      Rebuild(*result, call);
    } else if (module.has_value()) {
      Validate(*module, call);
    }
  }
  {
    const MutexLock lock(mutex_);
    // A slice has ended. The rest is a new job at the end of its lane, so that batches have their
    // turn in between.
    working_ = !call.stop.stop_requested() && (!results_.empty() || !modules_.empty());
    if (!working_) {
      return;
    }
  }
  Submit();
}

// Built without the cache and without assemblers that others used, since what a shared assembler
// remembers is one of the things that might be wrong.
void ResultAudit::Rebuild(const RebuildTask& result, const cache::Call& call) {
  Result<driver::BuildResult> again =
      cache::WhileWanted({.stop = call.stop, .deadline = clock_.Monotonic() + jobs::kItemDeadline},
                         jobs::kCallBytes, clock_, [&]() -> Result<driver::BuildResult> {
                           return driver::BuildDirect(*result.linked->value, result.values,
                                                      result.entries, result.target);
                         });
  // The sources are right, since the result exists; what fails here is time, memory or the stop.
  if (!again.ok()) {
    return;  // no word about the result
  }
  ++counters_.rebuilt;
  const std::vector<cache::Product> products =
      ProductsOf(*std::move(again), result.metadata_only).record.products;
  // Digests are compared: the same products are the same bytes.
  if (products == result.record->products) {
    return;
  }
  ++counters_.different;
  log_.Write(LogLevel::kError, "audit", "a result differs when it is built again",
             {{"signature", result.signature.hex()},
              {"first", TextOf(result.record->products)},
              {"again", TextOf(products)}});
}

void ResultAudit::Validate(const Module& module, const cache::Call& call) {
  const Result<Verdict> verdict =
      recipes_.Validate(module.environment, module.digest,
                        {.stop = call.stop, .deadline = clock_.Monotonic() + kLongest});
  if (!verdict.ok()) {
    return;  // evicted, cancelled, or no process: no word about the module
  }
  ++counters_.validated;
  if (verdict->valid) {
    return;
  }
  ++counters_.invalid;
  if (options_.on_invalid != nullptr) {
    options_.on_invalid();
  }
  log_.Write(LogLevel::kError, "audit", "a module that was built is not valid SPIR-V",
             {{"digest", module.digest.id.hex()}, {"report", verdict->report}});
}

}  // namespace kiln::compile
