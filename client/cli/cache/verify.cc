// SPDX-License-Identifier: MIT
// `kiln cache verify` (spec/cli 6.11): hashes all content again and checks that rows lead somewhere
// (spec/cache 6.6). It reads only. With a daemon the daemon does it, because a second reader of its
// file would compete with it for the disk at the least.
#include "client/cli/cache/verify.h"

#include <cstdint>
#include <functional>

#include <fmt/format.h>

#include "client/cli/add_verb.h"
#include "client/cli/cache/faults.h"
#include "client/cli/cache/local_cache.h"
#include "client/cli/failure.h"
#include "client/cli/output/byte_progress.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"

namespace kiln::cli {
namespace {

struct VerifyArguments {
  bool fast = false;
  uint32_t sample_percent = 0;
};

struct VerifyCounts {
  Counts counts;
  uint64_t faults = 0;
};

// Faults are printed as they are met when a daemon does the work, and at the end otherwise. The
// number of faults is the exact one in both cases, even where the list of them is cut.
Result<VerifyCounts> Verify(const Global& global, const std::string& dir,
                            const VerifyArguments& arguments) {
  SystemClock clock;
  ByteProgress progress(global, "cache verify", clock);
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, dir));
  if (daemon != nullptr) {
    KILN_TRY(const client::MaintenanceDone done,
             daemon->VerifyCache(
                 arguments.fast, arguments.sample_percent,
                 [&](const std::string& text) { PrintFinding(global, text); }, std::ref(progress)));
    return VerifyCounts{.counts = CountsOf(done), .faults = done.damaged};
  }
  // The folder is read without being opened as a store, so that a file which no store would open is
  // looked at as well, and nothing is repaired on the way.
  KILN_TRY(const cache::VerifyReport report,
           cache::sqlite::VerifyDirectory(DirectoryOf(dir), clock,
                                          {.fast = arguments.fast,
                                           .sample_percent = arguments.sample_percent,
                                           // Another sample each time: repeated runs of a few
                                           // percent come to see everything.
                                           .seed = static_cast<uint64_t>(clock.UnixTime().count()),
                                           .on_bytes = std::ref(progress)}));
  PrintFaults(global, report);
  return VerifyCounts{.counts = CountsOf(report), .faults = report.fault_count};
}

// A cache with faults is a result and not an error of the command; the exit code tells it apart for
// scripts (spec/cli 4).
int RunCacheVerify(const Global& global, const std::string& dir, const VerifyArguments& arguments) {
  const Result<VerifyCounts> verified = Verify(global, dir, arguments);
  if (!verified.ok()) {
    return Fail(global, verified.error());
  }
  const bool clean = verified->faults == 0;
  if (!global.json && !global.quiet) {
    const Counts& counts = verified->counts;
    // By position, in the order of CountsOf (faults.cc).
    Print("{} blobs, {} records, {} aliases, {} hashed: {}\n", counts[0].second, counts[1].second,
          counts[2].second, SizeText(counts[3].second),
          clean ? "sound"
                : fmt::format("{} faults; mend them with 'kiln cache repair'", verified->faults));
  }
  return Finish("cache verify", clean ? kSuccess : kIntegrity, verified->counts);
}

}  // namespace

void AddCacheVerify(CLI::App& cache, CommandLine& line,
                    const std::shared_ptr<const std::string>& dir) {
  const auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* verify =
      AddVerb(cache, line,
              {"verify", "Hash everything again; changes nothing",
               "  kiln cache verify\n  kiln cache verify --sample 5"},
              [&line, dir, arguments] { return RunCacheVerify(line.global, *dir, *arguments); });
  verify->add_flag("--fast", arguments->fast, "Structure only");
  verify->add_option("--sample", arguments->sample_percent, "Percent of the content")
      ->check(CLI::Range(1, 100));
}

}  // namespace kiln::cli
