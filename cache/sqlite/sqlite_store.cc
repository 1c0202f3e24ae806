// SPDX-License-Identifier: MIT
// Whatever is wrong with the file, a read ends as a miss: a row that does not verify is reported
// and dropped by the writer, which looks again; an error of SQLite is judged (file_health.h). A put
// is acknowledged after its group's COMMIT (writer.h), so this file has no part in durability but
// to wait. Reads run in the thread of the caller with a connection of the pool; writes are changes
// that the writer thread runs, and the caller waits for them or not. Three threads can meet here: a
// reader that finds damage, the writer that removes it, and the maintenance thread that replaces
// the file; they share the session by pointer.
#include "cache/sqlite/sqlite_store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <sys/statvfs.h>
#include <utility>

#include "cache/decorators/checked_store.h"
#include "cache/leases/on_behalf.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache::sqlite {
namespace {

// Ten minutes: whoever was told that content is there will put a record that names it. See
// spec/cache 8.4
constexpr int64_t kMissingLeaseSeconds = 600;
constexpr size_t kAskedTogether = 64;  // keys: some 0.2 ms
// How long a number of free bytes is believed.
constexpr Duration kFreeDiskFor = std::chrono::milliseconds(100);

Error NotFound(const Key& key) { return {.code = ErrorCode::kNotFound, .context = KeyText(key)}; }

// Whether a failed read was cut short by its caller: nobody else interrupts.
bool CallEnded(const Error& error) {
  return error.code == ErrorCode::kDeadlineExceeded || error.code == ErrorCode::kCancelled;
}

// What was put raw is compared with its key here, in the thread of the caller, and not in the
// writer, which is one for all.
Result<void> CheckItem(const Item& item) {
  if (item.value.bytes.size() > kMaxValueBytes || item.value.raw_size > kMaxValueBytes) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = KeyText(item.key) + ": larger than a value may be"};
  }
  // What is compressed was checked before it was compressed.
  if (item.value.codec == Codec::kRaw && item.block == nullptr) {
    if (const std::optional<std::string> mismatch = FindMismatch(item.key, item.value)) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = KeyText(item.key) + ": " + *mismatch};
    }
  }
  return {};
}

// Whether opening may succeed later without anybody doing anything to the store. The owner has
// made the file already, so what it cannot open are the files beside it.
bool MayPass(const Error& error, bool owned) {
  return error.code == ErrorCode::kFull || error.reason == kIoError ||
         (owned && error.reason == kCannotOpen);
}

// What a put holds in memory until it is written. The writer bounds the sum of that.
Writer::Weight WeightOf(std::span<const Item> items) {
  Writer::Weight weight{.items = static_cast<uint32_t>(std::max<size_t>(1, items.size()))};
  const Blob* block = nullptr;
  for (const Item& item : items) {
    weight.bytes += item.value.bytes.size();
    // Contents of one block follow each other, so the block is counted once.
    if (item.block.get() != block && item.block != nullptr) {
      block = item.block.get();
      weight.bytes += block->bytes.size();
    }
  }
  return weight;
}

// What a put owns until it is written or dropped.
struct PutState {
  PutState(std::span<const Item> put, uint64_t put_bytes, std::atomic<uint64_t>& all_waiting)
      : items(put.begin(), put.end()), bytes(put_bytes), waiting(all_waiting) {
    waiting += put_bytes;
  }
  ~PutState() { NoLongerWaits(); }
  PutState(const PutState&) = delete;
  PutState& operator=(const PutState&) = delete;

  // It is on disk, and counts there.
  void NoLongerWaits() { waiting -= bytes.exchange(0); }

  const std::vector<Item> items;
  std::atomic<uint64_t> bytes;
  const std::string principal = OnBehalfOf::Principal();
  PutResult stored;
  std::atomic<uint64_t>& waiting;
};

}  // namespace

