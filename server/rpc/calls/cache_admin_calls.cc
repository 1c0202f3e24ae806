// SPDX-License-Identifier: MIT
// What operators do with the cache (spec/cache 9): statistics, collection, checks, pins,
// quarantine. Without a database most of it is refused with a word; lists are empty then. Times of
// the protocol are milliseconds, those of the store seconds.
#include "server/rpc/calls/cache_admin_calls.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "cache/leases/bounded_pins.h"
#include "cache/leases/pin_share.h"
#include "cache/record.h"
#include "compiler/base/printable.h"
#include "compiler/base/threads/stop.h"
#include "server/compile/failure_keys.h"
#include "server/reload/glob.h"
#include "server/rpc/calls/restore_calls.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/paging.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

constexpr size_t kPageBytes = size_t{256} << 10;  // of pins, then the next one is on another page

Error NoDatabase() {
  return {.code = ErrorCode::kFailedPrecondition,
          .context = "this daemon keeps its results in memory only; see 'kiln status'",
          .reason = "READ_ONLY"};
}

// Where to continue a list; a token of another list is refused. Tokens name their list, so that one
// of another list is refused; `after` is the last row that was told, which stays right when rows
// come and go (spec/daemon 2.6).
std::string TokenOf(std::string_view list, std::string_view after) {
  return fmt::format("{}:{}", list, after);
}
Result<std::string> AfterToken(std::string_view list, const std::string& token) {
  const std::string prefix = fmt::format("{}:", list);
  if (token.empty()) {
    return std::string();
  }
  if (!token.starts_with(prefix)) {
    return BadPageToken();
  }
  return token.substr(prefix.size());
}

// Maintenance runs in a job of the batch lane; each message is pushed to a stream that may be
// slower.
v1::CacheMaintenance StageMessage(const char* stage) {
  v1::CacheMaintenance message;
  message.mutable_progress()->set_stage(stage);
  return message;
}

// Tells how much of a stage is done.
cache::OnBytes TellBytes(const char* stage, const PushMaintenance& push) {
  return [stage, &push](uint64_t done, uint64_t total) {
    v1::CacheMaintenance message = StageMessage(stage);
    message.mutable_progress()->set_bytes_done(done);
    message.mutable_progress()->set_bytes_total(total);
    push(message);
  };
}

// Findings name rows of the file, whose texts may be damaged, so they are made UTF-8.
void PushFindings(const cache::VerifyReport& report, const PushMaintenance& push) {
  for (const cache::Fault& fault : report.faults) {
    v1::CacheMaintenance message;
    message.set_finding(WellFormed(FaultText(fault)));
    push(message);
  }
}

void CountsTo(const cache::VerifyReport& report, v1::CacheMaintenance::Done& done) {
  done.set_records(report.records);
  done.set_bytes(report.bytes);
  done.set_damaged(report.fault_count);
  done.set_blobs(report.blobs);
  done.set_aliases(report.aliases);
  done.set_orphans(report.orphans);
}

// A signature, variant or live key -> the key of the record. Live keys lead to signatures by an
// alias, where there is one; any other id is taken as a signature.
cache::Key RecordKeyOf(Engine& engine, Hash128 id, const cache::Call& call) {
  const Result<cache::Blob> alias =
      engine.store.Get({.level = cache::Level::kAlias, .space = 0, .id = id}, call);
  if (alias.ok()) {
    const Result<Hash128> signature = cache::DecodeAlias(alias->bytes);
    id = signature.ok() ? *signature : id;
  }
  return {.level = cache::Level::kSignature, .space = 0, .id = id};
}

