// SPDX-License-Identifier: MIT
#include "client/cli/dashboard/page_json.h"

#include "client/cli/output/results.h"

namespace kiln::cli::page {
namespace {

using Json = nlohmann::ordered_json;

Json UpstreamOf(const client::ServerStatus::Upstream& row) {
  return {{"url", row.url},
          {"state", row.answers ? "answers"
                    : row.asked ? "fails"
                                : "not asked"},
          {"writes", row.writes},
          {"cause", row.cause},
          {"since_ms", row.since_ms}};
}

Json CacheOf(const client::ServerStatus::Cache& row) {
  return {{"name", row.name},
          {"bytes", row.bytes},
          {"max_bytes", row.max_bytes},
          {"entries", row.entries},
          {"max_entries", row.max_entries},
          {"hits", row.hits},
          {"misses", row.misses}};
}

Json CauseOf(const client::ExplainReply::CauseCount& row) {
  return {{"cause", row.cause}, {"count", row.count}};
}

}  // namespace

Json JsonOf(const client::ServerInfo& info) {
  return {{"version", info.version},       {"build_id", info.build_id},
          {"started_by", info.started_by}, {"pid", info.pid},
          {"uptime_ms", info.uptime_ms},   {"transports", info.transports}};
}

Json JsonOf(const client::ServerStatus& status) {
  Json lanes = Json::array();
  for (const client::LaneStatus& lane : status.lanes) {
    lanes.push_back({{"name", lane.name},
                     {"queued", lane.queued},
                     {"running", lane.running},
                     {"oldest_ms", lane.oldest_ms}});
  }
  Json warnings = Json::array();
  for (const client::ServerStatus::Warning& warning : status.warnings) {
    warnings.push_back({{"at_ms", warning.at_ms}, {"text", warning.text}});
  }
  Json upstreams = Json::array();
  for (const client::ServerStatus::Upstream& row : status.upstreams) {
    upstreams.push_back(UpstreamOf(row));
  }
  Json caches = Json::array();
  for (const client::ServerStatus::Cache& row : status.caches) {
    caches.push_back(CacheOf(row));
  }
  return {{"health", status.health},
          {"reasons", status.reasons},
          {"lanes", lanes},
          {"warnings", warnings},
          {"uptime_ms", status.uptime_ms},
          {"memory",
           {{"resident", status.resident},
            {"soft_limit", status.soft_limit},
            {"hard_limit", status.hard_limit}}},
          {"connections", status.connections},
          {"watch_sessions", status.watch_sessions},
          {"subscribers", status.subscribers},
          {"last_crash", status.last_crash},
          {"upstreams", upstreams},
          {"caches", caches}};
}

Json JsonOf(const client::JobRow& job) {
  return {{"id", job.id},       {"lane", job.lane},     {"tenant", job.tenant},
          {"stage", job.stage}, {"age_ms", job.age_ms}, {"cpu_ms", job.cpu_ms}};
}

Json JsonOf(const client::BatchInfo& batch) {
  return {{"id", batch.id},
          {"project", batch.project},
          {"owner", batch.owner},
          {"state", batch.state},
          {"paused_by", batch.paused_by},
          {"variants_total", batch.variants_total},
          {"variants_served", batch.variants_served},
          {"results_upper", batch.results_upper},
          {"results_done", batch.results_done},
          {"ok", batch.ok},
          {"failed", batch.failed},
          {"limited", batch.limited},
          {"poisoned", batch.poisoned},
          {"compiled", batch.compiled},
          {"hits", batch.hits},
          {"shared", batch.shared},
          {"code_distinct", batch.code_distinct},
          {"programs_total", batch.programs_total},
          {"programs_done", batch.programs_done},
          {"started_ms", batch.started_ms},
          {"updated_ms", batch.updated_ms}};
}

Json JsonOf(const client::BatchItem& item) {
  return {{"program", item.program},
          {"options", OptionsJson(item.options)},
          {"outcome", OutcomeName(item.outcome.kind)},
          {"served", item.served},
          {"cpu_us", item.cpu_us},
          {"diagnostics", ListOf(item.outcome.diagnostics)}};
}

Json JsonOf(const client::CacheStats& stats) {
  Json levels = Json::array();
  for (const client::CacheLevel& level : stats.levels) {
    levels.push_back({{"name", level.name},
                      {"records", level.records},
                      {"bytes", level.bytes},
                      {"hits", level.hits},
                      {"misses", level.misses}});
  }
  Json misses = Json::array();
  for (const client::ExplainReply::CauseCount& row : stats.misses) {
    misses.push_back(CauseOf(row));
  }
  return {{"path", stats.path},
          {"read_only", stats.read_only},
          {"levels", levels},
          {"misses", misses},
          {"file_bytes", stats.file_bytes},
          {"used_bytes", stats.used_bytes},
          {"max_bytes", stats.max_bytes},
          {"raw_bytes", stats.raw_bytes},
          {"variants", stats.variants},
          {"signatures", stats.signatures},
          {"code_distinct", stats.code_distinct},
          {"cpu_saved_us", stats.cpu_saved_us},
          {"pins", stats.pins},
          {"leases", stats.leases},
          {"corrupt", stats.corrupt},
          {"quarantined", stats.quarantined}};
}

Json JsonOf(const client::PinnedSet& pin) {
  return {{"name", pin.name},       {"note", pin.note},   {"owner", pin.owner},
          {"records", pin.records}, {"bytes", pin.bytes}, {"made_s", pin.made_s},
          {"until_s", pin.until_s}};
}

Json JsonOf(const client::OptionInfo& option) {
  return {{"name", option.name},
          {"scope", option.scope == client::OptionScope::kInstance ? "instance" : "global"},
          {"kind", option.type},
          {"values", option.values},
          {"default", client::WordOf(option.default_value)},
          {"live_in", option.affects},
          {"readers", option.readers},
          {"declared_at", option.declared_at}};
}

Json JsonOf(const client::VariantCount& count) {
  Json axes = Json::array();
  for (const client::AxisCount& axis : count.axes) {
    axes.push_back({{"name", axis.name}, {"values", axis.values}, {"factor", axis.factor}});
  }
  return {{"variants", count.variants},
          {"results_upper", count.results_upper},
          {"cached", count.cached},
          {"exact", count.exact},
          {"axes", axes}};
}

Json JsonOf(const client::VariantRow& row) {
  return {{"rank", row.rank},
          {"options", OptionsJson(row.options)},
          {"state", client::StateName(row.state)},
          {"signature", row.signature}};
}

Json JsonOf(const client::ExplainReply& reply) {
  Json causes = Json::array();
  for (const client::ExplainReply::CauseCount& row : reply.causes) {
    causes.push_back(CauseOf(row));
  }
  return {{"results", reply.results}, {"causes", causes}, {"records", ListOf(reply.records)}};
}

Json JsonOf(const PlacedDiagnostic& diagnostic) {
  Json json{{"code", diagnostic.code},         {"severity", SeverityName(diagnostic.severity)},
            {"message", diagnostic.message},   {"path", diagnostic.primary.path},
            {"line", diagnostic.primary.line}, {"column", diagnostic.primary.column},
            {"notes", diagnostic.notes}};
  if (diagnostic.variants.has_value()) {
    json["condition"] = diagnostic.variants->condition;
    json["failing"] = diagnostic.variants->failing;
  }
  return json;
}

}  // namespace kiln::cli::page
