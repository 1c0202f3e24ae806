// SPDX-License-Identifier: MIT
// The embedded store: one SQLite file, one writing process. What cannot be read is a miss, what is
// damaged is dropped, what is acknowledged is on disk. See spec/cache 6.
//
// This is the face: reads, puts, and what is asked of a whole store. Its parts (store_parts.h), its
// file (store_file.h) and its maintenance thread are classes of their own.
//
// Threads: safe from any thread. Has a writer thread and a maintenance thread of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "cache/decorators/limited_store.h"
#include "cache/sqlite/maintenance/maintenance_thread.h"
#include "cache/sqlite/maintenance/record_room.h"
#include "cache/sqlite/maintenance/sent_room.h"
#include "cache/sqlite/sqlite_options.h"
#include "cache/sqlite/store_file.h"
#include "cache/sqlite/store_parts.h"
#include "cache/sqlite/tables/dictionary_training.h"
#include "cache/sqlite/tables/record_counts.h"
#include "cache/store.h"

namespace kiln::cache::sqlite {

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
  uint64_t UsedBytes() const override { return parts_.counters.used_bytes + parts_.aside.bytes(); }
  uint64_t FreeDiskBytes() const override;
  void StartCollecting(uint64_t target_bytes) override;
  void MakeRoom(uint64_t target_bytes, const Call& call) override;
  // For content that is kept for its sender alone.
  ContentRoom& sent_room() { return sent_room_; }
  const SentContent& sent() const { return parts_.sent; }
  // Records by whom they were made for.
  const SentContent& made() const { return parts_.records; }
  // Looks in the background at the next 1,000 blobs for content that no record names and that is
  // past its grace. Done every 30 seconds anyway.
  void StartScan();

  // Removes in the background what nobody used for max_age_s. Done every 30 seconds anyway.
  void StartAgeing();

  // Gives every free page back to the file system, in the background.
  void StartVacuum();
  // Whether collection, ageing or vacuum that was started has not ended.
  void StopCollecting() { parts_.collector.Stop(); }
  bool Collecting() const { return parts_.collector.Busy(); }
  // Replaces the file by what verifies of it; gives the name of the old one in the directory.
  // Errors: READ_ONLY; kUnavailable if there is no database afterwards.
  Result<std::string> Rebuild();

  // With what content is compressed; for a CompressingStore above this.
  DictionarySource& dictionaries() { return parts_.dictionaries; }
  // What readers keep of blocks.
  CountedCache& cache() { return parts_.blocks; }
  // What upkeep does from time to time: see TrainDictionaries. Errors: READ_ONLY; those of the
  // file.
  Result<std::vector<TrainedDictionary>> Train();

  // Returns when a file that could not be opened was salvaged, if there was one.
  void AwaitSalvage(const std::stop_token& stop) { parts_.orders.AwaitSalvage(stop); }

  SqliteStatus Status() const;
  // What the file had when it was counted last; nothing before the first time. Never reads: asking
  // makes the maintenance thread count again if that was some seconds ago.
  std::optional<RecordCounts> Records() { return maintenance_.Records(); }
  // When and why this process removed a record; one of the last 65,536.
  std::optional<Removal> WhyRemoved(const Hash128& key) const {
    return parts_.counters.removed.Find(key);
  }
  // How many records this process removed, for whatever reason; never decreases.
  uint64_t removals() const { return parts_.counters.removed.count(); }
  AccessTimes& access_times() { return parts_.access_times; }
  const std::filesystem::path& dir() const { return parts_.options.dir; }

  // Runs a change on the writer thread and returns after its commit. Errors: as Put.
  Result<void> Write(Writer::Change change, const Call& call) {
    return parts_.session.Write(std::move(change), call);
  }
  // Runs a change some time later; it is lost if the queue is full or the store is not open.
  void Post(Writer::Change change, const Writer::Weight& weight) {
    parts_.session.Post(std::move(change), weight);
  }
  // A connection for reading. Errors: kUnavailable while there is no database.
  Result<ReaderPool::Loan> Read(const Call& call) { return parts_.session.Read(call); }
  // Writes what was touched and waits until everything queued before is on disk.
  Result<void> Flush() { return parts_.Flush(); }

 private:
  SqliteStore(const SqliteOptions& options, Clock& clock, LogSink& log);

  Result<Blob> GetContent(const Key& key, ReadStatements& reads);
  Result<Blob> GetRow(const Key& key, ReadStatements& reads, bool is_use);
  Result<Blob> GetAlias(const Key& key, ReadStatements& reads, bool is_use);
  Error Missing(const Key& key, const Finding& finding, Blob found);
  int64_t NowSeconds() const;
  uint64_t DiskBytesNow() const;
  // For a put of so many bytes, made if need be. Errors: kFull with CACHE_FULL.
  Result<void> HaveRoomFor(uint64_t bytes, const Call& call);

  // What the system said of the disk, and until when that counts.
  mutable std::atomic<uint64_t> free_bytes_{0};
  mutable std::atomic<int64_t> free_until_{std::numeric_limits<int64_t>::min()};
  StoreParts parts_;
  SentRoom sent_room_;
  RecordRoom record_room_;
  StoreFile file_;
  MaintenanceThread maintenance_;
};

}  // namespace kiln::cache::sqlite
