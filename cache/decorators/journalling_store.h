// SPDX-License-Identifier: MIT
// Adds patience to an upstream: puts are queued, in memory and, when they are many or nobody
// answers, in files; they are replayed in order, also after a restart. Beyond its bound the queue
// drops its oldest puts and counts them. See spec/cache 5.3, 7.2
//
// Threads: see BlobStore. One thread of its own replays; one mutex guards the queue.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>

#include "cache/store.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cache {

class JournallingStore final : public BlobStore {
 public:
  struct Options {
    std::filesystem::path dir;                     // of the files; made if it is not there
    uint64_t max_bytes = uint64_t{1} << 30;        // of the queue
    uint64_t memory_bytes = uint64_t{64} << 20;    // of these
    Duration retry = std::chrono::seconds(1);      // after a failure
    Duration deadline = std::chrono::seconds(30);  // of one put
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
    uint64_t refused = 0;  // by the upstream, or damaged here
    bool offline = false;  // the last try failed
  };
  Status status();

 private:
  struct Entry {
    uint64_t number = 0;
    uint64_t size = 0;
    std::optional<Bytes> bytes;  // nothing: in its file
  };

  std::filesystem::path FileOf(uint64_t number) const;
  void ListFiles();
  void Spool(Entry& entry) KILN_REQUIRES(mutex_);
  void Shrink() KILN_REQUIRES(mutex_);
  void Answer(uint64_t number, Result<PutResult> stored) KILN_REQUIRES(mutex_);
  Result<PutResult> Send(const Entry& entry);
  bool WaitForWork();
  void Replay();

  BlobStore& below_;
  Clock& clock_;
  const Options options_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Entry> queue_ KILN_GUARDED_BY(mutex_);  // oldest first
  std::map<uint64_t, std::optional<Result<PutResult>>> waited_for_ KILN_GUARDED_BY(mutex_);
  uint64_t next_ KILN_GUARDED_BY(mutex_) = 1;
  uint64_t in_memory_ KILN_GUARDED_BY(mutex_) = 0;
  Duration retry_at_ KILN_GUARDED_BY(mutex_){};
  Status status_ KILN_GUARDED_BY(mutex_);
  bool ended_ KILN_GUARDED_BY(mutex_) = false;
  std::stop_source stop_;
  Thread thread_;
};

}  // namespace kiln::cache
