// SPDX-License-Identifier: MIT
// Opening, reads and puts. What the store does by itself is in maintenance_thread.cc.
#include "cache/sqlite/sqlite_store.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "cache/checked_store.h"
#include "compiler/base/stop.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int64_t kMissingLeaseSeconds = 600;

Error NotFound(const Key& key) { return {.code = ErrorCode::kNotFound, .context = KeyText(key)}; }

uint32_t ReaderCount(uint32_t wanted) {
  return wanted != 0 ? wanted
                     : std::min(16u, 2 * std::max(1u, std::thread::hardware_concurrency()));
}

// Whether a failed read was cut short by its caller: nobody else interrupts.
bool CallEnded(const Error& error) {
  return error.code == ErrorCode::kDeadlineExceeded || error.code == ErrorCode::kCancelled;
}

Result<void> CheckItem(const Item& item) {
  if (item.value.bytes.size() > kMaxValueBytes || item.value.raw_size > kMaxValueBytes) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = KeyText(item.key) + ": larger than a value may be"};
  }
  // What is compressed was checked before it was compressed.
  if (item.value.codec == Codec::kRaw) {
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

Writer::Weight WeightOf(std::span<const Item> items) {
  Writer::Weight weight{.items = static_cast<uint32_t>(std::max<size_t>(1, items.size()))};
  for (const Item& item : items) {
    weight.bytes += item.value.bytes.size();
  }
  return weight;
}

}  // namespace

SqliteStore::SqliteStore(const SqliteOptions& options, Clock& clock, LogSink& log)
    : options_(options),
      dir_(options.dir),
      session_options_{.file = {.dir = options.dir, .vfs = options.vfs},
                       .readers = ReaderCount(options.readers),
                       .writes = {.negative_ttl_s = options.negative_ttl_s},
                       .writer = options.writer},
      clock_(clock),
      log_(log),
      collector_(access_times_, clock, counters_, options.max_age_s),
      watch_(clock),
      scrubber_(static_cast<uint64_t>(clock.UnixTime().count())),
      dictionaries_(*this) {}

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const SqliteOptions& options, Clock& clock,
                                                       LogSink& log) {
  std::unique_ptr<SqliteStore> store(new SqliteStore(options, clock, log));
  if (const Result<void> started = store->Start(); !started.ok()) {
    if (!MayPass(started.error(), store->owned_) || options.read_only) {
      return started.error();
    }
    store->WriteFailed(started.error());
    log.Write(LogLevel::kWarning, "cache", "the cache cannot be opened yet",
              {{"error", ErrorText(started.error())}});
  }
  store->maintenance_thread_ = Thread({.name = "cache maintenance", .log = &log},
                                      [raw = store.get()](const std::stop_token&) { raw->Care(); });
  return store;
}

Result<void> SqliteStore::Start() {
  KILN_TRY(session_options_.file.dir, PrepareDirectory(dir_, options_.file_system_type));
  if (!owned_ && !options_.read_only) {
    KILN_TRY_VOID(TakeLock());
  }
  return OpenSession();
}

// Without the lock the store is only read.
Result<void> SqliteStore::TakeLock() {
  const std::filesystem::path& dir = session_options_.file.dir;
  Result<std::optional<OwnerLock>> lock = OwnerLock::TryTake(dir);
  if (!lock.ok() && lock.error().reason != kReadOnly) {
    return std::move(lock).error();
  }
  if (lock.ok() && lock->has_value()) {
    lock_.emplace(**std::move(lock));
    owned_ = true;
    return {};
  }
  const std::optional<pid_t> owner = FindOwner(dir);
  const std::string why =
      owner.has_value()
          ? "cache.lock in " + dir.string() + " is held by pid " + std::to_string(*owner)
          : "the cache directory " + dir.string() + " cannot be written";
  if (options_.must_own) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = why,
                 .reason = std::string(owner.has_value() ? kLocked : kReadOnly)};
  }
  log_.Write(LogLevel::kWarning, "cache", "the cache is only read", {{"why", why}});
  return {};
}

