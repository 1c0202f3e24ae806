// SPDX-License-Identifier: MIT
// kiln cache: the store of this user. If the daemon of the flags has it, the daemon is asked and
// works on it while it serves; else it is opened here. Pins are in cache_pins.cc.
#include <ctime>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/pack/cache_export.h"
#include "cache/record.h"
#include "cache/sqlite/explain_table.h"
#include "client/cli/byte_progress.h"
#include "client/cli/cache_opened.h"
#include "client/cli/cache_view.h"
#include "client/cli/explanation.h"
#include "client/cli/json_line.h"
#include "client/cli/print.h"
#include "client/cli/store_arguments.h"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

void PrintFaults(const Global& global, const cache::VerifyReport& report) {
  for (const cache::Fault& fault : report.faults) {
    if (global.json) {
      const Json object{{"v", 1},
                        {"type", "fault"},
                        {"kind", cache::FaultKindName(fault.kind)},
                        {"key", fault.key.id.zero() ? "" : KeyText(fault.key)},
                        {"detail", fault.detail}};
      PrintLine(object);
    } else {
      Print("{}\n", FaultText(fault));
    }
  }
}

// A finding of a daemon: "blob content/0/99aa…: content id differs".
void PrintFinding(const Global& global, const std::string& text) {
  if (!global.json) {
    Print("{}\n", text);
    return;
  }
  const size_t colon = text.find(": ");
  const std::string head = text.substr(0, colon);
  const size_t blank = head.find(' ');
  const Json object{{"v", 1},
                    {"type", "fault"},
                    {"kind", head.substr(0, blank)},
                    {"key", blank == std::string::npos ? "" : head.substr(blank + 1)},
                    {"detail", colon == std::string::npos ? "" : text.substr(colon + 2)}};
  PrintLine(object);
}

Counts CountsOf(const client::MaintenanceDone& done) {
  return {{"blobs", done.blobs}, {"records", done.records}, {"aliases", done.aliases},
          {"bytes", done.bytes}, {"orphans", done.orphans}, {"faults", done.damaged}};
}

Counts CountsOf(const cache::VerifyReport& report) {
  return {{"blobs", report.blobs}, {"records", report.records}, {"aliases", report.aliases},
          {"bytes", report.bytes}, {"orphans", report.orphans}, {"faults", report.fault_count}};
}

Result<cache::GcReport> Collect(const Global& global, const CacheArguments& arguments,
                                const cache::GcOptions& options) {
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, arguments));
  if (daemon != nullptr) {
    KILN_TRY(const client::MaintenanceDone done,
             daemon->GcCache({.to_bytes = options.to_bytes.value_or(0),
                              .older_than_s = options.older_than_s.value_or(0),
                              .failed = options.failed,
                              .vacuum = options.vacuum,
                              .dry_run = options.dry_run}));
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
           OpenCache(arguments, options.dry_run ? Use::kLook : Use::kChange));
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

struct Verified {
  Counts counts;
  uint64_t faults = 0;
};

Result<Verified> Verify(const Global& global, const CacheArguments& arguments) {
  SystemClock clock;
  ByteProgress progress(global, "cache verify", clock);
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, arguments));
  if (daemon != nullptr) {
    KILN_TRY(const client::MaintenanceDone done,
             daemon->VerifyCache(
                 arguments.fast, arguments.sample_percent,
                 [&](const std::string& text) { PrintFinding(global, text); }, std::ref(progress)));
    return Verified{.counts = CountsOf(done), .faults = done.damaged};
  }
  KILN_TRY(const cache::VerifyReport report,
           cache::sqlite::VerifyDirectory(DirectoryOf(arguments), clock,
                                          {.fast = arguments.fast,
                                           .sample_percent = arguments.sample_percent,
                                           .seed = static_cast<uint64_t>(clock.UnixTime().count()),
                                           .on_bytes = std::ref(progress)}));
  PrintFaults(global, report);
  return Verified{.counts = CountsOf(report), .faults = report.fault_count};
}

struct Repaired {
  Counts counts;  // of what is there now
  uint64_t found = 0, mended = 0, dropped = 0, left = 0;
  uint64_t refetched = 0, recompiled = 0;  // records that had gone with what was dropped
  std::string set_aside;                   // the old file, if it was rebuilt
};

