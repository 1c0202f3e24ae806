// SPDX-License-Identifier: MIT
// `kiln cache repair` (spec/cli 6.11): verifies, then mends what it can (spec/cache 6.7). A repair
// may rebuild the file from what can still be read; the old file is set aside and never removed by
// it.
#include "client/cli/cache/repair.h"

#include <algorithm>
#include <cstdint>

#include "client/cli/add_verb.h"
#include "client/cli/cache/faults.h"
#include "client/cli/cache/local_cache.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"

namespace kiln::cli {
namespace {

struct RepairCounts {
  Counts counts;  // of what is there now
  uint64_t found = 0, mended = 0, dropped = 0, left = 0;
  uint64_t refetched = 0, recompiled = 0;  // records that had gone with what was dropped
  std::string set_aside;                   // the old file, if it was rebuilt
};

// A daemon can do more than this process: it fetches or compiles again what had to be dropped.
// Without one the records are gone, and the next build makes them. The holder of the cache does the
// work, as in every verb that writes: two processes that mend one file would destroy it.
Result<RepairCounts> Repair(const Global& global, const std::string& dir) {
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, dir));
  if (daemon != nullptr) {
    KILN_TRY(const client::MaintenanceDone done,
             daemon->RepairCache([&](const std::string& text) { PrintFinding(global, text); }));
    RepairCounts repaired{.counts = CountsOf(done),
                          .found = done.damaged,
                          // A daemon counts what it dropped among what it repaired.
                          .mended = done.repaired - std::min(done.repaired, done.dropped),
                          .dropped = done.dropped,
                          .left = done.left,
                          .refetched = done.refetched,
                          .recompiled = done.recompiled,
                          .set_aside = done.set_aside};
    // The last count is that of faults, which after a repair means those that are left.
    repaired.counts.back().second = done.left;
    return repaired;
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(dir, Use::kChange));
  KILN_TRY(const cache::RepairReport report, opened->maintenance->Repair({}));
  PrintFaults(global, report.before);
  return RepairCounts{.counts = CountsOf(report.after),
                      .found = report.before.fault_count,
                      .mended = report.mended,
                      .dropped = report.dropped,
                      .left = report.after.fault_count,
                      .set_aside = report.rebuilt ? report.set_aside : std::string()};
}

// Exit 7 as long as a fault is left (spec/cli 4), whatever was mended: what is left needs a person.
int RunCacheRepair(const Global& global, const std::string& dir) {
  const Result<RepairCounts> repaired = Repair(global, dir);
  if (!repaired.ok()) {
    return Fail(global, repaired.error());
  }
  const bool clean = repaired->left == 0;
  if (!global.json && !global.quiet) {
    Print("{} faults: {} mended, {} dropped; {} records fetched, {} compiled again{}; {}\n",
          repaired->found, repaired->mended, repaired->dropped, repaired->refetched,
          repaired->recompiled,
          repaired->set_aside.empty()
              ? ""
              : ", the file was rebuilt, the old one is " + repaired->set_aside,
          clean ? "sound" : "not everything could be mended");
  }
  // The counts of `cache verify` first and under the same names, so that one reader understands
  // both verbs.
  Counts counts = repaired->counts;
  counts.insert(counts.end(), {{"found", repaired->found},
                               {"mended", repaired->mended},
                               {"dropped", repaired->dropped},
                               {"refetched", repaired->refetched},
                               {"recompiled", repaired->recompiled}});
  return Finish("cache repair", clean ? kSuccess : kIntegrity, counts);
}

}  // namespace

void AddCacheRepair(CLI::App& cache, CommandLine& line,
                    const std::shared_ptr<const std::string>& dir) {
  AddVerb(cache, line,
          {"repair", "Verify, mend what can be, drop what cannot",
           "  kiln cache repair\n  kiln cache repair --dir build/cache"},
          [&line, dir] { return RunCacheRepair(line.global, *dir); });
}

}  // namespace kiln::cli