SqliteStore::~SqliteStore() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  stop_.request_stop();
  if (maintenance_thread_.joinable()) {
    maintenance_thread_.join();
  }
  if (const std::shared_ptr<Session> session = Current()) {
    if (session->writer() != nullptr) {
      static_cast<void>(Flush());  // the last access times; whatever fails here is only recency
    }
    session->Close();
  }
}

std::shared_ptr<Session> SqliteStore::Current() const {
  const MutexLock lock(mutex_);
  return session_;
}

Result<ReaderPool::Loan> SqliteStore::Read(const Call& call) {
  const std::shared_ptr<Session> session = Current();
  if (session == nullptr) {
    return Error{.code = ErrorCode::kUnavailable, .context = "the cache has no database"};
  }
  KILN_TRY(ReaderPool::Loan loan, session->readers().Take(call));
  loan.KeepAlive(session);
  return loan;
}

Result<Blob> SqliteStore::Get(const Key& key, const Call& call) {
  Result<ReaderPool::Loan> reader = Read(call);
  if (!reader.ok()) {
    return CallEnded(reader.error()) ? std::move(reader).error() : ReadFailed(key, reader.error());
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
    return ReadFailed(key, found.error());
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

Result<Blob> SqliteStore::GetRow(const Key& key, ReadStatements& reads, bool is_use) {
  Result<std::optional<StoredRow>> found = reads.FindRow(key);
  if (!found.ok()) {
    return ReadFailed(key, found.error());
  }
  if (!found->has_value()) {
    return NotFound(key);
  }
  StoredRow row = **std::move(found);
  const Result<std::optional<Finding>> finding = reads.CheckRow(key, row);
  if (!finding.ok()) {
    return ReadFailed(key, finding.error());
  }
  if (finding->has_value()) {
    return Missing(key, **finding, std::move(row.value));
  }
  if (row.expires_s.has_value() && *row.expires_s <= NowSeconds()) {
    return NotFound(key);
  }
  if (const int64_t now_q = NowSeconds() / kQuantumSeconds; is_use && row.used_q < now_q) {
    access_times_.TouchRecord(row.eid, now_q);
  }
  return std::move(row.value);
}

Result<Blob> SqliteStore::GetAlias(const Key& key, ReadStatements& reads, bool is_use) {
  const Result<std::optional<StoredAlias>> found = reads.FindAlias(key.space, key.id);
  if (!found.ok()) {
    return ReadFailed(key, found.error());
  }
  if (!found->has_value()) {
    return NotFound(key);
  }
  const StoredAlias& alias = **found;
  if (const std::optional<Finding> finding = CheckAlias(key, alias)) {
    return Missing(key, *finding, {});
  }
  if (const int64_t now_q = NowSeconds() / kQuantumSeconds; is_use && alias.used_q < now_q) {
    access_times_.TouchRecord(alias.eid, now_q);
  }
  Blob value = CopiedBlob(std::as_bytes(std::span(alias.signature->bytes)));
  value.sum = RowSum(key, value.bytes);
  return value;
}

Error SqliteStore::Missing(const Key& key, const Finding& finding, Blob found) {
  Report({.kind = finding.kind, .key = key, .reason = finding.reason, .found = std::move(found)});
  return {.code = ErrorCode::kNotFound, .context = KeyText(key) + " was damaged"};
}

Error SqliteStore::ReadFailed(const Key& key, const Error& error) {
  if (error.reason == kIoError) {
    ++counters_.damage[static_cast<size_t>(DamageKind::kIo)];
    log_.Write(LogLevel::kWarning, "cache", "read failed",
               {{"key", KeyText(key)}, {"error", ErrorText(error)}});
  }
  Judge(error);
  return {.code = ErrorCode::kNotFound,
          .context = KeyText(key) + " could not be read: " + error.context};
}

void SqliteStore::Report(const Damage& damage) {
  ++counters_.damage[static_cast<size_t>(damage.kind)];
  log_.Write(LogLevel::kWarning, "cache", "damage",
             {{"what", DamageKindName(damage.kind)},
              {"key", KeyText(damage.key)},
              {"reason", damage.reason}});
  const std::shared_ptr<Session> session = Current();
  if (session == nullptr || session->writer() == nullptr) {
    return;
  }
  Damage small = damage;
  small.found = {};  // the writer looks at what is stored then
  small.found.sum = damage.found.sum;
  static_cast<void>(session->writer()->Post(
      [small = std::move(small)](TableWrites& writes) { return writes.DropDamaged(small); }, {},
      {.deadline =
           clock_.Monotonic()}));  // not now if the queue is full: the next read reports again
}

Result<PutResult> SqliteStore::Put(std::span<const Item> items, Durability durability,
                                   const Call& call) {
  const std::shared_ptr<Session> session = Current();
  if (session == nullptr) {
    const bool full = clock_.Monotonic().count() < full_until_ns_;
    return Error{.code = full ? ErrorCode::kFull : ErrorCode::kBusy,
                 .context = full ? "the disk is full" : "the cache has no database"};
  }
  if (session->writer() == nullptr) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "another process owns the cache",
                 .reason = std::string(kReadOnly)};
  }
  if (clock_.Monotonic().count() < full_until_ns_) {
    ++counters_.refused_full;
    return Error{.code = ErrorCode::kFull, .context = "the disk is full"};
  }
  for (const Item& item : items) {
    KILN_TRY_VOID(CheckItem(item));
  }
  struct State {
    std::vector<Item> items;
    PutResult stored;
  };
  auto state = std::make_shared<State>(State{.items = {items.begin(), items.end()}, .stored = {}});
  const auto change = [this, state](TableWrites& writes) -> Result<void> {
    Result<PutResult> put = writes.Put(state->items);
    if (!put.ok() && put.error().reason == kDictionaryGone) {
      dictionaries_.Forget();
    }
    KILN_TRY(state->stored, std::move(put));
    return {};
  };
  if (durability == Durability::kRelaxed) {
    KILN_TRY_VOID(session->writer()->Post(change, WeightOf(items), call));
    return PutResult{};
  }
  const Result<void> written = session->writer()->Run(change, WeightOf(items), call);
  if (!written.ok()) {
    counters_.collisions += written.error().reason == kCollision ? 1 : 0;
    return written.error();
  }
  return state->stored;
}

