// SPDX-License-Identifier: MIT
// kiln cache: the store of this user, opened here. Looking works beside a running daemon; changing
// needs the store for itself.
#include <cstdlib>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/checked_store.h"
#include "cache/compressing_store.h"
#include "cache/pack/cache_export.h"
#include "cache/sqlite/keep_tables.h"
#include "cache/sqlite/maintenance.h"
#include "client/cli/store.h"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string DirectoryOf(const CacheArguments& arguments) {
  const auto variable = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (!arguments.dir.empty()) {
    return arguments.dir;
  }
  if (std::string dir = variable("KILN_CACHE_DIR"); !dir.empty()) {
    return dir;
  }
  if (const std::string base = variable("XDG_CACHE_HOME"); !base.empty()) {
    return base + "/kiln";
  }
  const std::string home = variable("HOME");
  return (home.empty() ? "/tmp" : home) + "/.cache/kiln";
}

enum class Use : uint8_t { kLook, kChange };

// The store with what hands out raw, verified bytes.
struct Opened {
  SystemClock clock;
  NullLog log;
  std::unique_ptr<cache::sqlite::SqliteStore> sqlite;
  std::optional<cache::CompressingStore> compressing;
  std::optional<cache::CheckedStore> content;
  std::optional<cache::sqlite::StoreMaintenance> maintenance;
};

Result<std::unique_ptr<Opened>> Open(const CacheArguments& arguments, Use use) {
  const std::filesystem::path dir = DirectoryOf(arguments);
  std::error_code error;
  if (use == Use::kLook && !std::filesystem::exists(dir / "cache.db", error)) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "there is no cache in " + dir.string(),
                 .reason = "NO_CACHE"};
  }
  auto opened = std::make_unique<Opened>();
  Result<std::unique_ptr<cache::sqlite::SqliteStore>> store = cache::sqlite::SqliteStore::Open(
      {.dir = dir, .must_own = use == Use::kChange, .read_only = use == Use::kLook}, opened->clock,
      opened->log);
  if (!store.ok()) {
    Error failed = store.error();
    if (failed.reason == cache::sqlite::kLocked) {
      failed.code = ErrorCode::kUnavailable;
      failed.context += "; stop it with 'kiln stop'";
    }
    return failed;
  }
  opened->sqlite = std::move(store).value();
  if (!opened->sqlite->Status().open) {
    return Error{.code = ErrorCode::kUnavailable,
                 .context = "the cache in " + dir.string() +
                            " cannot be opened: the disk is full "
                            "or fails",
                 .reason = "CACHE_CLOSED"};
  }
  opened->compressing.emplace(*opened->sqlite, *opened->sqlite);
  opened->content.emplace(*opened->compressing, *opened->sqlite);
  opened->maintenance.emplace(*opened->sqlite, opened->clock);
  return opened;
}

// Prints the result line of --json and gives the exit code.
int Finish(const Global& global, const std::string& verb, int exit, const Counts& counts) {
  PrintResult(global, verb, exit, 0, counts);
  return exit;
}

double Ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

void PrintStats(const cache::StoreStats& stats, std::optional<pid_t> owner) {
  fmt::print("{}{}\n", stats.path,
             owner.has_value() ? fmt::format("  (used by pid {})", *owner) : "");
  fmt::print("  file {}   used {}   content {} stored, {} raw ({:.1f}x)\n",
             SizeText(stats.file_bytes), SizeText(stats.used_bytes),
             SizeText(stats.levels[0].bytes), SizeText(stats.raw_bytes),
             Ratio(stats.raw_bytes, stats.levels[0].bytes));
  for (uint32_t level = 0; level < cache::kLevelCount; ++level) {
    const cache::LevelStats& row = stats.levels[level];
    fmt::print("  {:<10} {:>10} rows {:>12}", cache::LevelName(static_cast<cache::Level>(level)),
               row.rows, SizeText(row.bytes));
    const uint64_t failed = row.kinds[1] + row.kinds[2] + row.kinds[3];
    fmt::print("{}\n", failed == 0 ? ""
                                   : fmt::format("   {} source errors, {} limits, {} poison",
                                                 row.kinds[1], row.kinds[2], row.kinds[3]));
  }
  const uint64_t signatures = stats.levels[static_cast<size_t>(cache::Level::kSignature)].rows;
  const uint64_t aliases = stats.levels[static_cast<size_t>(cache::Level::kAlias)].rows;
  fmt::print("  dedup {} variants : {} signatures : {} distinct code   CPU kept {:.1f} s\n",
             aliases, signatures, stats.code_distinct, static_cast<double>(stats.cost_us) / 1e6);
  fmt::print("  pins {} ({} records)   leases {}   orphans {}   quarantined {}   explained {}\n",
             stats.pins, stats.pinned_records, stats.leases, stats.orphans, stats.quarantined,
             stats.explained);
}