SqliteStore::SqliteStore(const SqliteOptions& options, Clock& clock, LogSink& log)
    : parts_(options, clock, log),
      sent_room_(parts_),
      record_room_(parts_),
      file_(parts_),
      maintenance_(*this, parts_, file_) {}

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const SqliteOptions& options, Clock& clock,
                                                       LogSink& log) {
  std::unique_ptr<SqliteStore> store(new SqliteStore(options, clock, log));
  if (const Result<void> started = store->file_.Start(); !started.ok()) {
    // A full or failing disk may recover: the store is there, answers every request with a miss,
    // and the maintenance thread tries again.
    if (!MayPass(started.error(), store->file_.owned()) || options.read_only) {
      return started.error();
    }
    store->parts_.health.WriteFailed(started.error());
    log.Write(LogLevel::kWarning, "cache", "the cache cannot be opened yet",
              {{"error", ErrorText(started.error())}});
  }
  store->maintenance_.Start();
  return store;
}

SqliteStore::~SqliteStore() {
  // The thread first: it might replace the session that is closed here.
  maintenance_.Stop();
  if (const std::shared_ptr<Session> session = parts_.session.Get()) {
    if (session->writer() != nullptr) {
      static_cast<void>(Flush());  // the last access times; whatever fails here is only recency
    }
    session->Close();
  }
}

// A key that was never put in a file of this process costs no read (absence_filter.h).
Result<Blob> SqliteStore::Get(const Key& key, const Call& call) {
  const bool is_row = key.level != Level::kContent && key.level != Level::kAlias;
  if (is_row && !parts_.counters.absence.MayHave(key)) {
    return NotFound(key);
  }
  Result<ReaderPool::Loan> reader = Read(call);
  if (!reader.ok()) {
    // A caller who left, or whose time is over, is told so. That is no miss and says nothing about
    // the file.
    return CallEnded(reader.error()) ? std::move(reader).error()
                                     : parts_.health.ReadFailed(key, reader.error());
  }
  switch (key.level) {
    case Level::kContent:
      return GetContent(key, **reader);
    case Level::kAlias:
      return GetAlias(key, **reader, call.may_write);
    case Level::kModule:
    case Level::kMask:
    case Level::kSignature:
    case Level::kRecipe:
      return GetRow(key, **reader, call.may_write);
  }
  KILN_UNREACHABLE();
}

Result<Blob> SqliteStore::GetContent(const Key& key, ReadStatements& reads) {
  Result<std::optional<Blob>> found = reads.FindBlob(key.id);
  if (!found.ok()) {
    return parts_.health.ReadFailed(key, found.error());
  }
  if (!found->has_value() || !HasSize(key, (*found)->raw_size)) {
    return NotFound(key);
  }
  Blob blob = **std::move(found);
  // What is compressed is verified by whoever decompresses it.
  if (blob.codec == Codec::kRaw) {
    if (const std::optional<std::string> mismatch = FindMismatch(key, blob)) {
      return Missing(key, {DamageKind::kBlob, *mismatch}, std::move(blob));
    }
  }
  return blob;
}

// Recency is noted in memory and written every 30 s (spec/cache 8.3), once for each quantum: most
// reads note nothing.
Result<Blob> SqliteStore::GetRow(const Key& key, ReadStatements& reads, bool is_use) {
  std::optional<ReadStatements::Together> together(reads);
  Result<std::optional<StoredRow>> found = reads.FindRow(key);
  if (!found.ok()) {
    return parts_.health.ReadFailed(key, found.error());
  }
  if (!found->has_value()) {
    return NotFound(key);
  }
  StoredRow row = **std::move(found);
  const Result<std::optional<Finding>> finding = reads.CheckRow(key, row);
  together.reset();
  if (!finding.ok()) {
    return parts_.health.ReadFailed(key, finding.error());
  }
  if (finding->has_value()) {
    return Missing(key, **finding, std::move(row.value));
  }
  // An expired poison record is as good as absent; the collector removes it.
  if (row.expires_s.has_value() && *row.expires_s <= NowSeconds()) {
    return NotFound(key);
  }
  if (const int64_t now_q = NowSeconds() / kQuantumSeconds; is_use && row.used_q < now_q) {
    parts_.access_times.TouchRecord(row.eid, now_q);
  }
  return std::move(row.value);
}

