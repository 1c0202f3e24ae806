// SPDX-License-Identifier: MIT
// A round is: one order, a file to salvage, counting; then either the file that is not open is
// tried again, which a full disk makes necessary at any time, or the work of every 30 seconds is
// done. Rounds follow each other once a second, or at once when there is an order. An exception
// that leaves a round costs that round (compiler/base/threads/thread).
#include "cache/sqlite/maintenance/maintenance_thread.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cache/sqlite/sqlite_store.h"
#include "cache/sqlite/tables/dictionary_training.h"

namespace kiln::cache::sqlite {
namespace {

constexpr Duration kTick = std::chrono::seconds(30);
// Counting takes at most a hundredth of a core.
constexpr Duration kCountPause = std::chrono::seconds(5);
constexpr int kCountShare = 100;

}  // namespace

MaintenanceThread::MaintenanceThread(SqliteStore& store, StoreParts& parts, StoreFile& file)
    : parts_(parts),
      file_(file),
      damage_(store),
      replacement_(store, parts, file),
      scrubber_(static_cast<uint64_t>(parts.clock.UnixTime().count())) {}

void MaintenanceThread::Start() {
  thread_ = Thread({.name = "cache maintenance", .log = &parts_.log},
                   [this](const std::stop_token&) { Loop(); });
}

void MaintenanceThread::Stop() {
  parts_.orders.Stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

// Every order and tick is worked off here, one after the other, so nothing of maintenance runs
// twice at once.
void MaintenanceThread::Loop() {
  Duration next_tick = parts_.clock.Monotonic() + kTick;
  while (const std::optional<Order> order = parts_.orders.Next()) {
    if (file_.owned()) {  // else the file is another process's to mend
      replacement_.Execute(*order);
    }
    replacement_.SalvageUnopened();
    CountIfAsked();
    if (parts_.session.Get() == nullptr) {
      Reopen();  // once a second: until then every request is a miss
    } else if (parts_.clock.Monotonic() >= next_tick) {
      next_tick = parts_.clock.Monotonic() + kTick;
      Tick();
    }
  }
}

void MaintenanceThread::Reopen() {
  const Result<void> opened = file_.Start();
  if (opened.ok()) {
    parts_.health.NotFull();
    parts_.log.Write(LogLevel::kInfo, "cache", "the database is open again");
  } else if (opened.error().code == ErrorCode::kFull) {
    parts_.health.WriteFailed(opened.error());
  }
}

void MaintenanceThread::Tick() {
  if (!file_.owned()) {
    return;
  }
  static_cast<void>(parts_.Flush());
  parts_.session.WithWriter([&](Writer& writer) {
    // The thread only starts this work; the writer does it in slices between groups of puts.
    parts_.collector.StartAgeing();
    parts_.collector.StartScan();
    writer.Wake();
  });
  Reverify(kTick);
  parts_.dictionaries.Load();  // one that was lost is not used any more
  TrainIfDue();
}

// Rows that nobody asks for are verified, too: damage is found while an upstream or a source can
// still repair it (spec/cache 6.11).
void MaintenanceThread::Reverify(Duration passed) {
  Result<ReaderPool::Loan> reader = parts_.session.Read({});
  if (!reader.ok()) {
    return;
  }
  for (const Damage& damage : scrubber_.Run(reader->connection(), **reader, passed)) {
    damage_.Report(damage);
  }
}

// The reader is given back before training, which takes seconds and has readers of its own.
void MaintenanceThread::TrainIfDue() {
  {
    Result<ReaderPool::Loan> reader = parts_.session.Read({});
    const Result<bool> due = reader.ok() ? TrainingIsDue(reader->connection()) : reader.error();
    if (!due.ok() || !*due) {
      return;
    }
  }
  const Result<std::vector<TrainedDictionary>> trained =
      TrainDictionaries(parts_.session, parts_.dictionaries, parts_.orders.stop_token());
  for (const TrainedDictionary& dictionary :
       trained.ok() ? *trained : std::vector<TrainedDictionary>()) {
    parts_.log.Write(LogLevel::kInfo, "cache", "trained a dictionary",
                     {{"kind", ContentKindName(dictionary.kind)},
                      {"number", uint64_t{dictionary.number}},
                      {"before_bytes", dictionary.before_bytes},
                      {"after_bytes", dictionary.after_bytes}});
  }
}

std::optional<RecordCounts> MaintenanceThread::Records() {
  const MutexLock lock(mutex_);
  count_asked_ = true;
  return records_;
}

// Counting reads every row. It is done for whoever asked since the last count, and never more often
// than its own cost allows.
void MaintenanceThread::CountIfAsked() {
  const Duration start = parts_.clock.Monotonic();
  {
    const MutexLock lock(mutex_);
    if (!count_asked_ || start < next_count_) {
      return;
    }
    count_asked_ = false;
  }
  Result<ReaderPool::Loan> reader = parts_.session.Read({});
  const Result<RecordCounts> counts =
      reader.ok() ? CountRecords(reader->connection(), parts_.orders.stop_token())
                  : Result<RecordCounts>(reader.error());
  const Duration end = parts_.clock.Monotonic();
  const MutexLock lock(mutex_);
  records_ = counts.ok() ? std::optional(*counts) : std::nullopt;
  // A store that takes a second to count is counted every hundred seconds.
  next_count_ = end + std::max(kCountPause, (end - start) * kCountShare);
}

}  // namespace kiln::cache::sqlite
