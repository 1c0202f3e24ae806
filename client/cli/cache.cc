// SPDX-License-Identifier: MIT
// kiln cache: the store of this user. If the daemon of the flags has it, the daemon is asked and
// works on it while it serves; else it is opened here: looking works beside another process,
// changing needs the store for itself.
#include <cstdlib>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/checked_store.h"
#include "cache/compressing_store.h"
#include "cache/pack/cache_export.h"
#include "cache/record.h"
#include "cache/sqlite/explain_table.h"
#include "cache/sqlite/keep_tables.h"
#include "cache/sqlite/maintenance.h"
#include "client/cli/cache_view.h"
#include "client/cli/explanation.h"
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

// The daemon of the flags, if it has the store of the directory; one behind https has its own.
std::unique_ptr<client::Client> HolderOf(const Global& global, const CacheArguments& arguments) {
  const bool remote = !DaemonAddress(global).starts_with("unix:");
  const std::optional<pid_t> owner = cache::sqlite::FindOwner(DirectoryOf(arguments));
  if (!owner.has_value() && !remote) {
    return nullptr;
  }
  Result<std::unique_ptr<client::Client>> client = OpenDaemon(global);
  if (!client.ok()) {
    return nullptr;
  }
  const Result<client::ServerInfo> info = (*client)->Ping(client::kPing);
  const bool holds = info.ok() && (remote || info->pid == static_cast<uint64_t>(*owner));
  return holds ? std::move(client).value() : nullptr;
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
  opened->compressing.emplace(*opened->sqlite, *opened->sqlite, &opened->sqlite->dictionaries());
  opened->content.emplace(*opened->compressing, *opened->sqlite);
  opened->maintenance.emplace(*opened->sqlite, opened->clock);
  return opened;
}