// The value of an alias is the key of its record; its sum was compared with that of the stored row
// before.
Result<Blob> SqliteStore::GetAlias(const Key& key, ReadStatements& reads, bool is_use) {
  const Result<std::optional<StoredAlias>> found = reads.FindAlias(key.space, key.id);
  if (!found.ok()) {
    return parts_.health.ReadFailed(key, found.error());
  }
  if (!found->has_value()) {
    return NotFound(key);
  }
  const StoredAlias& alias = **found;
  if (const std::optional<Finding> finding = CheckAlias(key, alias)) {
    return Missing(key, *finding, {});
  }
  if (const int64_t now_q = NowSeconds() / kQuantumSeconds; is_use && alias.used_q < now_q) {
    parts_.access_times.TouchRecord(alias.eid, now_q);
  }
  Blob value = CopiedBlob(std::as_bytes(std::span(alias.signature->bytes)));
  value.sum = RowSum(key, value.bytes);
  return value;
}

// For the caller damage is a miss: the result is made again, and the new one heals the row.
Error SqliteStore::Missing(const Key& key, const Finding& finding, Blob found) {
  Report({.kind = finding.kind, .key = key, .reason = finding.reason, .found = std::move(found)});
  return {.code = ErrorCode::kNotFound, .context = KeyText(key) + " was damaged"};
}

void SqliteStore::Report(const Damage& damage) {
  ++parts_.counters.damage[static_cast<size_t>(damage.kind)];
  parts_.log.Write(LogLevel::kWarning, "cache", "damage",
                   {{"what", DamageKindName(damage.kind)},
                    {"key", KeyText(damage.key)},
                    {"reason", damage.reason}});
  // The queue of the writer is bounded by what it counts, and the bytes are read again anyway.
  Damage small = damage;
  small.found = {};  // the writer looks at what is stored then
  small.found.sum = damage.found.sum;
  // Not now if the queue is full: the next read reports again.
  Post([small =
            std::move(small)](TableWrites& writes) { return writes.removals().DropDamaged(small); },
       {});
}

void SqliteStore::MakeRoom(uint64_t target_bytes, const Call& call) {
  sent_room_.MakeRoom(target_bytes, call);
  record_room_.MakeRoom(target_bytes, call);
}

// A put may be larger than all that is free below the bound, and many may be under way at once, so
// what they will take counts before it is written. The pages of the file around it do not.
Result<void> SqliteStore::HaveRoomFor(uint64_t bytes, const Call& call) {
  const uint64_t most = parts_.options.max_bytes;
  if (most == 0) {
    return {};
  }
  const auto taken = [&] { return UsedBytes() + parts_.counters.waiting_bytes + bytes; };
  if (taken() > most && bytes <= most) {
    // A twentieth at least: the next put is not to come here again.
    const uint64_t waiting = parts_.counters.waiting_bytes + bytes;
    MakeRoom(most - std::min(most, std::max(waiting, most / 20)), call);
  }
  if (const uint64_t would_use = taken(); would_use > most) {
    return Error{.code = ErrorCode::kFull,
                 .context = "the cache would hold " + std::to_string(would_use) + " of " +
                            std::to_string(most) + " bytes",
                 .reason = "CACHE_FULL"};
  }
  return {};
}