// A batch without results is a subject that holds nothing, and the caller says so; no subject at
// all is a mistake.
Result<std::vector<cache::Key>> SubjectOf(Engine& engine, const v1::PinRequest& request,
                                          const cache::Call& call) {
  const auto named = static_cast<uint64_t>(request.signatures_size());
  if (named > kMaxDigests) {
    return AboveLimit("digests", kMaxDigests, named);
  }
  std::vector<cache::Key> keys;
  if (request.has_batch_id()) {
    KILN_TRY(const Hash128 id, IdFromProto("batch_id", request.batch_id()));
    KILN_TRY(const compile::BatchResults results, engine.batches.Results(id));
    for (size_t i = 0; i < results.size(); ++i) {
      CheckStop();
      keys.push_back(
          {.level = cache::Level::kSignature, .space = 0, .id = results.Row(i).signature});
    }
  }
  if (request.has_signature()) {
    KILN_TRY(const Hash128 id, IdFromProto("signature", request.signature()));
    keys.push_back(RecordKeyOf(engine, id, call));
  }
  for (const std::string& bytes : request.signatures()) {
    CheckStop();
    KILN_TRY(const Hash128 id, IdFromProto("signatures", bytes));
    keys.push_back(RecordKeyOf(engine, id, call));
  }
  if (keys.empty() && !request.has_batch_id()) {
    return Malformed("subject", "name a batch or results");
  }
  return keys;
}

// Who names results wants each of them kept, and would take one that is left out for kept. A batch
// has what it has.
Result<void> CheckAllKnown(const v1::PinRequest& request, const std::vector<cache::Key>& keys,
                           const cache::PinUsage& held) {
  if (request.has_batch_id()) {
    return {};
  }
  const auto unknown = static_cast<uint64_t>(std::ranges::count_if(
      keys, [&held](const cache::Key& key) { return !held.records.contains(key); }));
  return unknown == 0
             ? Result<void>()
             : Result<void>(Error{.code = ErrorCode::kNotFound,
                                  .context = fmt::format("{} of {} results are not stored, and "
                                                         "nothing was pinned",
                                                         unknown, keys.size()),
                                  .reason = "UNKNOWN_RESULT"});
}

// Times are seconds in the store and milliseconds on the wire.
void InfoTo(const cache::Pin& pin, uint64_t records, uint64_t bytes, v1::PinInfo& out) {
  out.set_name(WellFormed(pin.name));
  out.set_records(records);
  out.set_bytes(bytes);
  out.set_made(static_cast<uint64_t>(pin.made_s) * 1000);
  out.set_until(static_cast<uint64_t>(pin.until_s.value_or(0)) * 1000);
  out.set_note(WellFormed(pin.note));
  out.set_owner(WellFormed(cache::OwnerName(pin.owner)));
}

// Milliseconds -> seconds of the table, where 0 would be "for ever" and so nothing is cut off.
// Errors: kInvalidArgument for what is over already, and for what no calendar has.
Result<std::optional<int64_t>> EndOfPin(uint64_t until_ms, int64_t now_s) {
  constexpr uint64_t kMostMs = 253'402'300'799'000;  // the end of the year 9999
  if (until_ms == 0) {
    return std::optional<int64_t>();
  }
  const auto until_s = static_cast<int64_t>(std::min(until_ms, kMostMs + 1) + 999) / 1000;
  if (until_ms > kMostMs || until_s <= now_s) {
    return Malformed("until",
                     fmt::format("{} is no time that is still to come: Unix milliseconds up to {}, "
                                 "or 0 for ever",
                                 until_ms, kMostMs));
  }
  return std::optional(until_s);
}

}  // namespace

