// SPDX-License-Identifier: MIT
// `kiln status` (spec/cli 6.11): one look at the daemon, repeated with --watch. It asks for a ping,
// the status, optionally the jobs, and last the statistics of the cache, each as a call of its own.
// A look is not one consistent picture, and need not be: people read it.
#include "client/cli/daemon/status.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"

namespace kiln::cli {
namespace {

struct StatusArguments {
  bool watch = false;   // again every second until interrupted
  bool jobs = false;    // and what is queued or runs
  bool caches = false;  // and what is remembered in memory
  std::string trace;    // spans of this id instead
};

using Json = nlohmann::ordered_json;

constexpr size_t kShownWarnings = 5;

struct Look {
  client::ServerInfo info;
  client::ServerStatus status;
  std::vector<client::JobRow> jobs;
};

// The ping comes first because its deadline is short. Every later call may take longer, and a
// daemon that does not answer at all must be told at once.
Result<Look> LookAt(client::Client& client, const Global& global,
                    const StatusArguments& arguments) {
  Look look;
  Result<client::ServerInfo> info = client.Ping(client::kPing);
  const bool is_ours = DaemonAddress(global).starts_with("unix:");
  if (!info.ok() && info.error().code == ErrorCode::kUnavailable && is_ours) {
    return Error{.code = ErrorCode::kUnavailable,
                 .context = fmt::format("no daemon answers at {}; start it with 'kiln start'",
                                        DaemonAddress(global)),
                 .reason = "DAEMON_UNREACHABLE"};
  }
  KILN_TRY(look.info, std::move(info));
  // Upstreams are asked anew for a person who looks once. Asking them every second, or for an exit
  // code, would be load without use.
  const bool check = !global.quiet && !arguments.watch;
  KILN_TRY(look.status, client.Status(check ? client::Client::Upstreams::kCheck
                                            : client::Client::Upstreams::kAsKnown));
  if (arguments.jobs) {
    KILN_TRY(look.jobs, client.Jobs());
  }
  return look;
}

// A daemon that is degraded still answers. Scripts that wait for it must not wait for ever because
// its disk is full.
bool IsGood(const client::ServerStatus& status) {
  return status.health == "SERVING" || status.health == "DEGRADED";
}

std::string UpstreamText(const client::ServerStatus::Upstream& upstream) {
  std::string text = fmt::format("{} {}", upstream.url, upstream.State());
  if (upstream.latency_us != 0) {
    text += fmt::format(" in {:.1f} ms", static_cast<double>(upstream.latency_us) / 1000);
  }
  text += upstream.writes ? "" : " (read only)";
  return upstream.cause.empty() ? text : text + ": " + upstream.cause;
}

// Members are only ever added (spec/cli 7.1). What is not known is null or left out, never 0: 0
// would be a latency. The cache is a parameter of its own because asking for it may fail while the
// rest is known; then it is an empty object.
Json StatusJson(const Look& look, const Json& cache) {
  Json lanes = Json::object();
  for (const client::LaneStatus& lane : look.status.lanes) {
    lanes[lane.name] = {
        {"queued", lane.queued}, {"running", lane.running}, {"oldest_ms", lane.oldest_ms}};
  }
  Json warnings = Json::array();
  for (const client::ServerStatus::Warning& warning : look.status.warnings) {
    warnings.push_back({{"at", warning.at_ms}, {"text", warning.text}});
  }
  Json upstreams = Json::array();
  for (const client::ServerStatus::Upstream& row : look.status.upstreams) {
    upstreams.push_back({{"url", row.url},
                         {"state", row.State()},
                         {"writes", row.writes},
                         {"cause", row.cause.empty() ? Json() : Json(row.cause)},
                         {"since", row.since_ms == 0 ? Json() : Json(row.since_ms)},
                         {"latency_us", row.latency_us == 0 ? Json() : Json(row.latency_us)}});
  }
  Json object{{"v", 1},
              {"type", "status"},
              {"state", look.status.health},
              {"reasons", look.status.reasons},
              {"version", look.info.version},
              {"build_id", look.info.build_id},
              {"uptime_ms", look.info.uptime_ms},
              {"lanes", lanes},
              {"batches", look.status.batches},
              {"cache", cache},
              {"pid", look.info.pid},
              {"started_by", look.info.started_by},
              {"transports", look.info.transports},
              {"connections", look.status.connections},
              {"memory",
               {{"resident", look.status.resident},
                {"soft_limit", look.status.soft_limit},
                {"hard_limit", look.status.hard_limit}}},
              {"watch_sessions", look.status.watch_sessions},
              {"warnings", warnings},
              {"upstreams", upstreams}};
  if (!look.status.last_crash.empty()) {
    object["last_crash"] = look.status.last_crash;
  }
  return object;
}

// The health first, then a line for each part; a part that the daemon does not have is left out.
// `cache` may be an error: the status is told all the same.
void PrintText(const Look& look, const Result<client::CacheStats>& cache) {
  Print("{}  kilnd {} (pid {}, {})  up {} s\n", look.status.health, look.info.version,
        look.info.pid, look.info.started_by, look.info.uptime_ms / 1000);
  for (const std::string& reason : look.status.reasons) {
    Print("  reason {}\n", reason);
  }
  for (const std::string& transport : look.info.transports) {
    Print("  listens on {}\n", transport);
  }
  for (const client::LaneStatus& lane : look.status.lanes) {
    Print("  {:<12} {} queued, {} running", lane.name, lane.queued, lane.running);
    Print("{}\n", lane.queued == 0 ? std::string()
                                   : fmt::format(", the oldest waits for {} ms", lane.oldest_ms));
  }
  Print("  {:<12} {} of {} (soft limit)\n", "memory", SizeText(look.status.resident),
        SizeText(look.status.soft_limit));
  if (cache.ok()) {
    Print("  {:<12} {} of {} in {}\n", "cache", SizeText(cache->used_bytes),
          SizeText(cache->max_bytes), cache->path);
  }
  Print("  {:<12} {} connections, {} watch sessions\n", "clients", look.status.connections,
        look.status.watch_sessions);
  for (const client::ServerStatus::Upstream& upstream : look.status.upstreams) {
    Print("  {:<12} {}\n", "upstream", UpstreamText(upstream));
  }
  for (const std::string& batch : look.status.batches) {
    Print("  batch {}\n", batch);
  }
  const auto& warnings = look.status.warnings;
  const size_t shown = std::min(kShownWarnings, warnings.size());
  // The last ones, which are the newest.
  for (auto row = warnings.end() - static_cast<ptrdiff_t>(shown); row != warnings.end(); ++row) {
    Print("  {}\n", row->text);
  }
  if (!look.status.last_crash.empty()) {
    Print("  the run before crashed; kiln doctor shows the report\n");
  }
}

// With --json a line for each job, behind the one of the status: the list has no bound, and a
// reader of lines need not hold all of it.
void PrintJobs(const Global& global, const Look& look) {
  for (const client::JobRow& job : look.jobs) {
    if (global.json) {
      const Json object{{"v", 1},
                        {"type", "job"},
                        {"id", job.id},
                        {"lane", job.lane},
                        {"tenant", job.tenant},
                        {"stage", job.stage},
                        {"age_ms", job.age_ms},
                        {"cpu_ms", job.cpu_ms}};
      PrintLine(object);
    } else {
      Print("  job {:<6} {:<12} {:<24} {} ms old, {} ms of CPU\n", job.id, job.lane, job.stage,
            job.age_ms, job.cpu_ms);
    }
  }
}

// Shares of what was looked up, and of the bounds.
std::string PercentOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.0f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void PrintCaches(const Global& global, const Look& look) {
  if (!global.json && !look.status.caches.empty()) {
    Print("  {:<22} {:>10} {:>10} {:>9} {:>9} {:>9} {:>6}\n", "in memory", "bytes", "of", "entries",
          "of", "hits", "found");
  }
  for (const client::ServerStatus::Cache& row : look.status.caches) {
    if (global.json) {
      PrintLine({{"v", 1},
                 {"type", "memory_cache"},
                 {"name", row.name},
                 {"bytes", row.bytes},
                 // A cache without such a bound has null here. 0 would read as one that may hold
                 // nothing.
                 {"max_bytes", row.max_bytes == 0 ? Json() : Json(row.max_bytes)},
                 {"entries", row.entries},
                 {"max_entries", row.max_entries == 0 ? Json() : Json(row.max_entries)},
                 {"hits", row.hits},
                 {"misses", row.misses}});
    } else {
      Print("  {:<22} {:>10} {:>10} {:>9} {:>9} {:>9} {:>6}\n", row.name, SizeText(row.bytes),
            row.max_bytes == 0 ? "-" : SizeText(row.max_bytes), row.entries,
            row.max_entries == 0 ? "-" : std::to_string(row.max_entries), row.hits,
            PercentOf(row.hits, row.hits + row.misses));
    }
  }
}

// The ping has a deadline of its own, so a daemon that hangs is told soon.
int ShowTrace(const Global& global, client::Client& client, const std::string& id) {
  if (const auto info = client.Ping(client::kPing); !info.ok()) {
    return Fail(global, info.error());
  }
  const Result<std::vector<client::CallTrace>> traces = client.Traces(id);
  if (!traces.ok()) {
    return Fail(global, traces.error());
  }
  for (const client::CallTrace& trace : *traces) {
    if (global.json) {
      Json spans = Json::array();
      for (const client::CallTrace::Span& span : trace.spans) {
        spans.push_back({{"name", span.name}, {"start_us", span.start_us}, {"us", span.us}});
      }
      const Json object{{"v", 1},
                        {"type", "trace"},
                        {"id", trace.id},
                        {"method", trace.method},
                        {"code", trace.code},
                        {"at", trace.at_ms},
                        {"us", trace.us},
                        {"spans", spans}};
      PrintLine(object);
      continue;
    }
    Print("{}  {}  {}  {} us\n", trace.id, trace.method, trace.code, trace.us);
    for (const client::CallTrace::Span& span : trace.spans) {
      Print("  {:>9} us  {:<12} {} us\n", span.start_us, span.name, span.us);
    }
  }
  NoteResult("status", 0, {});
  return kSuccess;
}

// The exit code follows the health alone (spec/cli 4), not whether the cache or the jobs could be
// read.
int ShowOnce(const Global& global, client::Client& client, const StatusArguments& arguments) {
  const Result<Look> look = LookAt(client, global, arguments);
  if (!look.ok()) {
    // With -q the exit code alone is the answer.
    return global.quiet ? ExitCodeOf(look.error()) : Fail(global, look.error());
  }
  const int exit = IsGood(look->status) ? kSuccess : kUnreachable;
  if (global.quiet) {
    return exit;
  }
  // Asked last and allowed to fail: a cache whose disk is broken is what a person looks for here.
  const Result<client::CacheStats> cache = client.CacheStatistics();
  if (global.json) {
    Json numbers = Json::object();
    if (cache.ok()) {
      numbers = {{"path", cache->path},
                 {"used_bytes", cache->used_bytes},
                 {"max_bytes", cache->max_bytes},
                 {"memory_bytes", cache->memory_bytes}};
    }
    PrintLine(StatusJson(*look, numbers));
  } else {
    PrintText(*look, cache);
  }
  PrintJobs(global, *look);
  if (arguments.caches) {
    PrintCaches(global, *look);
  }
  NoteResult("status", 0, {});
  return exit;
}

// With --watch only a signal ends the loop, so the code of the last look is never returned in
// practice. A look that fails, because the daemon restarts for example, is told and the next one is
// tried.
int RunStatus(const Global& global, const StatusArguments& arguments) {
  const Result<std::unique_ptr<client::Client>> client = OpenDaemon(global);
  if (!client.ok()) {
    return Fail(global, client.error());
  }
  if (!arguments.trace.empty()) {
    return ShowTrace(global, **client, arguments.trace);
  }
  int exit = ShowOnce(global, **client, arguments);
  while (arguments.watch) {  // until Ctrl-C
    (void)std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    // Home and erase: the next look is drawn over this one.
    if (!global.json && isatty(STDOUT_FILENO) != 0) {
      Print("\x1b[H\x1b[J");
    }
    exit = ShowOnce(global, **client, arguments);
  }
  return exit;
}

}  // namespace

void AddStatus(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<StatusArguments>();
  CLI::App* status = AddVerb(app, line,
                             {"status", "Daemon, queue, batches, cache, health",
                              "  kiln status\n  kiln status --jobs --json"},
                             [&line, arguments] { return RunStatus(line.global, *arguments); });
  status->add_flag("--watch", arguments->watch, "Again every second");
  status->add_flag("--jobs", arguments->jobs, "And what is queued or runs");
  status->add_flag("--caches", arguments->caches, "And what is remembered in memory");
  status->add_option("--trace", arguments->trace, "What the calls of this trace id did");
}

}  // namespace kiln::cli