// Everything that can be refused without the writer is refused before anything is queued.
Result<PutResult> SqliteStore::Put(std::span<const Item> items, Durability durability,
                                   const Call& call) {
  const std::shared_ptr<Session> session = parts_.session.Get();
  if (session == nullptr) {
    const bool full = parts_.health.full();
    return Error{.code = full ? ErrorCode::kFull : ErrorCode::kBusy,
                 .context = full ? "the disk is full" : "the cache has no database"};
  }
  if (session->writer() == nullptr) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "another process owns the cache",
                 .reason = std::string(kReadOnly)};
  }
  // Refused at once. Trying would write until the disk is full again, for each put anew.
  if (parts_.health.full()) {
    ++parts_.counters.refused_full;
    return Error{.code = ErrorCode::kFull, .context = "the disk is full"};
  }
  for (const Item& item : items) {
    KILN_TRY_VOID(CheckItem(item));
  }
  const Writer::Weight weight = WeightOf(items);
  KILN_TRY_VOID(HaveRoomFor(weight.bytes, call));
  // The change lives longer than this call if the caller leaves: it owns what it writes.
  auto state = std::make_shared<PutState>(items, weight.bytes, parts_.counters.waiting_bytes);
  const auto change = [this, state](TableWrites& writes) -> Result<void> {
    Result<PutResult> put = writes.Put(state->items);
    // The value was compressed with a dictionary that has been dropped since. It is forgotten here,
    // so a next try does not take it again.
    if (!put.ok() && put.error().reason == kDictionaryGone) {
      parts_.dictionaries.Forget();
    }
    KILN_TRY(state->stored, std::move(put));
    sent_room_.Note(state->items);
    return state->stored.added == 0 ? Result<void>()
                                    : record_room_.Note(writes, state->principal, state->items);
  };
  if (durability == Durability::kRelaxed) {
    KILN_TRY_VOID(session->writer()->Post(change, weight, call));
    return PutResult{};
  }
  const Result<void> written = session->writer()->Run(change, weight, call);
  if (written.ok()) {
    state->NoLongerWaits();
  }
  if (!written.ok()) {
    parts_.counters.collisions += written.error().reason == kCollision ? 1 : 0;
    return written.error();
  }
  return state->stored;
}

// Who may not write gets the answer without the lease.
Result<std::vector<Key>> SqliteStore::FindMissing(std::span<const Key> keys, const Call& call) {
  Result<ReaderPool::Loan> reader = Read(call);
  if (!reader.ok()) {
    if (CallEnded(reader.error())) {
      return std::move(reader).error();
    }
    parts_.health.Judge(reader.error());
    // A store that cannot be read has nothing: the caller puts it again.
    return std::vector<Key>(keys.begin(), keys.end());
  }
  const int64_t now_s = NowSeconds();
  std::vector<Key> missing;
  std::vector<AccessTimes::Leased> present;
  std::optional<ReadStatements::Together> together;
  size_t asked = 0;
  for (const Key& key : keys) {
    CheckStop();
    if (asked++ % kAskedTogether == 0) {
      together.reset();
      together.emplace(**reader);
    }
    const Result<bool> has = (*reader)->Has(key);
    if (!has.ok()) {
      if (CallEnded(has.error())) {
        return has.error();
      }
      parts_.health.Judge(has.error());
    }
    if (!has.ok() || !*has) {
      missing.push_back(key);
      continue;
    }
    // Whoever is told that something is present will name it soon without sending it. Until then it
    // must not be collected.
    int64_t until_s = now_s + kMissingLeaseSeconds;
    if (call.may_write && key.level == Level::kContent) {
      const Result<std::optional<int64_t>> put_s = (*reader)->UnnamedSince(key.id);
      until_s =
          put_s.ok() && put_s->has_value() ? std::min(until_s, **put_s + kUnnamedSeconds) : until_s;
    }
    present.push_back({.key = key, .until_s = until_s});
  }
  together.reset();
  if (call.may_write) {
    parts_.access_times.Lease(present, now_s);
  }
  return missing;
}

// Only into memory; the next flush writes it.
void SqliteStore::Touch(std::span<const Key> keys) {
  const int64_t now_q = NowSeconds() / kQuantumSeconds;
  for (const Key& key : keys) {
    parts_.access_times.TouchKey(key, now_q);
  }
}

