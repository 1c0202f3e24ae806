// SPDX-License-Identifier: MIT
// `kiln cache gc` (spec/cli 6.11): collects now, by the conditions that the words give, what a
// daemon would collect in its own time (spec/cache 8). Pins, leases and what was used in the last
// minutes stay, whatever the words say.
#include "client/cli/cache/gc.h"

#include <algorithm>
#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "client/cli/add_verb.h"
#include "client/cli/cache/local_cache.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"

namespace kiln::cli {
namespace {

struct GcArguments {
  std::string to;          // "10GiB"
  std::string older_than;  // "7d"
  bool failed = false;
  bool vacuum = false;
  bool dry_run = false;
};

Result<cache::GcReport> Collect(const Global& global, const std::string& dir,
                                const cache::GcOptions& options) {
  // Whoever holds the store must do the work: two processes never write one cache. A dry run
  // without a daemon only looks.
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, dir));
  if (daemon != nullptr) {
    KILN_TRY(const client::MaintenanceDone done, daemon->GcCache(RequestOf(options)));
    cache::GcReport report{.records = done.records,
                           .bytes = done.bytes,
                           .kept = done.kept,
                           .used_before = done.used_before,
                           .used_after = done.used_after,
                           .pinned = done.pinned,
                           .kept_until_s = done.kept_until_s};
    for (const auto& [owner, until_s] : done.leases) {
      report.leases.push_back({.owner = owner, .until_s = until_s});
    }
    return report;
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened,
           OpenCache(dir, options.dry_run ? Use::kLook : Use::kChange));
  return opened->maintenance->Gc(options);
}

// "14:32:07", of this machine's time zone.
std::string TimeText(int64_t unix_s) {
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm local{};
  (void)localtime_r(&time, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

// What is in the way of `gc --to`, until when, and what to do.
Error StillTooLarge(const cache::GcReport& report, uint64_t to) {
  std::string text = fmt::format("the cache uses {}, and --to asks for {}: {} records are kept",
                                 SizeText(report.used_after), SizeText(to), report.kept);
  text += report.pinned == 0
              ? ""
              : fmt::format(", {} of them by pins ('kiln cache pins')", report.pinned);
  for (const cache::Keeper& lease : report.leases) {
    text += fmt::format(", leased by {} until {}", lease.owner, TimeText(lease.until_s));
  }
  return {
      .code = ErrorCode::kResourceExhausted,
      .context = text + fmt::format("; what was used in the last minutes stays: repeat after {}, "
                                    "or let cache.max_size in kilnd.toml keep it small",
                                    TimeText(report.kept_until_s)),
      .reason = "CACHE_KEPT"};
}

// Words are checked in full before a daemon is asked: a collection cannot be undone.
int RunCacheGc(const Global& global, const std::string& dir, const GcArguments& arguments) {
  cache::GcOptions options{
      .failed = arguments.failed, .vacuum = arguments.vacuum, .dry_run = arguments.dry_run};
  if (!arguments.to.empty()) {
    const Result<uint64_t> bytes = ParseSize(arguments.to);
    if (!bytes.ok()) {
      return Fail(global, bytes.error());
    }
    options.to_bytes = *bytes;
  }
  if (!arguments.older_than.empty()) {
    const Result<uint64_t> seconds = ParseAge(arguments.older_than);
    if (!seconds.ok()) {
      return Fail(global, seconds.error());
    }
    options.older_than_s = *seconds;
  }
  // Without a condition everything would go, which nobody means who typed three letters.
  if (arguments.to.empty() && arguments.older_than.empty() && !arguments.failed &&
      !arguments.vacuum) {
    return Fail(global, {.code = ErrorCode::kInvalidArgument,
                         .context = "say what is to go: --to SIZE, --older-than AGE, --failed or "
                                    "--vacuum",
                         .reason = "USAGE"});
  }
  const Result<cache::GcReport> report = Collect(global, dir, options);
  if (!report.ok()) {
    return Fail(global, report.error());
  }
  if (!global.json && !global.quiet) {
    Print("{} {} records, {}; {} kept by leases, pins or recent use; used {} -> {}\n",
          arguments.dry_run ? "would remove" : "removed", report->records, SizeText(report->bytes),
          report->kept, SizeText(report->used_before), SizeText(report->used_after));
  }
  int exit = kSuccess;
  // What leases, pins and recent use keep is not an error of the collection, but the size that was
  // asked for was not reached, and a script must know.
  if (!arguments.dry_run && options.to_bytes.has_value() &&
      report->used_after > *options.to_bytes) {
    exit = Fail(global, StillTooLarge(*report, *options.to_bytes));
  }
  return Finish("cache gc", exit,
                {{"records", report->records},
                 {"bytes", report->bytes},
                 {"kept", report->kept},
                 {"used_before", report->used_before},
                 {"used_after", report->used_after}});
}

}  // namespace

client::CacheCalls::GcRequest RequestOf(const cache::GcOptions& options) {
  const auto on_wire = [](const std::optional<uint64_t>& asked) {
    return asked.has_value() ? std::max<uint64_t>(*asked, 1) : 0;
  };
  return {.to_bytes = on_wire(options.to_bytes),
          .older_than_s = on_wire(options.older_than_s),
          .failed = options.failed,
          .vacuum = options.vacuum,
          .dry_run = options.dry_run};
}

void AddCacheGc(CLI::App& cache, CommandLine& line, const std::shared_ptr<const std::string>& dir) {
  const auto arguments = std::make_shared<GcArguments>();
  CLI::App* gc =
      AddVerb(cache, line,
              {"gc", "Remove what nobody holds",
               "  kiln cache gc --to 5GiB\n  kiln cache gc --older-than 30d --dry-run"},
              [&line, dir, arguments] { return RunCacheGc(line.global, *dir, *arguments); });
  gc->add_option("--to", arguments->to, "Size that is left, such as 5GiB");
  gc->add_option("--older-than", arguments->older_than, "Not used for so long, such as 30d");
  gc->add_flag("--failed", arguments->failed, "Records of failures");
  gc->add_flag("--vacuum", arguments->vacuum, "Give free pages back to the file system");
  gc->add_flag("--dry-run", arguments->dry_run, "Say what would go");
}

}  // namespace kiln::cli
