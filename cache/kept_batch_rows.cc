// SPDX-License-Identifier: MIT
#include "cache/kept_batch_rows.h"

namespace kiln::cache {

KeptBatchRows::KeptBatchRows(BatchRows& below, Duration retry) : below_(below), retry_(retry) {
  thread_ = Thread({.name = "batch rows"}, [this](const std::stop_token&) { Retry(); });
}

KeptBatchRows::~KeptBatchRows() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
  const MutexLock lock(mutex_);
  PutWaiting();
}

Result<void> KeptBatchRows::Put(const BatchRow& row) {
  const MutexLock lock(mutex_);
  Result<void> stored = below_.Put(row);
  if (stored.ok()) {
    waiting_.erase(row.id);
  } else {
    if (waiting_.empty()) {  // else the thread has its time already, and would begin it again
      changed_.NotifyAll();
    }
    waiting_.insert_or_assign(row.id, row);
  }
  return stored;
}

Result<BatchRow> KeptBatchRows::Get(const Hash128& id) {
  const MutexLock lock(mutex_);
  const auto found = waiting_.find(id);
  return found == waiting_.end() ? below_.Get(id) : Result<BatchRow>(found->second);
}

Result<void> KeptBatchRows::Remove(const Hash128& id) {
  const MutexLock lock(mutex_);
  waiting_.erase(id);
  return below_.Remove(id);
}

bool KeptBatchRows::Waits(const Hash128& id) {
  const MutexLock lock(mutex_);
  return waiting_.contains(id);
}

// Up to the first that is not taken: the next one would hardly be.
void KeptBatchRows::PutWaiting() {
  while (!waiting_.empty() && below_.Put(waiting_.begin()->second).ok()) {
    waiting_.erase(waiting_.begin());
  }
}

void KeptBatchRows::Retry() {
  const MutexLock lock(mutex_);
  while (!ended_) {
    if (waiting_.empty()) {
      changed_.Wait(mutex_);
    } else if (!changed_.WaitFor(mutex_, retry_)) {
      PutWaiting();
    }
  }
}

}  // namespace kiln::cache
