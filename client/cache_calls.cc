// SPDX-License-Identifier: MIT
// Calls of the cache as functions: a message in, plain values out. Sizes are bytes. Times are
// seconds here; on the wire those of pins are milliseconds and those of maintenance are seconds.
// Texts come from a daemon that may be hostile and are escaped where they are printed.
#include "client/cache_calls.h"

#include <optional>

#include "cache/upstream/grpc_store.h"
#include "client/connection.h"

namespace kiln::client {
namespace {

// Reads a stream of maintenance to its end.
// Maintenance may take minutes and has no deadline: its stream of findings and progress shows that
// it goes on.
Result<MaintenanceDone> Follow(Context& context, grpc::ClientReader<v1::CacheMaintenance>& reader,
                               const CacheCalls::OnFinding& on_finding,
                               const CacheCalls::OnBytes& on_bytes = {}) {
  // Findings and progress come while the daemon works; one message at the end carries the counts. A
  // stream that ends without that message was cut, although gRPC may call it well.
  std::optional<MaintenanceDone> result;
  v1::CacheMaintenance message;
  while (reader.Read(&message)) {
    if (message.event_case() == v1::CacheMaintenance::kFinding && on_finding) {
      on_finding(message.finding());
    }
    if (message.has_progress() && on_bytes) {
      on_bytes(message.progress().bytes_done(), message.progress().bytes_total());
    }
    if (message.has_done()) {
      const v1::CacheMaintenance::Done& done = message.done();
      result = MaintenanceDone{.records = done.records(),
                               .bytes = done.bytes(),
                               .damaged = done.damaged(),
                               .repaired = done.repaired(),
                               .kept = done.kept(),
                               .used_before = done.used_before(),
                               .used_after = done.used_after(),
                               .blobs = done.blobs(),
                               .aliases = done.aliases(),
                               .orphans = done.orphans(),
                               .dropped = done.dropped(),
                               .left = done.left(),
                               .set_aside = done.set_aside(),
                               .refetched = done.refetched(),
                               .recompiled = done.recompiled(),
                               .pinned = done.pinned(),
                               .kept_until_s = static_cast<int64_t>(done.kept_until())};
      for (const v1::CacheMaintenance::Lease& lease : done.leases()) {
        result->leases.emplace_back(lease.owner(), static_cast<int64_t>(lease.until()));
      }
    }
  }
  const grpc::Status status = reader.Finish();
  if (!status.ok()) {
    return context.Failed(status);
  }
  if (!result.has_value()) {
    return Error{.code = ErrorCode::kCorrupt, .context = "the stream was cut", .reason = {}};
  }
  return *result;
}

}  // namespace

std::unique_ptr<cache::BlobStore> CacheCalls::CacheStore(Clock& clock) {
  // Rows and content of a daemon through the interface of a store, over the channel of this client.
  return cache::upstream::GrpcStore::Over(connection_.channel, clock);
}

Result<CacheStats> CacheCalls::CacheStatistics() {
  Context context(kAnswerWithin);
  v1::CacheStats reply;
  const grpc::Status status =
      connection_.admin->GetCacheStats(&context.grpc, v1::GetCacheStatsRequest(), &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  CacheStats stats{.path = reply.path(),
                   .read_only = reply.read_only(),
                   .file_bytes = reply.file_bytes(),
                   .used_bytes = reply.used_bytes(),
                   .max_bytes = reply.max_bytes(),
                   .raw_bytes = reply.raw_bytes(),
                   .memory_bytes = reply.memory_bytes(),
                   .variants = reply.variants(),
                   .signatures = reply.signatures(),
                   .code_distinct = reply.code_distinct(),
                   .cpu_saved_us = reply.cpu_saved_us(),
                   .cpu_kept_us = reply.cpu_kept_us(),
                   .pins = reply.pins(),
                   .pinned_records = reply.pinned_records(),
                   .leases = reply.leases(),
                   .corrupt = reply.corrupt(),
                   .orphans = reply.orphans(),
                   .quarantined = reply.quarantined(),
                   .explained = reply.explained()};
  for (const v1::CacheStats::Level& level : reply.levels()) {
    stats.levels.push_back({.name = level.name(),
                            .records = level.records(),
                            .bytes = level.bytes(),
                            .hits = level.hits(),
                            .misses = level.misses(),
                            .source_errors = level.source_errors(),
                            .limits = level.limits(),
                            .poison = level.poison()});
  }
  for (const v1::CacheStats::MissCause& cause : reply.misses()) {
    stats.misses.push_back({.cause = cause.cause(), .count = cause.count()});
  }
  return stats;
}

// Calls that may take minutes have no deadline here; those that answer from a table have one.
Result<MaintenanceDone> CacheCalls::GcCache(const GcRequest& request) {
  Context context;
  v1::GcCacheRequest message;
  message.set_to_bytes(request.to_bytes);
  message.set_older_than(request.older_than_s);
  message.set_failed(request.failed);
  message.set_vacuum(request.vacuum);
  message.set_dry_run(request.dry_run);
  return Follow(context, *connection_.admin->GcCache(&context.grpc, message), {});
}

// One finding for each record that is damaged. `sample_percent` is the share of the records that is
// read, 0 for all; `fast` looks at the structure alone.
Result<MaintenanceDone> CacheCalls::VerifyCache(bool fast, uint32_t sample_percent,
                                                const OnFinding& on, const OnBytes& on_bytes) {
  Context context;
  v1::VerifyCacheRequest message;
  message.set_fast(fast);
  message.set_sample_percent(sample_percent);
  return Follow(context, *connection_.admin->VerifyCache(&context.grpc, message), on, on_bytes);
}

Result<MaintenanceDone> CacheCalls::RepairCache(const OnFinding& on) {
  Context context;
  return Follow(context, *connection_.admin->RepairCache(&context.grpc, v1::RepairCacheRequest()),
                on);
}

// Zero as the time means for ever; the answer counts the records that are pinned by the name.
Result<uint64_t> CacheCalls::Pin(const std::string& name, std::span<const std::string> keys,
                                 uint64_t until_s, const std::string& note) {
  Context context(kAnswerWithin);
  v1::PinRequest request;
  request.set_name(name);
  for (const std::string& key : keys) {
    request.add_signatures(IdOf(key));
  }
  // Pins are in milliseconds on the wire.
  request.set_until(until_s * 1000);
  request.set_note(note);
  v1::PinInfo reply;
  const grpc::Status status = connection_.admin->Pin(&context.grpc, request, &reply);
  return status.ok() ? Result<uint64_t>(reply.records()) : Result<uint64_t>(context.Failed(status));
}

Result<void> CacheCalls::Unpin(const std::string& name) {
  Context context(kAnswerWithin);
  v1::UnpinRequest request;
  request.set_name(name);
  v1::UnpinReply reply;
  const grpc::Status status = connection_.admin->Unpin(&context.grpc, request, &reply);
  return status.ok() ? Result<void>() : Result<void>(context.Failed(status));
}

// By pages of the largest size; a daemon ends the list, and EachPage bounds how often it may not.
Result<std::vector<PinnedSet>> CacheCalls::Pins() {
  std::vector<PinnedSet> pins;
  v1::ListPinsRequest request;
  request.set_page_size(1000);
  KILN_TRY_VOID(EachPage(*connection_.admin, &v1::AdminService::Stub::ListPins, request,
                         [&](const v1::ListPinsReply& reply) {
                           for (const v1::PinInfo& pin : reply.pins()) {
                             pins.push_back({.name = pin.name(),
                                             .note = pin.note(),
                                             .owner = pin.owner(),
                                             .records = pin.records(),
                                             .bytes = pin.bytes(),
                                             .made_s = pin.made() / 1000,
                                             .until_s = pin.until() / 1000});
                           }
                         }));
  return pins;
}

}  // namespace kiln::client