Json StatsJson(const cache::StoreStats& stats) {
  Json levels = Json::array();
  for (uint32_t level = 0; level < cache::kLevelCount; ++level) {
    const cache::LevelStats& row = stats.levels[level];
    levels.push_back({{"name", cache::LevelName(static_cast<cache::Level>(level))},
                      {"rows", row.rows},
                      {"bytes", row.bytes},
                      {"ok", row.kinds[0]},
                      {"source_error", row.kinds[1]},
                      {"limit", row.kinds[2]},
                      {"poison", row.kinds[3]}});
  }
  return {{"v", 1},
          {"type", "stats"},
          {"path", stats.path},
          {"read_only", stats.read_only},
          {"file_bytes", stats.file_bytes},
          {"used_bytes", stats.used_bytes},
          {"raw_bytes", stats.raw_bytes},
          {"levels", levels},
          {"code_distinct", stats.code_distinct},
          {"cpu_kept_ms", stats.cost_us / 1000},
          {"pins", stats.pins},
          {"pinned_records", stats.pinned_records},
          {"leases", stats.leases},
          {"orphans", stats.orphans},
          {"quarantined", stats.quarantined},
          {"explained", stats.explained}};
}

void PrintFaults(const Global& global, const cache::VerifyReport& report) {
  for (const cache::Fault& fault : report.faults) {
    if (global.json) {
      const Json object{{"v", 1},
                        {"type", "fault"},
                        {"kind", cache::FaultKindName(fault.kind)},
                        {"key", fault.key.id.zero() ? "" : KeyText(fault.key)},
                        {"detail", fault.detail}};
      fmt::print("{}\n", object.dump());
    } else {
      fmt::print("{}\n", FaultText(fault));
    }
  }
}

Counts CountsOf(const cache::VerifyReport& report) {
  return {{"blobs", report.blobs}, {"records", report.records}, {"aliases", report.aliases},
          {"bytes", report.bytes}, {"orphans", report.orphans}, {"faults", report.fault_count}};
}

}  // namespace

int RunCacheStats(const Global& global, const CacheArguments& arguments) {
  const Result<std::unique_ptr<Opened>> opened = Open(arguments, Use::kLook);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  const Result<cache::StoreStats> stats = (*opened)->maintenance->Stats();
  if (!stats.ok()) {
    return Fail(global, stats.error());
  }
  if (global.json) {
    fmt::print("{}\n", StatsJson(*stats).dump());
  } else {
    PrintStats(*stats, (*opened)->sqlite->Status().owner);
  }
  return Finish(global, "cache stats", kSuccess, {});
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
  const Result<std::unique_ptr<Opened>> opened =
      Open(arguments, arguments.dry_run ? Use::kLook : Use::kChange);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  const Result<cache::GcReport> report = (*opened)->maintenance->Gc(options);
  if (!report.ok()) {
    return Fail(global, report.error());
  }
  if (!global.json && !global.quiet) {
    fmt::print("{} {} records, {}; {} wanted but leased or pinned; used {} -> {}\n",
               arguments.dry_run ? "would remove" : "removed", report->records,
               SizeText(report->bytes), report->kept, SizeText(report->used_before),
               SizeText(report->used_after));
  }
  return Finish(global, "cache gc", kSuccess,
                {{"records", report->records},
                 {"bytes", report->bytes},
                 {"kept", report->kept},
                 {"used_before", report->used_before},
                 {"used_after", report->used_after}});
}

int RunCacheVerify(const Global& global, const CacheArguments& arguments) {
  SystemClock clock;
  const Result<cache::VerifyReport> report =
      cache::sqlite::VerifyDirectory(DirectoryOf(arguments), clock,
                                     {.fast = arguments.fast,
                                      .sample_percent = arguments.sample_percent,
                                      .seed = static_cast<uint64_t>(clock.UnixTime().count())});
  if (!report.ok()) {
    return Fail(global, report.error());
  }
  PrintFaults(global, *report);
  if (!global.json && !global.quiet) {
    fmt::print("{} blobs, {} records, {} aliases, {} hashed: {}\n", report->blobs, report->records,
               report->aliases, SizeText(report->bytes),
               report->clean() ? "sound"
                               : fmt::format("{} faults; mend them with 'kiln cache repair'",
                                             report->fault_count));
  }
  return Finish(global, "cache verify", report->clean() ? kSuccess : kIntegrity, CountsOf(*report));
}

