// SPDX-License-Identifier: MIT
// The calls of a client about the cache of a daemon: explanations, upkeep, pins, packs.
#include <utility>

#include "cache/upstream/grpc_store.h"
#include "client/client.h"
#include "client/convert.h"
#include "client/state.h"

namespace kiln::client {
namespace {

Explanation ExplanationFrom(const v1::ExplainRecord& message) {
  Explanation out{
      .seq = message.seq(),
      .at_ms = message.at(),
      .project = message.project(),
      .program = message.program(),
      .target = message.target(),
      .hit = message.hit(),
      .level = message.level(),
      .cause = message.cause(),
      .detail = message.detail(),
      .live_options = {message.live_options().begin(), message.live_options().end()},
      .ignored_options = {message.ignored_options().begin(), message.ignored_options().end()},
      .age_ms = message.age_ms(),
      .signature = HexOf(message.signature()),
      .trace_id = message.trace_id()};
  for (const v1::OptionValue& option : message.options()) {
    out.options.push_back(FromProto(option));
  }
  for (const v1::ExplainRecord::Change& change : message.changes()) {
    out.changes.push_back({.cause = change.cause(),
                           .field = change.field(),
                           .before = change.old(),
                           .after = change.new_(),
                           .detail = change.detail()});
  }
  for (const v1::ExplainRecord::StageTime& time : message.stage_times()) {
    out.stage_times.push_back({.stage = time.stage(), .us = time.us()});
  }
  return out;
}

v1::ExplainRequest RequestOf(const Client::ExplainSubject& subject) {
  v1::ExplainRequest request;
  if (const auto* variant = std::get_if<Client::ExplainVariant>(&subject)) {
    request.set_project(variant->project);
    ToProto(variant->program, request.mutable_variant()->mutable_inline_program());
    for (const Option& option : variant->options) {
      ToProto(option, request.mutable_variant()->add_options());
    }
  } else if (const auto* key = std::get_if<Client::ExplainKey>(&subject)) {
    request.set_signature(IdOf(key->hex));
  } else if (const auto* number = std::get_if<Client::ExplainRequest>(&subject)) {
    request.set_seq(number->seq);
  } else if (const auto* batch = std::get_if<Client::ExplainBatch>(&subject)) {
    request.set_batch_id(IdOf(batch->id));
  } else {
    request.set_last(std::get<Client::ExplainLast>(subject).count);
  }
  return request;
}

// Reads a stream of maintenance to its end.
Result<MaintenanceDone> Follow(Context& context, grpc::ClientReader<v1::CacheMaintenance>& reader,
                               const Client::OnFinding& on_finding,
                               const Client::OnBytes& on_bytes = {}) {
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

std::unique_ptr<cache::BlobStore> Client::CacheStore(Clock& clock) {
  return cache::upstream::GrpcStore::Over(state_->channel, clock);
}

Result<ExplainReply> Client::Explain(const ExplainSubject& subject) {
  Context context;
  v1::ExplainReply reply;
  const grpc::Status status = state_->compile->Explain(&context.grpc, RequestOf(subject), &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  ExplainReply explained{.results = reply.results()};
  for (const v1::ExplainRecord& record : reply.records()) {
    explained.records.push_back(ExplanationFrom(record));
  }
  for (const v1::ExplainReply::CauseCount& row : reply.causes()) {
    explained.causes.push_back({.cause = row.cause(), .count = row.count()});
  }
  return explained;
}

Result<CacheStats> Client::CacheStatistics() {
  Context context;
  v1::CacheStats reply;
  const grpc::Status status =
      state_->admin->GetCacheStats(&context.grpc, v1::GetCacheStatsRequest(), &reply);
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

Result<MaintenanceDone> Client::GcCache(const GcRequest& request) {
  Context context;
  v1::GcCacheRequest message;
  message.set_to_bytes(request.to_bytes);
  message.set_older_than(request.older_than_s);
  message.set_failed(request.failed);
  message.set_vacuum(request.vacuum);
  message.set_dry_run(request.dry_run);
  return Follow(context, *state_->admin->GcCache(&context.grpc, message), {});
}

Result<MaintenanceDone> Client::VerifyCache(bool fast, uint32_t sample_percent, const OnFinding& on,
                                            const OnBytes& on_bytes) {
  Context context;
  v1::VerifyCacheRequest message;
  message.set_fast(fast);
  message.set_sample_percent(sample_percent);
  return Follow(context, *state_->admin->VerifyCache(&context.grpc, message), on, on_bytes);
}

Result<MaintenanceDone> Client::RepairCache(const OnFinding& on) {
  Context context;
  return Follow(context, *state_->admin->RepairCache(&context.grpc, v1::RepairCacheRequest()), on);
}

Result<uint64_t> Client::Pin(const std::string& name, std::span<const std::string> keys,
                             uint64_t until_s, const std::string& note) {
  Context context;
  v1::PinRequest request;
  request.set_name(name);
  for (const std::string& key : keys) {
    request.add_signatures(IdOf(key));
  }
  request.set_until(until_s * 1000);
  request.set_note(note);
  v1::PinInfo reply;
  const grpc::Status status = state_->admin->Pin(&context.grpc, request, &reply);
  return status.ok() ? Result<uint64_t>(reply.records()) : Result<uint64_t>(context.Failed(status));
}

Result<void> Client::Unpin(const std::string& name) {
  Context context;
  v1::UnpinRequest request;
  request.set_name(name);
  v1::UnpinReply reply;
  const grpc::Status status = state_->admin->Unpin(&context.grpc, request, &reply);
  return status.ok() ? Result<void>() : Result<void>(context.Failed(status));
}

Result<std::vector<PinnedSet>> Client::Pins() {
  std::vector<PinnedSet> pins;
  v1::ListPinsRequest request;
  request.set_page_size(1000);
  KILN_TRY_VOID(EachPage(*state_->admin, &v1::AdminService::Stub::ListPins, request,
                         [&](const v1::ListPinsReply& reply) {
                           for (const v1::PinInfo& pin : reply.pins()) {
                             pins.push_back({.name = pin.name(),
                                             .note = pin.note(),
                                             .records = pin.records(),
                                             .bytes = pin.bytes(),
                                             .made_s = pin.made() / 1000,
                                             .until_s = pin.until() / 1000});
                           }
                         }));
  return pins;
}

Result<BuiltPack> Client::BuildPack(const PackRequest& request,
                                    const std::function<void(const PackProgress&)>& on_progress) {
  Context context;
  v1::BuildPackRequest message;
  message.set_batch_id(IdOf(request.batch));
  message.mutable_targets()->Assign(request.targets.begin(), request.targets.end());
  message.set_mode(request.small ? v1::BuildPackRequest::SMALL : v1::BuildPackRequest::FAST);
  message.set_base_pack(IdOf(request.base));
  message.set_pin(request.pin);
  if (request.manifest.has_value()) {
    ToProto(*request.manifest, message.mutable_manifest());
  }
  for (const PackRequest::Warm& warm : request.warm) {
    v1::WarmEntry& entry = *message.add_warm_list();
    entry.set_program(warm.program);
    entry.set_priority(warm.priority);
    entry.set_creation_us(warm.creation_us);
    entry.set_first_use_us(warm.first_use_us);
    for (const Option& option : warm.options) {
      ToProto(option, entry.add_options());
    }
  }
  std::optional<BuiltPack> built;
  const auto reader = state_->pack->BuildPack(&context.grpc, message);
  v1::BuildPackReply reply;
  while (reader->Read(&reply)) {
    if (reply.has_progress()) {
      on_progress({.stage = reply.progress().stage(),
                   .done = reply.progress().done(),
                   .total = reply.progress().total(),
                   .bytes_done = reply.progress().bytes_done(),
                   .bytes_total = reply.progress().bytes_total()});
    } else if (reply.has_done()) {
      const v1::BuildPackReply::Done& done = reply.done();
      built = BuiltPack{.id = HexOf(done.pack_id()),
                        .size = done.size(),
                        .programs = done.counts().programs(),
                        .artifacts = done.counts().artifacts(),
                        .blobs = done.counts().blobs(),
                        .pipelines = done.counts().pipelines(),
                        .failed = done.failed()};
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) {
    return context.Failed(status);
  }
  if (!built.has_value()) {
    return Error{.code = ErrorCode::kCorrupt, .context = "the stream was cut", .reason = {}};
  }
  return *built;
}

Result<void> Client::ReadPack(const std::string& id,
                              const std::function<Result<void>(ByteView bytes)>& on_bytes) {
  Context context;
  v1::ReadPackRequest request;
  request.set_pack_id(IdOf(id));
  const auto reader = state_->pack->ReadPack(&context.grpc, request);
  v1::ReadPackReply reply;
  uint64_t offset = 0;
  while (reader->Read(&reply)) {
    Result<void> taken = reply.offset() == offset ? on_bytes(AsBytes(reply.data()))
                                                  : Error{.code = ErrorCode::kCorrupt,
                                                          .context = "parts of the pack do not fit",
                                                          .reason = {}};
    if (!taken.ok()) {
      context.grpc.TryCancel();
      return taken;
    }
    offset += reply.data().size();
  }
  const grpc::Status status = reader->Finish();
  return status.ok() ? Result<void>() : Result<void>(context.Failed(status));
}

}  // namespace kiln::client