Result<std::vector<TrainedDictionary>> SqliteStore::Train() {
  return TrainDictionaries(parts_.session, parts_.dictionaries, parts_.orders.stop_token());
}

Result<std::string> SqliteStore::Rebuild() {
  if (!file_.owned()) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "another process owns the cache",
                 .reason = std::string(kReadOnly)};
  }
  // The maintenance thread does it, as it does after damage: a file is replaced in one place only.
  std::string set_aside = parts_.orders.AwaitReplacement();
  if (parts_.session.Get() == nullptr) {
    return Error{
        .code = ErrorCode::kUnavailable, .context = "the cache has no database", .reason = {}};
  }
  return set_aside;
}

// Asked before every put, and a disk does not fill up in a tenth of a second: the system is asked
// so often.
uint64_t SqliteStore::FreeDiskBytes() const {
  const int64_t now = parts_.clock.Monotonic().count();
  if (now < free_until_.load(std::memory_order_relaxed)) {
    return free_bytes_.load(std::memory_order_relaxed);
  }
  const uint64_t bytes = DiskBytesNow();
  free_bytes_.store(bytes, std::memory_order_relaxed);
  free_until_.store(now + kFreeDiskFor.count(), std::memory_order_relaxed);
  return bytes;
}

uint64_t SqliteStore::DiskBytesNow() const {
  struct statvfs info {};
  if (::statvfs(dir().c_str(), &info) != 0) {
    return std::numeric_limits<uint64_t>::max();  // unknown is not full
  }
  return uint64_t{info.f_bavail} * info.f_frsize;
}

// Runs in the writer, in slices between puts. Files that were set aside are removed first: nobody
// can use them (spec/cache 6.9).
void SqliteStore::StartCollecting(uint64_t target_bytes) {
  parts_.session.WithWriter([&](Writer& writer) {
    if (parts_.aside.bytes() > 0) {
      parts_.aside.MakeRoom(file_.database().dir, parts_.counters.used_bytes, target_bytes);
    }
    // Files that are set aside count towards the limit of the cache.
    parts_.collector.Start(target_bytes - std::min<uint64_t>(target_bytes, parts_.aside.bytes()));
    writer.Wake();
  });
}

void SqliteStore::StartVacuum() {
  parts_.session.WithWriter([&](Writer& writer) {
    parts_.collector.StartVacuum();
    writer.Wake();
  });
}

void SqliteStore::StartScan() {
  parts_.session.WithWriter([&](Writer& writer) {
    parts_.collector.StartScan();
    writer.Wake();
  });
}

void SqliteStore::StartAgeing() {
  parts_.session.WithWriter([&](Writer& writer) {
    parts_.collector.StartAgeing();
    writer.Wake();
  });
}

// Read without a lock: each number is right, all together are of about one moment.
SqliteStatus SqliteStore::Status() const {
  const bool open = parts_.session.Get() != nullptr;
  const Counters& counters = parts_.counters;
  SqliteStatus status{.read_only = !file_.owned() && open,
                      .open = open,
                      .full = parts_.health.full(),
                      .collisions = counters.collisions,
                      .nondeterminism = counters.nondeterminism,
                      .groups = counters.groups,
                      .grouped_requests = counters.grouped_requests,
                      .commit_us = counters.commit_us,
                      .refused_full = counters.refused_full,
                      .evicted = counters.evicted,
                      .aged = counters.aged,
                      .wal_bytes = counters.wal_bytes,
                      .used_bytes = counters.used_bytes};
  if (status.read_only) {
    status.owner = FindOwner(dir());
  }
  for (size_t i = 0; i < kDamageKindCount; ++i) {
    status.damage[i] = counters.damage[i];
  }
  return status;
}

int64_t SqliteStore::NowSeconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(parts_.clock.UnixTime()).count();
}

}  // namespace kiln::cache::sqlite