Result<std::vector<Key>> SqliteStore::FindMissing(std::span<const Key> keys, const Call& call) {
  Result<ReaderPool::Loan> reader = Read(call);
  if (!reader.ok()) {
    if (CallEnded(reader.error())) {
      return std::move(reader).error();
    }
    Judge(reader.error());
    return std::vector<Key>(keys.begin(), keys.end());
  }
  std::vector<Key> missing;
  std::vector<Key> present;
  for (const Key& key : keys) {
    CheckStop();
    const Result<bool> has = (*reader)->Has(key);
    if (!has.ok()) {
      if (CallEnded(has.error())) {
        return has.error();
      }
      Judge(has.error());
    }
    (has.ok() && *has ? present : missing).push_back(key);
  }
  if (call.may_write) {
    const int64_t now_s = NowSeconds();
    access_times_.Lease(present, now_s, now_s + kMissingLeaseSeconds);
  }
  return missing;
}

void SqliteStore::Touch(std::span<const Key> keys) {
  const int64_t now_q = NowSeconds() / kQuantumSeconds;
  for (const Key& key : keys) {
    access_times_.TouchKey(key, now_q);
  }
}

Result<void> SqliteStore::Write(Writer::Change change, const Call& call) {
  const std::shared_ptr<Session> session = Current();
  if (session == nullptr) {
    return Error{.code = ErrorCode::kBusy, .context = "the cache has no database"};
  }
  if (session->writer() == nullptr) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "another process owns the cache",
                 .reason = std::string(kReadOnly)};
  }
  return session->writer()->Run(std::move(change), {}, call);
}

void SqliteStore::Post(Writer::Change change, const Writer::Weight& weight) {
  const std::shared_ptr<Session> session = Current();
  if (session != nullptr && session->writer() != nullptr) {
    static_cast<void>(
        session->writer()->Post(std::move(change), weight, {.deadline = clock_.Monotonic()}));
  }
}

Result<void> SqliteStore::Flush() {
  return Write([this](TableWrites& writes) { return FlushAccessTimes(writes, access_times_); }, {});
}

int64_t SqliteStore::NowSeconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
}

}  // namespace kiln::cache::sqlite