// Prints the result line of --json and gives the exit code.
int Finish(const Global& global, const std::string& verb, int exit, const Counts& counts) {
  PrintResult(global, verb, exit, 0, counts);
  return exit;
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

// A finding of a daemon: "blob content/0/99aa…: content id differs".
void PrintFinding(const Global& global, const std::string& text) {
  if (!global.json) {
    fmt::print("{}\n", text);
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
  fmt::print("{}\n", object.dump());
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
  if (const auto daemon = HolderOf(global, arguments); daemon != nullptr) {
    KILN_TRY(const client::MaintenanceDone done,
             daemon->GcCache({.to_bytes = options.to_bytes.value_or(0),
                              .older_than_s = options.older_than_s.value_or(0),
                              .failed = options.failed,
                              .vacuum = options.vacuum,
                              .dry_run = options.dry_run}));
    return cache::GcReport{.records = done.records,
                           .bytes = done.bytes,
                           .kept = done.kept,
                           .used_before = done.used_before,
                           .used_after = done.used_after};
  }
  KILN_TRY(const std::unique_ptr<Opened> opened,
           Open(arguments, options.dry_run ? Use::kLook : Use::kChange));
  return opened->maintenance->Gc(options);
}

struct Verified {
  Counts counts;
  uint64_t faults = 0;
};

Result<Verified> Verify(const Global& global, const CacheArguments& arguments) {
  if (const auto daemon = HolderOf(global, arguments); daemon != nullptr) {
    KILN_TRY(const client::MaintenanceDone done,
             daemon->VerifyCache(arguments.fast, arguments.sample_percent,
                                 [&](const std::string& text) { PrintFinding(global, text); }));
    return Verified{.counts = CountsOf(done), .faults = done.damaged};
  }
  SystemClock clock;
  KILN_TRY(
      const cache::VerifyReport report,
      cache::sqlite::VerifyDirectory(DirectoryOf(arguments), clock,
                                     {.fast = arguments.fast,
                                      .sample_percent = arguments.sample_percent,
                                      .seed = static_cast<uint64_t>(clock.UnixTime().count())}));
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
  if (const auto daemon = HolderOf(global, arguments); daemon != nullptr) {
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
  KILN_TRY(const std::unique_ptr<Opened> opened, Open(arguments, Use::kChange));
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
  if (const auto daemon = HolderOf(global, arguments); daemon != nullptr) {
    const Result<client::CacheStats> stats = daemon->CacheStatistics();
    if (!stats.ok()) {
      return Fail(global, stats.error());
    }
    PrintStats(global, *stats, cache::sqlite::FindOwner(DirectoryOf(arguments)));
    return Finish(global, "cache stats", kSuccess, {});
  }
  const Result<std::unique_ptr<Opened>> opened = Open(arguments, Use::kLook);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  const Result<cache::StoreStats> stats = (*opened)->maintenance->Stats();
  if (!stats.ok()) {
    return Fail(global, stats.error());
  }
  PrintStats(global, StatsOf(*stats), (*opened)->sqlite->Status().owner);
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
  const Result<cache::GcReport> report = Collect(global, arguments, options);
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
  const Result<Verified> verified = Verify(global, arguments);
  if (!verified.ok()) {
    return Fail(global, verified.error());
  }
  const bool clean = verified->faults == 0;
  if (!global.json && !global.quiet) {
    const Counts& counts = verified->counts;
    fmt::print(
        "{} blobs, {} records, {} aliases, {} hashed: {}\n", counts[0].second, counts[1].second,
        counts[2].second, SizeText(counts[3].second),
        clean ? "sound"
              : fmt::format("{} faults; mend them with 'kiln cache repair'", verified->faults));
  }
  return Finish(global, "cache verify", clean ? kSuccess : kIntegrity, verified->counts);
}

int RunCacheRepair(const Global& global, const CacheArguments& arguments) {
  const Result<Repaired> repaired = Repair(global, arguments);
  if (!repaired.ok()) {
    return Fail(global, repaired.error());
  }
  const bool clean = repaired->left == 0;
  if (!global.json && !global.quiet) {
    fmt::print("{} faults: {} mended, {} dropped; {} records fetched, {} compiled again{}; {}\n",
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

namespace {

Result<pack::Imported> Import(const Global& global, const CacheArguments& arguments) {
  KILN_TRY(const std::unique_ptr<pack::Pack> file, pack::Pack::Open(arguments.file, {}));
  if (const auto daemon = HolderOf(global, arguments); daemon != nullptr) {
    SystemClock clock;
    return pack::ImportCache(*file, *daemon->CacheStore(clock));
  }
  KILN_TRY(const std::unique_ptr<Opened> opened, Open(arguments, Use::kChange));
  return pack::ImportCache(*file, *opened->content);
}

}  // namespace

int RunCacheImport(const Global& global, const CacheArguments& arguments) {
  const Result<pack::Imported> imported = Import(global, arguments);
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

namespace {

Result<uint64_t> PinKeys(const Global& global, const CacheArguments& arguments,
                         const cache::Pin& pin, const std::vector<cache::Key>& keys) {
  if (const auto daemon = HolderOf(global, arguments); daemon != nullptr) {
    return daemon->Pin(pin.name, arguments.keys, static_cast<uint64_t>(pin.until_s.value_or(0)),
                       pin.note);
  }
  KILN_TRY(const std::unique_ptr<Opened> opened, Open(arguments, Use::kChange));
  return cache::sqlite::PinTable(*opened->sqlite).Add(pin, keys);
}

Result<void> Unpin(const Global& global, const CacheArguments& arguments) {
  if (const auto daemon = HolderOf(global, arguments); daemon != nullptr) {
    return daemon->Unpin(arguments.name);
  }
  KILN_TRY(const std::unique_ptr<Opened> opened, Open(arguments, Use::kChange));
  return cache::sqlite::PinTable(*opened->sqlite).Remove(arguments.name);
}

}  // namespace

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
  if (!arguments.until.empty()) {
    const Result<uint64_t> seconds = ParseAge(arguments.until);
    if (!seconds.ok()) {
      return Fail(global, seconds.error());
    }
    SystemClock clock;
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime());
    pin.until_s = now.count() + static_cast<int64_t>(*seconds);
  }
  const Result<uint64_t> pinned = PinKeys(global, arguments, pin, keys);
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
  const Result<void> removed = Unpin(global, arguments);
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

namespace {

// What the store of the directory remembers of a key, without a daemon.
Result<client::Explanation> Remembered(const CacheArguments& arguments, Hash128 key) {
  KILN_TRY(const std::unique_ptr<Opened> opened, Open(arguments, Use::kLook));
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
  if (const auto daemon = HolderOf(global, arguments); daemon != nullptr) {
    const Result<client::Explained> explained =
        daemon->Explain(client::Client::ExplainKey{arguments.name});
    if (!explained.ok()) {
      return Fail(global, explained.error());
    }
    for (const client::Explanation& record : explained->records) {
      PrintExplanation(global, record, record.program + " " + record.target);
    }
    return Finish(global, "cache why", kSuccess, {});
  }
  const Result<client::Explanation> record = Remembered(arguments, *key);
  if (!record.ok()) {
    return Fail(global, record.error());
  }
  PrintExplanation(global, *record, record->program + " " + record->target);
  return Finish(global, "cache why", kSuccess, {});
}

}  // namespace kiln::cli