Result<Repaired> Repair(const Global& global, const CacheArguments& arguments) {
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, arguments));
  if (daemon != nullptr) {
    KILN_TRY(const client::MaintenanceDone done,
             daemon->RepairCache([&](const std::string& text) { PrintFinding(global, text); }));
    Repaired repaired{.counts = CountsOf(done),
                      .found = done.damaged,
                      .mended = done.repaired - done.dropped,
                      .dropped = done.dropped,
                      .left = done.left,
                      .refetched = done.refetched,
                      .recompiled = done.recompiled,
                      .set_aside = done.set_aside};
    repaired.counts.back().second = done.left;
    return repaired;
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(arguments, Use::kChange));
  KILN_TRY(const cache::RepairReport report, opened->maintenance->Repair({}));
  PrintFaults(global, report.before);
  return Repaired{.counts = CountsOf(report.after),
                  .found = report.before.fault_count,
                  .mended = report.mended,
                  .dropped = report.dropped,
                  .left = report.after.fault_count,
                  .set_aside = report.rebuilt ? report.set_aside : std::string()};
}

}  // namespace

int RunCacheStats(const Global& global, const CacheArguments& arguments) {
  const auto daemon = HolderOf(global, arguments);
  if (!daemon.ok()) {
    return Fail(global, daemon.error());
  }
  if (*daemon != nullptr) {
    const Result<client::CacheStats> stats = (*daemon)->CacheStatistics();
    if (!stats.ok()) {
      return Fail(global, stats.error());
    }
    PrintStats(global, *stats, cache::sqlite::FindOwner(DirectoryOf(arguments)));
    return Finish("cache stats", kSuccess, {});
  }
  const Result<std::unique_ptr<LocalCache>> opened = OpenCache(arguments, Use::kLook);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  const Result<cache::StoreStats> stats = (*opened)->maintenance->Stats();
  if (!stats.ok()) {
    return Fail(global, stats.error());
  }
  PrintStats(global, StatsOf(*stats), (*opened)->sqlite->Status().owner);
  return Finish("cache stats", kSuccess, {});
}

int RunCacheGc(const Global& global, const CacheArguments& arguments) {
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
  if (arguments.to.empty() && arguments.older_than.empty() && !arguments.failed &&
      !arguments.vacuum) {
    return Fail(global, {.code = ErrorCode::kInvalidArgument,
                         .context = "say what is to go: --to SIZE, --older-than AGE, --failed or "
                                    "--vacuum",
                         .reason = "USAGE"});
  }
  const Result<cache::GcReport> report = Collect(global, arguments, options);
  if (!report.ok()) {
    return Fail(global, report.error());
  }
  if (!global.json && !global.quiet) {
    Print("{} {} records, {}; {} kept by leases, pins or recent use; used {} -> {}\n",
          arguments.dry_run ? "would remove" : "removed", report->records, SizeText(report->bytes),
          report->kept, SizeText(report->used_before), SizeText(report->used_after));
  }
  int exit = kSuccess;
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

int RunCacheVerify(const Global& global, const CacheArguments& arguments) {
  const Result<Verified> verified = Verify(global, arguments);
  if (!verified.ok()) {
    return Fail(global, verified.error());
  }
  const bool clean = verified->faults == 0;
  if (!global.json && !global.quiet) {
    const Counts& counts = verified->counts;
    Print("{} blobs, {} records, {} aliases, {} hashed: {}\n", counts[0].second, counts[1].second,
          counts[2].second, SizeText(counts[3].second),
          clean ? "sound"
                : fmt::format("{} faults; mend them with 'kiln cache repair'", verified->faults));
  }
  return Finish("cache verify", clean ? kSuccess : kIntegrity, verified->counts);
}

int RunCacheRepair(const Global& global, const CacheArguments& arguments) {
  const Result<Repaired> repaired = Repair(global, arguments);
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
  Counts counts = repaired->counts;
  counts.insert(counts.end(), {{"found", repaired->found},
                               {"mended", repaired->mended},
                               {"dropped", repaired->dropped},
                               {"refetched", repaired->refetched},
                               {"recompiled", repaired->recompiled}});
  return Finish("cache repair", clean ? kSuccess : kIntegrity, counts);
}

int RunCacheExport(const Global& global, const CacheArguments& arguments) {
  cache::RowFilter filter{.pin = arguments.pin};
  if (!arguments.since.empty()) {
    const Result<uint64_t> seconds = ParseAge(arguments.since);
    if (!seconds.ok()) {
      return Fail(global, seconds.error());
    }
    SystemClock clock;
    filter.since_s = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count() -
                     static_cast<int64_t>(*seconds);
  }
  const Result<std::unique_ptr<LocalCache>> opened = OpenCache(arguments, Use::kLook);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  LocalCache& store = **opened;
  const Result<pack::WriteReport> written =
      pack::ExportCache(*store.maintenance, *store.content, filter, {}, arguments.file);
  if (!written.ok()) {
    return Fail(global, written.error());
  }
  if (!global.json && !global.quiet) {
    Print("{}: {} rows, {} blobs, {}\n", arguments.file, written->rows, written->blobs,
          SizeText(written->file_bytes));
    if (written->left_out != 0) {
      Print("left out: {} rows, whose content is larger than a pack may hold ({})\n",
            written->left_out, SizeText(pack::kMaxBlobBytes));
    }
  }
  return Finish(
      "cache export", kSuccess,
      {{"rows", written->rows}, {"blobs", written->blobs}, {"bytes", written->file_bytes}});
}

namespace {

Result<pack::ImportReport> Import(const Global& global, const CacheArguments& arguments) {
  KILN_TRY(const std::unique_ptr<pack::Pack> file, pack::Pack::Open(arguments.file, {}));
  SystemClock clock;
  ByteProgress progress(global, "cache import", clock);
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, arguments));
  if (daemon != nullptr) {
    return pack::ImportCache(*file, *daemon->CacheStore(clock), std::ref(progress));
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(arguments, Use::kChange));
  return pack::ImportCache(*file, *opened->content, std::ref(progress));
}

}  // namespace