// Two sources: counts of the file, which cost a scan by pages (spec/cache 6.4), and counters of
// this process since its start. Without a database the first are zero.
Result<void> CacheStatsTo(Engine& engine, Paths paths, v1::CacheStats& out) {
  cache::StoreStats stats;
  if (engine.whole.maintenance != nullptr) {
    KILN_TRY(stats, engine.whole.maintenance->Stats());
  }
  const cache::MetricsSnapshot metrics = engine.whole.metrics.Snapshot();
  for (uint32_t level = 0; level < cache::kLevelCount; ++level) {
    const cache::LevelStats& row = stats.levels[level];
    v1::CacheStats::Level& shown = *out.add_levels();
    shown.set_name(std::string(cache::LevelName(static_cast<cache::Level>(level))));
    shown.set_records(row.rows);
    shown.set_bytes(row.bytes);
    shown.set_hits(metrics.levels[level].hits);
    shown.set_misses(metrics.levels[level].misses);
    shown.set_source_errors(row.kinds[1]);
    shown.set_limits(row.kinds[2]);
    shown.set_poison(row.kinds[3]);
  }
  const auto causes = engine.explains.MissCauses();
  for (uint32_t cause = 1; cause < cache::kCauseCount; ++cause) {
    if (causes[cause] != 0) {
      v1::CacheStats::MissCause& shown = *out.add_misses();
      shown.set_cause(std::string(cache::CauseName(static_cast<cache::Cause>(cause))));
      shown.set_count(causes[cause]);
    }
  }
  out.set_file_bytes(stats.file_bytes);
  out.set_max_bytes(engine.whole.max_bytes);
  out.set_raw_bytes(stats.raw_bytes);
  out.set_variants(stats.levels[static_cast<size_t>(cache::Level::kAlias)].rows);
  out.set_signatures(stats.levels[static_cast<size_t>(cache::Level::kSignature)].rows);
  out.set_code_distinct(stats.code_distinct);
  out.set_cpu_saved_us(engine.builder.counters().saved_us);
  out.set_cpu_kept_us(stats.cost_us);
  out.set_pins(stats.pins);
  out.set_pinned_records(stats.pinned_records);
  out.set_leases(stats.leases);
  uint64_t damage = 0;
  for (const uint64_t count : stats.damage) {
    damage += count;
  }
  out.set_corrupt(damage);
  out.set_memory_bytes(engine.whole.memory_bytes());
  const size_t folder = paths == Paths::kWhole ? std::string::npos : stats.path.rfind('/');
  out.set_path(
      WellFormed(folder == std::string::npos ? stats.path : stats.path.substr(folder + 1)));
  out.set_read_only(stats.read_only);
  out.set_used_bytes(stats.used_bytes);
  out.set_orphans(stats.orphans);
  out.set_quarantined(stats.quarantined);
  out.set_explained(stats.explained);
  return {};
}

// Without any wish the cache is brought to its low watermark, as collection does by itself
// (spec/cache 8.1). Memory is forgotten after it: it may know results whose content is gone.
Result<void> GcCache(Engine& engine, const v1::GcCacheRequest& request, const cache::Call& call,
                     const PushMaintenance& push) {
  if (engine.whole.maintenance == nullptr) {
    return NoDatabase();
  }
  cache::GcOptions options{.failed = request.failed(),
                           .vacuum = request.vacuum(),
                           .dry_run = request.dry_run(),
                           .stop = call.stop,
                           .on_bytes = TellBytes("gc", push)};
  if (request.older_than() != 0) {
    options.older_than_s = request.older_than();
  }
  const bool says_nothing = !options.failed && !options.vacuum && request.older_than() == 0;
  if (request.to_bytes() != 0 || says_nothing) {
    options.to_bytes = request.to_bytes() != 0 ? request.to_bytes() : engine.whole.low_bytes;
  }
  push(StageMessage("gc"));
  KILN_TRY(const cache::GcReport report, engine.whole.maintenance->Gc(options));
  if (!options.dry_run) {
    engine.whole.forget();
  }
  v1::CacheMaintenance message;
  v1::CacheMaintenance::Done& done = *message.mutable_done();
  done.set_records(report.records);
  done.set_bytes(report.bytes);
  done.set_kept(report.kept);
  done.set_pinned(report.pinned);
  done.set_kept_until(static_cast<uint64_t>(report.kept_until_s));
  for (const cache::Keeper& keeper : report.leases) {
    v1::CacheMaintenance::Lease& lease = *done.add_leases();
    lease.set_owner(WellFormed(keeper.owner));
    lease.set_until(static_cast<uint64_t>(keeper.until_s));
  }
  done.set_used_before(report.used_before);
  done.set_used_after(report.used_after);
  push(message);
  return {};
}

// The seed decides which rows a sample has; another one each time, so that samples of many days see
// all of the file.
Result<void> VerifyCache(Engine& engine, const v1::VerifyCacheRequest& request,
                         const cache::Call& call, const PushMaintenance& push) {
  if (engine.whole.maintenance == nullptr) {
    return NoDatabase();
  }
  if (request.sample_percent() > 100) {
    return Malformed("sample_percent", "at most 100");
  }
  push(StageMessage("verify"));
  KILN_TRY(const cache::VerifyReport report,
           engine.whole.maintenance->Verify(
               {.fast = request.fast(),
                .sample_percent = request.sample_percent(),
                .seed = static_cast<uint64_t>(engine.clock.UnixTime().count()),
                .stop = call.stop,
                .on_bytes = TellBytes("verify", push)}));
  PushFindings(report, push);
  v1::CacheMaintenance message;
  CountsTo(report, *message.mutable_done());
  push(message);
  return {};
}

