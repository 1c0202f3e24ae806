// SPDX-License-Identifier: MIT
// `kiln cache stats` (spec/cli 6.11): what a cache holds and how well it does. The numbers come
// from the daemon that has the folder or from the folder itself, and are brought into one form
// (CacheStats) before either printer sees them, so the two ways cannot drift apart.
#include "client/cli/cache/stats.h"

#include <optional>
#include <sys/types.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/cache/local_cache.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

// A ratio to nothing is shown as 0 and not as infinity.
double Ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

// Only records of these levels say how a build ended. Content and aliases have no outcome, and "ok"
// is 0 for them.
bool HasKinds(const client::CacheLevel& level) {
  return level.name == "module" || level.name == "signature" || level.name == "recipe";
}

void PrintText(const client::CacheStats& stats, std::optional<pid_t> owner) {
  Print("{}{}\n", stats.path.empty() ? "in memory only" : stats.path,
        owner.has_value() ? fmt::format("  (used by pid {})", *owner) : "");
  // Level 0 is content: its bytes are what the store holds compressed.
  const uint64_t content = stats.levels.empty() ? 0 : stats.levels[0].bytes;
  Print("  file {}   used {}   content {} stored, {} raw ({:.1f}x)\n", SizeText(stats.file_bytes),
        SizeText(stats.used_bytes), SizeText(content), SizeText(stats.raw_bytes),
        Ratio(stats.raw_bytes, content));
  for (const client::CacheLevel& row : stats.levels) {
    Print("  {:<10} {:>10} rows {:>12}", row.name, row.records, SizeText(row.bytes));
    // Hits are counted by the daemon that runs; for a folder without one there are none, and the
    // column stays away.
    if (const uint64_t asked = row.hits + row.misses; asked != 0) {
      Print("   {} hits of {} ({:.0f} %)", row.hits, asked, 100 * Ratio(row.hits, asked));
    }
    const uint64_t failed = row.source_errors + row.limits + row.poison;
    Print("{}\n", failed == 0 ? ""
                              : fmt::format("   {} source errors, {} limits, {} poison",
                                            row.source_errors, row.limits, row.poison));
  }
  if (!stats.misses.empty()) {
    Print("  misses by cause");
    for (const client::ExplainReply::CauseCount& row : stats.misses) {
      Print("   {} {}", row.cause, row.count);
    }
    Print("\n");
  }
  Print("  dedup {} signatures : {} distinct code   CPU kept {:.1f} s{}\n", stats.signatures,
        stats.code_distinct, static_cast<double>(stats.cpu_kept_us) / 1e6,
        stats.cpu_saved_us == 0
            ? ""
            : fmt::format(", saved {:.1f} s", static_cast<double>(stats.cpu_saved_us) / 1e6));
  Print("  pins {} ({} records)   leases {}   orphans {}   quarantined {}   explained {}\n",
        stats.pins, stats.pinned_records, stats.leases, stats.orphans, stats.quarantined,
        stats.explained);
  if (stats.corrupt != 0) {
    Print("  damaged items met {}\n", stats.corrupt);
  }
}

// The same numbers as the text form (spec/cli 7.1), with and without a daemon; what only a daemon
// knows is 0 without one.
Json StatsJson(const client::CacheStats& stats) {
  Json levels = Json::array();
  for (const client::CacheLevel& row : stats.levels) {
    const uint64_t failed = row.source_errors + row.limits + row.poison;
    levels.push_back({{"name", row.name},
                      {"rows", row.records},
                      {"bytes", row.bytes},
                      {"ok", HasKinds(row) ? row.records - failed : 0},
                      {"source_error", row.source_errors},
                      {"limit", row.limits},
                      {"poison", row.poison},
                      {"hits", row.hits},
                      {"misses", row.misses}});
  }
  Json misses = Json::object();
  for (const client::ExplainReply::CauseCount& row : stats.misses) {
    misses[row.cause] = row.count;
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
          {"cpu_kept_ms", stats.cpu_kept_us / 1000},
          {"pins", stats.pins},
          {"pinned_records", stats.pinned_records},
          {"leases", stats.leases},
          {"orphans", stats.orphans},
          {"quarantined", stats.quarantined},
          {"explained", stats.explained},
          {"misses", misses},
          {"cpu_saved_ms", stats.cpu_saved_us / 1000},
          {"memory_bytes", stats.memory_bytes},
          {"max_bytes", stats.max_bytes},
          {"corrupt", stats.corrupt}};
}

// What a daemon would have sent, but for what only a daemon knows.
client::CacheStats StatsOf(const cache::StoreStats& stats) {
  client::CacheStats out{
      .path = stats.path,
      .read_only = stats.read_only,
      .file_bytes = stats.file_bytes,
      .used_bytes = stats.used_bytes,
      .raw_bytes = stats.raw_bytes,
      .variants = stats.levels[static_cast<size_t>(cache::Level::kAlias)].rows,
      .signatures = stats.levels[static_cast<size_t>(cache::Level::kSignature)].rows,
      .code_distinct = stats.code_distinct,
      .cpu_kept_us = stats.cost_us,
      .pins = stats.pins,
      .pinned_records = stats.pinned_records,
      .leases = stats.leases,
      .orphans = stats.orphans,
      .quarantined = stats.quarantined,
      .explained = stats.explained};
  for (uint32_t level = 0; level < cache::kLevelCount; ++level) {
    const cache::LevelStats& row = stats.levels[level];
    out.levels.push_back({.name = std::string(cache::LevelName(static_cast<cache::Level>(level))),
                          .records = row.rows,
                          .bytes = row.bytes,
                          // The index is the kind of the record's outcome; [0] is that of records
                          // that are well.
                          .source_errors = row.kinds[1],
                          .limits = row.kinds[2],
                          .poison = row.kinds[3]});
  }
  return out;
}

// owner: the process that has the store.
void PrintStats(const Global& global, const client::CacheStats& stats, std::optional<pid_t> owner) {
  if (global.json) {
    PrintLine(StatsJson(stats));
  } else {
    PrintText(stats, owner);
  }
}

// The daemon is asked for its pid with a ping only to show who uses the cache. If the ping fails,
// the statistics are shown without it.
int RunCacheStats(const Global& global, const std::string& dir) {
  const auto daemon = HolderOf(global, dir);
  if (!daemon.ok()) {
    return Fail(global, daemon.error());
  }
  if (*daemon != nullptr) {
    const Result<client::CacheStats> stats = (*daemon)->CacheStatistics();
    if (!stats.ok()) {
      return Fail(global, stats.error());
    }
    // The id of a process means something on its own machine only.
    const bool is_here = DaemonAddress(global).starts_with("unix:");
    const Result<client::ServerInfo> info = (*daemon)->Ping(client::kPing);
    PrintStats(global, *stats,
               is_here && info.ok() ? std::optional(static_cast<pid_t>(info->pid)) : std::nullopt);
    return Finish("cache stats", kSuccess, {});
  }
  const Result<std::unique_ptr<LocalCache>> opened = OpenCache(dir, Use::kLook);
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

}  // namespace

void AddCacheStats(CLI::App& cache, CommandLine& line,
                   const std::shared_ptr<const std::string>& dir) {
  AddVerb(cache, line,
          {"stats", "Sizes, counts, ratios", "  kiln cache stats\n  kiln cache stats --json"},
          [&line, dir] { return RunCacheStats(line.global, *dir); });
}

}  // namespace kiln::cli