int RunCacheRepair(const Global& global, const CacheArguments& arguments) {
  const Result<std::unique_ptr<Opened>> opened = Open(arguments, Use::kChange);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  const Result<cache::RepairReport> report = (*opened)->maintenance->Repair({});
  if (!report.ok()) {
    return Fail(global, report.error());
  }
  PrintFaults(global, report->before);
  const bool clean = report->after.clean();
  if (!global.json && !global.quiet) {
    fmt::print("{} faults: {} mended, {} dropped{}; {}\n", report->before.fault_count,
               report->mended, report->dropped,
               report->rebuilt ? ", the file was rebuilt, the old one is " + report->set_aside : "",
               clean ? "sound" : "not everything could be mended");
  }
  Counts counts = CountsOf(report->after);
  counts.insert(counts.end(), {{"found", report->before.fault_count},
                               {"mended", report->mended},
                               {"dropped", report->dropped}});
  return Finish(global, "cache repair", clean ? kSuccess : kIntegrity, counts);
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
  const Result<std::unique_ptr<Opened>> opened = Open(arguments, Use::kLook);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  Opened& store = **opened;
  const Result<pack::Written> written =
      pack::ExportCache(*store.maintenance, *store.content, filter, {}, arguments.file);
  if (!written.ok()) {
    return Fail(global, written.error());
  }
  if (!global.json && !global.quiet) {
    fmt::print("{}: {} rows, {} blobs, {}\n", arguments.file, written->rows, written->blobs,
               SizeText(written->file_bytes));
  }
  return Finish(
      global, "cache export", kSuccess,
      {{"rows", written->rows}, {"blobs", written->blobs}, {"bytes", written->file_bytes}});
}

int RunCacheImport(const Global& global, const CacheArguments& arguments) {
  const Result<std::unique_ptr<pack::Pack>> file = pack::Pack::Open(arguments.file, {});
  if (!file.ok()) {
    return Fail(global, file.error());
  }
  const Result<std::unique_ptr<Opened>> opened = Open(arguments, Use::kChange);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  const Result<pack::Imported> imported = pack::ImportCache(**file, *(*opened)->content);
  if (!imported.ok()) {
    return Fail(global, imported.error());
  }
  if (!global.json && !global.quiet) {
    fmt::print("{}: {} rows, {} blobs; {} new, {} known, {} known with another result\n",
               arguments.file, imported->rows, imported->blobs, imported->added, imported->present,
               imported->other);
  }
  return Finish(global, "cache import", imported->other == 0 ? kSuccess : kIntegrity,
                {{"rows", imported->rows},
                 {"blobs", imported->blobs},
                 {"added", imported->added},
                 {"present", imported->present},
                 {"other", imported->other}});
}

int RunCachePin(const Global& global, const CacheArguments& arguments) {
  std::vector<cache::Key> keys;
  for (const std::string& text : arguments.keys) {
    const std::optional<Hash128> id = ParseHash128(text);
    if (!id.has_value()) {
      return Fail(global, {.code = ErrorCode::kInvalidArgument,
                           .context = "'" + text + "' is no key (32 hex digits)",
                           .reason = "USAGE"});
    }
    keys.push_back({.level = cache::Level::kSignature, .id = *id});
    keys.push_back({.level = cache::Level::kAlias, .id = *id});
  }
  cache::Pin pin{.name = arguments.name, .note = arguments.note};
  const Result<std::unique_ptr<Opened>> opened = Open(arguments, Use::kChange);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  if (!arguments.until.empty()) {
    const Result<uint64_t> seconds = ParseAge(arguments.until);
    if (!seconds.ok()) {
      return Fail(global, seconds.error());
    }
    const auto now = std::chrono::duration_cast<std::chrono::seconds>((*opened)->clock.UnixTime());
    pin.until_s = now.count() + static_cast<int64_t>(*seconds);
  }
  const Result<uint64_t> pinned = cache::sqlite::PinTable(*(*opened)->sqlite).Add(pin, keys);
  if (!pinned.ok()) {
    return Fail(global, pinned.error());
  }
  if (!global.json && !global.quiet) {
    fmt::print("pinned {} of {} keys as {}\n", *pinned, arguments.keys.size(), arguments.name);
  }
  return Finish(global, "cache pin", *pinned < arguments.keys.size() ? kNotFound : kSuccess,
                {{"records", *pinned}});
}

int RunCacheUnpin(const Global& global, const CacheArguments& arguments) {
  const Result<std::unique_ptr<Opened>> opened = Open(arguments, Use::kChange);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  const Result<void> removed = cache::sqlite::PinTable(*(*opened)->sqlite).Remove(arguments.name);
  return removed.ok() ? Finish(global, "cache unpin", kSuccess, {}) : Fail(global, removed.error());
}

int RunCachePins(const Global& global, const CacheArguments& arguments) {
  const Result<std::unique_ptr<Opened>> opened = Open(arguments, Use::kLook);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  const Result<std::vector<cache::Pin>> pins = cache::sqlite::PinTable(*(*opened)->sqlite).List();
  if (!pins.ok()) {
    return Fail(global, pins.error());
  }
  for (const cache::Pin& pin : *pins) {
    if (global.json) {
      const Json object{{"v", 1},
                        {"type", "pin"},
                        {"name", pin.name},
                        {"records", pin.records},
                        {"made_s", pin.made_s},
                        {"until_s", pin.until_s.value_or(0)},
                        {"note", pin.note}};
      fmt::print("{}\n", object.dump());
    } else {
      fmt::print("{:<24} {:>8} records  {}\n", pin.name, pin.records, pin.note);
    }
  }
  return Finish(global, "cache pins", kSuccess, {{"pins", pins->size()}});
}

}  // namespace kiln::cli