// Drops what is damaged, then brings back what it can: from upstreams, else by compiling
// (spec/cache 9). `forget` comes between the two, so that nothing in memory stands for what was
// dropped.
Result<void> RepairCache(Engine& engine, const cache::Call& call, const PushMaintenance& push) {
  if (engine.whole.maintenance == nullptr) {
    return NoDatabase();
  }
  push(StageMessage("repair"));
  KILN_TRY(const cache::RepairReport report, engine.whole.maintenance->Repair(call.stop));
  engine.whole.forget();
  push(StageMessage("restore"));
  KILN_TRY(const RestoreReport restored, RestoreLost(engine, report.lost, call));
  PushFindings(report.before, push);
  v1::CacheMaintenance message;
  v1::CacheMaintenance::Done& done = *message.mutable_done();
  CountsTo(report.after, done);
  done.set_damaged(report.before.fault_count);
  done.set_repaired(report.mended + report.dropped);
  done.set_dropped(report.dropped);
  done.set_left(report.after.fault_count);
  done.set_set_aside(report.set_aside);
  done.set_refetched(restored.refetched);
  done.set_recompiled(restored.recompiled);
  push(message);
  return {};
}

// The pin is checked before its subject, because looking up the results of a batch may be long.
// Holding the same results under the same name again is no error: the call may be repeated
// (spec/daemon 2.5). What is pinned is refused with the largest pins where it is too much
// (spec/cache 8.6).
Result<void> Pin(Engine& engine, const v1::PinRequest& request, const cache::Actor& actor,
                 const cache::Call& call, v1::PinInfo& reply) {
  if (engine.whole.pins == nullptr) {
    return NoDatabase();
  }
  KILN_TRY_VOID(CheckPinName("name", request.name()));
  if (request.note().size() > cache::kMaxPinNote || !IsPrintable(request.note())) {
    return Malformed(
        "note", fmt::format("at most {} bytes without control characters", cache::kMaxPinNote));
  }
  KILN_TRY(std::string owner, cache::PinOwnerFor(*engine.whole.pins, request.name(), actor));
  KILN_TRY(const std::vector<cache::Key> keys, SubjectOf(engine, request, call));
  KILN_TRY(const cache::PinUsage wanted, cache::HeldByKeys(engine.store, keys, call));
  if (wanted.records.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "nothing of this is stored",
                 .reason = "UNKNOWN_RESULT"};
  }
  KILN_TRY_VOID(CheckAllKnown(request, keys, wanted));
  const Result<cache::PinUsage> taken = cache::HeldByPin(*engine.whole.maintenance, request.name());
  if (taken.ok() && taken->records != wanted.records) {
    return Error{.code = ErrorCode::kAlreadyExists,
                 .context = fmt::format("pin '{}' holds {} other results; unpin it, or choose "
                                        "another name",
                                        request.name(), taken->records.size()),
                 .reason = "PIN_TAKEN"};
  }
  cache::Pin pin{.name = request.name(), .note = request.note(), .owner = std::move(owner)};
  pin.made_s = std::chrono::duration_cast<std::chrono::seconds>(engine.clock.UnixTime()).count();
  KILN_TRY(pin.until_s, EndOfPin(request.until(), pin.made_s));
  const std::vector<cache::Key> records(wanted.records.begin(), wanted.records.end());
  KILN_TRY(const uint64_t pinned, engine.whole.pins->Add(pin, records));
  InfoTo(pin, pinned, wanted.bytes, reply);
  return {};
}

