// SPDX-License-Identifier: MIT
// Adds patience to an upstream: puts are queued, in memory and, when they are many or nobody
// answers, in files; they are replayed in order, also after a restart. A row is in the queue once,
// however often its principal puts it. The queue is divided between principals (OwnerShares):
// beyond its bound those that have too much of it lose their oldest puts, which are counted and
// told. See spec/cache 5.3, 7.2
//
// Threads: see BlobStore. One thread of its own replays; one mutex guards the queue.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/leases/owner_shares.h"
#include "cache/store.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cache {

class JournallingStore final : public BlobStore {
 public:
  struct Options {
    std::filesystem::path dir;                     // of the files; made if it is not there
    uint64_t max_bytes = uint64_t{1} << 30;        // of the queue
    uint64_t max_rows = uint64_t{1} << 18;         // of these, what is known of each is in memory
    uint64_t memory_bytes = uint64_t{64} << 20;    // of these
    Duration retry = std::chrono::seconds(1);      // after a failure
    Duration deadline = std::chrono::seconds(30);  // of one put
    // Puts were dropped, so many since it was told last. Once a minute at most; must not call back.
    std::function<void(uint64_t)> on_drop = nullptr;
  };

  // Requires: below and clock outlive this.
  JournallingStore(BlobStore& below, Clock& clock, Options options);
  // What was not sent waits in files.
  ~JournallingStore() override;

  Result<Blob> Get(const Key& key, const Call& call) override { return below_.Get(key, call); }
  // Queues. kQuorum waits until everything before it and the items are there. Errors: kUnavailable
  // with UPSTREAM_UNREACHABLE (they stay queued); those of the store below if it refuses them.
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const Key> keys) override { below_.Touch(keys); }

  struct Status {
    uint64_t queued = 0;  // puts
    uint64_t bytes = 0;
    uint64_t sent = 0;
    uint64_t dropped = 0;  // because the queue was full
    uint64_t lost = 0;     // of these, since it was empty last
    uint64_t refused = 0;  // by the upstream, or damaged here
    bool offline = false;  // the last try failed
  };
  Status status();

 private:
  struct Entry {
    uint64_t number = 0;
    uint64_t size = 0;
    std::string owner;           // who put it, as files name him; empty: the owner of the daemon
    std::vector<Hash128> rows;   // of its rows, with the owner; none before its file was read
    std::optional<Bytes> bytes;  // nothing: in its file
  };
  using Queue = std::map<uint64_t, Entry>;  // by number: oldest first
  // Those who wait for an entry, and what came of it.
  struct Waited {
    size_t waiters = 0;
    std::optional<Result<PutResult>> answer;
  };

  std::filesystem::path FileOf(const Entry& entry) const;
  void ListFiles();
  void LearnRows();
  void Spool(Entry& entry) KILN_REQUIRES(mutex_);
  uint64_t Append(Bytes bytes, std::string owner, std::vector<Hash128> rows) KILN_REQUIRES(mutex_);
  void Remember(Entry& entry, std::vector<Hash128> rows) KILN_REQUIRES(mutex_);
  void Remove(Queue::iterator entry) KILN_REQUIRES(mutex_);
  void Shrink(const std::string& owner) KILN_REQUIRES(mutex_);
  Queue::iterator NextToDrop(const OwnerShares& shares, const std::string& owner)
      KILN_REQUIRES(mutex_);
  void TellDrops() KILN_REQUIRES(mutex_);
  void Answer(uint64_t number, Result<PutResult> stored) KILN_REQUIRES(mutex_);
  Result<PutResult> WaitFor(const std::set<uint64_t>& numbers, const Call& call)
      KILN_REQUIRES(mutex_);
  Bytes ReadFile(const Entry& entry) const;
  Result<PutResult> Send(const Entry& entry);
  bool WaitForWork();
  void Replay();

  BlobStore& below_;
  Clock& clock_;
  const Options options_;
  Mutex mutex_;
  CondVar changed_;
  Queue queue_ KILN_GUARDED_BY(mutex_);
  std::unordered_map<Hash128, uint64_t, Hash128Hash> waiting_ KILN_GUARDED_BY(mutex_);  // rows
  std::map<std::string, std::set<uint64_t>> of_owner_ KILN_GUARDED_BY(mutex_);          // entries
  OwnerShares bytes_ KILN_GUARDED_BY(mutex_);
  OwnerShares rows_ KILN_GUARDED_BY(mutex_);
  std::map<uint64_t, Waited> waited_for_ KILN_GUARDED_BY(mutex_);
  uint64_t next_ KILN_GUARDED_BY(mutex_) = 1;
  uint64_t in_memory_ KILN_GUARDED_BY(mutex_) = 0;
  Duration retry_at_ KILN_GUARDED_BY(mutex_){};
  std::optional<Duration> told_at_ KILN_GUARDED_BY(mutex_);  // that puts were dropped
  uint64_t told_ KILN_GUARDED_BY(mutex_) = 0;                // of those dropped
  Status status_ KILN_GUARDED_BY(mutex_);
  bool ended_ KILN_GUARDED_BY(mutex_) = false;
  std::stop_source stop_;
  Thread thread_;
};

}  // namespace kiln::cache
