// SPDX-License-Identifier: MIT
// The embedded store: one SQLite file, one writing process. What cannot be read is a miss, what is
// damaged is dropped, what is acknowledged is on disk. See spec/cache 6.
//
// Threads: safe from any thread. Has a writer thread and a maintenance thread of its own.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>

#include "cache/limited_store.h"
#include "cache/sqlite/access_times.h"
#include "cache/sqlite/collector.h"
#include "cache/sqlite/damage_policy.h"
#include "cache/sqlite/data_dir.h"
#include "cache/sqlite/dictionaries.h"
#include "cache/sqlite/record_counts.h"
#include "cache/sqlite/scrubber.h"
#include "cache/sqlite/session.h"
#include "cache/store.h"
#include "compiler/base/thread.h"

namespace kiln::cache::sqlite {

struct SqliteOptions {
  std::filesystem::path dir;
  std::string vfs;       // tests inject faults here
  uint32_t readers = 0;  // 0: min(16, 2 x cores)
  int64_t negative_ttl_s = int64_t{24} * 3600;
  int64_t max_age_s = 0;  // of records that nobody uses; 0: they stay while there is room
  Writer::Options writer;
  // Run as `PROGRAM --salvage FILE --into DIR` to read a damaged file (SalvageApart): what crashes
  // it does not crash this process. Empty: it is read here.
  std::string salvage_program;
  FileSystemType file_system_type = StatFileSystemType;
  // kFailedPrecondition with reason LOCKED instead of a read-only store when another process owns
  // the directory.
  bool must_own = false;
  // Never takes the lock and changes nothing: for looking at the store of another process.
  bool read_only = false;
};

inline constexpr std::string_view kLocked = "LOCKED";

// What `kiln status` and metrics show of a store.
struct SqliteStatus {
  bool read_only = false;
  std::optional<pid_t> owner;  // of a store that is read-only because of it
  bool open = true;            // false: the file is being replaced, or cannot be opened
  bool full = false;           // puts are refused for now
  std::array<uint64_t, kDamageKindCount> damage{};
  uint64_t collisions = 0;
  uint64_t nondeterminism = 0;
  uint64_t groups = 0;
  uint64_t grouped_requests = 0;
  uint64_t commit_us = 0;
  uint64_t refused_full = 0;
  uint64_t evicted = 0;  // to make room
  uint64_t aged = 0;
  int64_t wal_bytes = 0;
  uint64_t used_bytes = 0;
};

class SqliteStore final : public BlobStore, public DamageSink, public Collectable {
 public:
  // Opens or makes the store of a directory; a second process gets a read-only one. With a full or
  // failing disk the store is there but not open (Status), and tries again every second. Requires:
  // clock and log outlive the store. Errors: kFailedPrecondition, with reason NETWORK_FILE_SYSTEM,
  // LOCKED or READ_ONLY where these are the cause; the text says what to do.
  static Result<std::unique_ptr<SqliteStore>> Open(const SqliteOptions& options, Clock& clock,
                                                   LogSink& log);
  // Everything that was queued is written.
  ~SqliteStore() override;

  Result<Blob> Get(const Key& key, const Call& call) override;
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override;

  void Report(const Damage& damage) override;

  // Pages in use, and the files that were set aside (spec/cache 6.9).
  uint64_t UsedBytes() const override { return counters_.used_bytes + aside_bytes_; }
  uint64_t FreeDiskBytes() const override;
  void StartCollecting(uint64_t target_bytes) override;
  // Looks in the background at the next 1,000 blobs for content that no record names and that is
  // past its grace. Done every 30 seconds anyway.
  void StartScan();

  // Removes in the background what nobody used for max_age_s. Done every 30 seconds anyway.
  void StartAgeing();

  // Gives every free page back to the file system, in the background.
  void StartVacuum();
  // Whether collection, ageing or vacuum that was started has not ended.
  void StopCollecting() { collector_.Stop(); }
  bool Collecting() const { return collector_.Busy(); }
  // Replaces the file by what verifies of it; gives the name of the old one in the directory.
  // Errors: READ_ONLY; kUnavailable if there is no database afterwards.
  Result<std::string> Rebuild();

  // With what content is compressed; for a CompressingStore above this.
  DictionarySource& dictionaries() { return dictionaries_; }
  // What upkeep does from time to time: see TrainDictionaries. Errors: READ_ONLY; those of the
  // file.
  Result<std::vector<TrainedDictionary>> Train();