// The pin may become another's between the two steps; that one is not removed.
Result<void> Unpin(Engine& engine, const v1::UnpinRequest& request, const cache::Actor& actor) {
  if (engine.whole.pins == nullptr) {
    return NoDatabase();
  }
  // Pins of earlier versions may have any name, and must not stay for ever.
  KILN_TRY_VOID(CheckPinLength("name", request.name()));
  KILN_TRY(const std::string owner, cache::PinOwnerFor(*engine.whole.pins, request.name(), actor));
  Result<void> removed = engine.whole.pins->RemoveOf(request.name(), owner);
  if (!removed.ok() && removed.error().code == ErrorCode::kNotFound) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "there is no pin '" + request.name() + "'",
                 .reason = "UNKNOWN_PIN"};
  }
  return removed;
}

// Pages end by number or by bytes: each pin has names and notes that others chose.
Result<void> ListPins(Engine& engine, const v1::ListPinsRequest& request,
                      v1::ListPinsReply& reply) {
  KILN_TRY(const std::string after, AfterToken("pins", request.page_token()));
  if (engine.whole.pins == nullptr) {
    return {};
  }
  KILN_TRY(const std::vector<cache::Pin> pins, engine.whole.pins->List());
  const uint32_t page = PageSize(request.page_size());
  size_t bytes = 0;
  for (const cache::Pin& pin : pins) {
    if (!request.page_token().empty() && pin.name <= after) {
      continue;
    }
    if (static_cast<uint32_t>(reply.pins_size()) == page || bytes >= kPageBytes) {
      reply.set_next_page_token(TokenOf("pins", reply.pins(reply.pins_size() - 1).name()));
      return {};
    }
    const Result<cache::PinUsage> held = cache::HeldByPin(*engine.whole.maintenance, pin.name);
    v1::PinInfo& info = *reply.add_pins();
    InfoTo(pin, pin.records, held.ok() ? held->bytes : 0, info);
    bytes += info.ByteSizeLong();
  }
  return {};
}

// From the newest row to older ones; the token is the number of the last row that was told.
Result<void> ListQuarantine(Engine& engine, const v1::ListQuarantineRequest& request,
                            v1::ListQuarantineReply& reply) {
  KILN_TRY(const std::string after, AfterToken("quarantine", request.page_token()));
  int64_t before = 0;
  for (const char digit : after) {
    if (digit < '0' || digit > '9' || after.size() > 18) {
      return BadPageToken();
    }
    before = before * 10 + (digit - '0');
  }
  if (engine.whole.maintenance == nullptr) {
    return {};
  }
  const uint32_t page = PageSize(request.page_size());
  KILN_TRY(const std::vector<cache::QuarantineEntry> rows,
           engine.whole.maintenance->ListQuarantine(before, page + 1));
  for (const cache::QuarantineEntry& row : rows) {
    if (static_cast<uint32_t>(reply.items_size()) == page) {
      reply.set_next_page_token(TokenOf("quarantine", std::to_string(before)));
      return {};
    }
    before = row.number;
    v1::ListQuarantineReply::Item& item = *reply.add_items();
    item.set_at(static_cast<uint64_t>(row.at_s) * 1000);
    item.set_what(WellFormed(row.what));
    item.set_id(IdBytes(row.id));
    item.set_reason(WellFormed(row.reason));
  }
  return {};
}

// Failures of kinds 1 to 3, in the whole cache or those that requests of some programs and sources
// met (spec/cache 4.3). Leases do not protect failures (spec/cache 8.4).
Result<void> ClearNegative(Engine& engine, const v1::ClearNegativeRequest& request,
                           const cache::Call& call, v1::ClearNegativeReply& reply) {
  cache::GcOptions options{.failed = true, .stop = call.stop};
  if (!request.sources().empty() || !request.program().empty()) {
    compile::FailureFilter filter{.program =
                                      [&](const std::string& name) {
                                        return request.program().empty() ||
                                               reload::GlobMatches(request.program(), name);
                                      },
                                  .sources = {}};
    for (const v1::Digest& source : request.sources()) {
      KILN_TRY(const Digest digest, FromProto(source));
      filter.sources.insert(digest);
    }
    KILN_TRY(options.among, compile::FailureKeys(engine.explains, engine.store, filter,
                                                 engine.pool.limits_id(), call));
  }
  if (engine.whole.maintenance != nullptr) {
    KILN_TRY(const cache::GcReport report, engine.whole.maintenance->Gc(options));
    reply.set_removed(report.records);
  }
  engine.whole.forget();
  return {};
}

}  // namespace kiln::rpc
