// SPDX-License-Identifier: MIT
// The one thread that writes: takes changes from a bounded queue, runs them in groups, each group
// one transaction, and answers only after COMMIT. Between groups it does a slice of background work
// and keeps the WAL short. See spec/cache 6.4, 6.5, 6.8.
//
// Threads: Run, Post and Wake from any thread. Writes, background work and on_failure run on the
// writer thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "cache/sqlite/session/reader_pool.h"
#include "cache/sqlite/tables/table_writes.h"
#include "cache/wait.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cache::sqlite {

// WAL sizes at which the writer acts (spec/cache 6.8).
struct WalBounds {
  int64_t passive = int64_t{32} << 20;
  int64_t restart = int64_t{64} << 20;
  int64_t truncate = int64_t{128} << 20;
};

class Writer {
 public:
  // Runs inside a transaction. After an error nothing of it stays. May run twice: then nothing of
  // the first run stayed.
  using Change = std::function<Result<void>(TableWrites&)>;

  struct Options {
    // A group is not waited for any longer with this many items, however few puts they came in.
    uint32_t group_items = 256;
    uint32_t group_requests = 256;
    uint64_t group_bytes = uint64_t{8} << 20;
    Duration group_wait = std::chrono::milliseconds(3);
    // So many times the items and the time, as long as nobody waits for anything in the queue: a
    // commit writes each page of an index of random keys that a group touches, so fewer and larger
    // groups write less.
    uint32_t unawaited_factor = 8;
    uint32_t queue_items = 4096;
    uint64_t queue_bytes = uint64_t{64} << 20;
    WalBounds wal;
  };

  struct Hooks {
    // A group failed for a reason that lies in the world: disk full, I/O, damage.
    std::function<void(const Error&)> on_failure = [](const Error&) {};
    // One slice of background work, outside a transaction; true if there is more to do now.
    std::function<bool(TableWrites&)> background = [](TableWrites&) { return false; };
  };

  // How much of the queue a change takes up.
  struct Weight {
    uint32_t items = 1;
    uint64_t bytes = 0;
  };

  // The writing connection and its statements.
  struct Side {
    std::unique_ptr<Connection> connection;
    TableWrites writes;
    Statement page_count;
    Statement freelist_count;

    static Result<Side> Prepare(Connection connection, Clock& clock, Counters& counters,
                                const TableWrites::Options& options);
  };

  // Requires: readers, clock and counters outlive the writer.
  Writer(Side side, ReaderPool& readers, Clock& clock, Counters& counters, const Options& options,
         Hooks hooks);
  ~Writer() { Stop(); }

  // Finishes what is queued, truncates the WAL, closes the connection. Once; then every Run and
  // Post gives kBusy.
  void Stop();

  // Returns after the change was committed and synced. Errors: the change's own; kFull,
  // kUnavailable, kCorrupt from the file; kBusy if the queue stayed full up to the deadline, or
  // while stopping; kCancelled, kDeadlineExceeded: the change may still happen.
  Result<void> Run(Change change, const Weight& weight, const Call& call);
  // Returns after the change was queued; its failure is only seen by on_failure.
  Result<void> Post(Change change, const Weight& weight, const Call& call);
  // There is background work to do.
  void Wake();

 private:
  struct Request {
    Change change;
    Weight weight;
    bool is_awaited = false;
    Duration queued_at{};
    std::optional<Result<void>> outcome;  // guarded by mutex_
  };
  using RequestPtr = std::shared_ptr<Request>;
  using Group = std::vector<RequestPtr>;

  Result<RequestPtr> Enqueue(std::shared_ptr<Request> request, const Call& call);
  bool QueueIsFull(const Weight& more) const KILN_REQUIRES(mutex_);
  void Loop();
  Group NextGroup();
  // How long the first request of the queue waits for others.
  Duration GroupWait() const KILN_REQUIRES(mutex_);
  bool GroupIsComplete() const KILN_REQUIRES(mutex_);
  void RunGroup(const Group& group);
  Result<void> RunTogether(const Group& group);
  void Complete(const Group& group, const Result<void>& outcome);
  void Measure();
  void BoundWal();

  std::optional<Side> side_;  // the writer thread's; gone after Stop
  ReaderPool& readers_;
  Clock& clock_;
  Counters& counters_;
  const Options options_;
  const Hooks hooks_;
  int64_t wal_at_last_checkpoint_ = 0;

  Mutex mutex_;
  CondVar work_;  // for the writer
  CondVar done_;  // for those who wait: space in the queue, an outcome
  std::deque<RequestPtr> queue_ KILN_GUARDED_BY(mutex_);
  Weight queued_ KILN_GUARDED_BY(mutex_) = {.items = 0, .bytes = 0};
  uint32_t awaited_ KILN_GUARDED_BY(mutex_) = 0;  // of the queue
  bool background_ KILN_GUARDED_BY(mutex_) = false;
  bool stopping_ KILN_GUARDED_BY(mutex_) = false;
  Thread thread_;  // last: everything else is there when it starts
};

}  // namespace kiln::cache::sqlite