  // Returns when a file that could not be opened was salvaged, if there was one.
  void AwaitSalvage(const std::stop_token& stop);

  SqliteStatus Status() const;
  // What the file had when it was counted last; nothing before the first time. Never reads: asking
  // makes the maintenance thread count again if that was some seconds ago.
  std::optional<RecordCounts> Records();
  // When and why this process removed a record; one of the last 65,536.
  std::optional<Removal> WhyRemoved(const Hash128& key) const {
    return counters_.removed.Find(key);
  }
  // How many records this process removed, for whatever reason; never decreases.
  uint64_t removals() const { return counters_.removed.count(); }
  AccessTimes& access_times() { return access_times_; }
  const std::filesystem::path& dir() const { return dir_; }

  // Runs a change on the writer thread and returns after its commit. Errors: as Put.
  Result<void> Write(Writer::Change change, const Call& call);
  // Runs a change some time later; it is lost if the queue is full or the store is not open.
  void Post(Writer::Change change, const Writer::Weight& weight);
  // A connection for reading. Errors: kUnavailable while there is no database.
  Result<ReaderPool::Loan> Read(const Call& call);
  // Writes what was touched and waits until everything queued before is on disk.
  Result<void> Flush();

 private:
  enum class Task : uint8_t { kNone, kCheck, kReplace, kReplaceUnsalvaged };

  SqliteStore(const SqliteOptions& options, Clock& clock, LogSink& log);

  std::shared_ptr<Session> Current() const;
  // Directory, lock and session, as far as they are not there yet.
  Result<void> Start();
  Result<void> TakeLock();
  Result<void> OpenSession();
  Writer::Hooks MakeHooks();

  Result<Blob> GetContent(const Key& key, ReadStatements& reads);
  Result<Blob> GetRow(const Key& key, ReadStatements& reads, bool is_use);
  Result<Blob> GetAlias(const Key& key, ReadStatements& reads, bool is_use);
  Error Missing(const Key& key, const Finding& finding, Blob found);
  // What a failed read means; the caller sees a miss.
  Error ReadFailed(const Key& key, const Error& error);
  void WriteFailed(const Error& error);
  void Judge(const Error& error);

  void Care();
  void Reopen();
  void Tick();
  void CheckDatabase();
  void ReplaceDatabase(Task task);
  // Copies what verifies from a file that was set aside.
  void Salvage(const std::string& name);
  void SalvageUnopened();
  void MeasureAside();
  // Removes files that were set aside, the oldest first: damaged ones until everything fits into
  // the target, those of other versions until they leave half of it to the database.
  void MakeRoomAside(uint64_t target_bytes);
  void Reverify(Duration passed);
  void TrainIfDue();
  void CountIfAsked();
  int64_t NowSeconds() const;

  const SqliteOptions options_;
  const std::filesystem::path dir_;
  Session::Options session_options_;  // until a session is there only the opening thread's
  std::optional<OwnerLock> lock_;     // the same
  std::atomic<bool> owned_{false};    // whether there is a lock
  Clock& clock_;
  LogSink& log_;
  Counters counters_;
  AccessTimes access_times_;
  Collector collector_;
  DamagePolicy watch_;
  std::atomic<int64_t> full_until_ns_{0};
  std::atomic<uint64_t> aside_bytes_{0};
  Scrubber scrubber_;  // of the maintenance thread
  Dictionaries dictionaries_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::shared_ptr<Session> session_ KILN_GUARDED_BY(mutex_);
  Task task_ KILN_GUARDED_BY(mutex_) = Task::kNone;
  uint64_t replacements_ KILN_GUARDED_BY(mutex_) = 0;
  std::string last_set_aside_ KILN_GUARDED_BY(mutex_);
  std::string unsalvaged_ KILN_GUARDED_BY(mutex_);  // set aside because it could not be opened
  std::optional<RecordCounts> records_ KILN_GUARDED_BY(mutex_);
  bool count_asked_ KILN_GUARDED_BY(mutex_) = false;
  Duration next_count_ KILN_GUARDED_BY(mutex_) = Duration::min();
  bool stopping_ KILN_GUARDED_BY(mutex_) = false;
  std::stop_source stop_;  // ends a salvage
  Thread maintenance_thread_;
};

}  // namespace kiln::cache::sqlite