int RunCacheImport(const Global& global, const CacheArguments& arguments) {
  const Result<pack::ImportReport> imported = Import(global, arguments);
  if (!imported.ok()) {
    return Fail(global, imported.error());
  }
  if (!global.json && !global.quiet) {
    Print("{}: {} rows, {} blobs; {} new, {} known, {} known with another result\n", arguments.file,
          imported->rows, imported->blobs, imported->added, imported->present, imported->other);
  }
  return Finish("cache import", imported->other == 0 ? kSuccess : kIntegrity,
                {{"rows", imported->rows},
                 {"blobs", imported->blobs},
                 {"added", imported->added},
                 {"present", imported->present},
                 {"other", imported->other}});
}

namespace {

// What the store of the directory remembers of a key, without a daemon.
Result<client::Explanation> Remembered(const CacheArguments& arguments, Hash128 key) {
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(arguments, Use::kLook));
  const Result<cache::Blob> alias =
      opened->content->Get({.level = cache::Level::kAlias, .space = 0, .id = key}, {});
  if (alias.ok()) {
    const Result<Hash128> signature = cache::DecodeAlias(alias->bytes);
    key = signature.ok() ? *signature : key;
  }
  cache::sqlite::ExplainTable table(*opened->sqlite);
  KILN_TRY(const std::optional<cache::ExplainRecord> record, table.Find(key, {}));
  if (!record.has_value()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "no request for " + key.hex() + " is remembered",
                 .reason = "UNKNOWN_RESULT"};
  }
  KILN_TRY(const std::vector<cache::ExplainRecord> slot, table.Records(record->slot));
  std::vector<const cache::ExplainRecord*> earlier;
  for (const cache::ExplainRecord& row : slot) {
    if (row.seq < record->seq) {
      earlier.push_back(&row);
    }
  }
  return ExplanationOf(cache::Explain(*record, earlier));
}

}  // namespace

int RunCacheWhy(const Global& global, const CacheArguments& arguments) {
  const std::optional<Hash128> key = ParseHash128(arguments.name);
  if (!key.has_value()) {
    return Fail(global, {.code = ErrorCode::kInvalidArgument,
                         .context = "'" + arguments.name + "' is no key (32 hex digits)",
                         .reason = "USAGE"});
  }
  const auto daemon = HolderOf(global, arguments);
  if (!daemon.ok()) {
    return Fail(global, daemon.error());
  }
  if (*daemon != nullptr) {
    const Result<client::ExplainReply> explained =
        (*daemon)->Explain(client::Client::ExplainKey{arguments.name});
    if (!explained.ok()) {
      return Fail(global, explained.error());
    }
    for (const client::Explanation& record : explained->records) {
      PrintExplanation(global, record, record.program + " " + record.target);
    }
    return Finish("cache why", kSuccess, {});
  }
  const Result<client::Explanation> record = Remembered(arguments, *key);
  if (!record.ok()) {
    return Fail(global, record.error());
  }
  PrintExplanation(global, *record, record->program + " " + record->target);
  return Finish("cache why", kSuccess, {});
}

}  // namespace kiln::cli
