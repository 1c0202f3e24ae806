// SPDX-License-Identifier: MIT
// Lending readers.
#include "cache/sqlite/session/reader_pool.h"

#include <utility>

namespace kiln::cache::sqlite {

Result<std::unique_ptr<ReaderPool::Reader>> ReaderPool::Open() const {
  KILN_TRY(Connection connection, OpenReader(file_));
  auto reader = std::make_unique<Reader>(Reader{.connection = std::move(connection), .reads = {}});
  Result<ReadStatements> reads = ReadStatements::Prepare(reader->connection, blocks_, changes_);
  if (!reads.ok()) {
    return AsDamage(reads.error());
  }
  reader->reads = std::move(reads).value();
  return reader;
}

// Waits while all readers are lent or a checkpoint needs a pause. Errors: kDeadlineExceeded,
// kCancelled; kUnavailable after Close.
Result<ReaderPool::Loan> ReaderPool::Take(const Call& call) {
  std::unique_ptr<Reader> reader;
  {
    const StopWakes wakes(call.stop, mutex_, changed_);
    const MutexLock lock(mutex_);
    while (!closed_ && (paused_ || (idle_.empty() && out_ >= most_))) {
      ++waiting_;
      const Result<void> waited = WaitOnce(changed_, mutex_, clock_, call);
      --waiting_;
      KILN_TRY_VOID(waited);
    }
    if (closed_) {
      return Error{.code = ErrorCode::kUnavailable, .context = "the database is closed"};
    }
    ++out_;
    if (!idle_.empty()) {
      reader = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (reader != nullptr) {
    return Loan(*this, std::move(reader), call.stop);
  }
  // Opened without the mutex, since opening reads the file. The place was counted above, so the
  // pool never has more than `most_`.
  Result<std::unique_ptr<Reader>> opened = Open();
  if (!opened.ok()) {
    GiveBack(nullptr);
    return std::move(opened).error();
  }
  return Loan(*this, *std::move(opened), call.stop);
}

void ReaderPool::GiveBack(std::unique_ptr<Reader> reader) {
  const MutexLock lock(mutex_);
  --out_;
  if (reader != nullptr && !closed_) {
    idle_.push_back(std::move(reader));
  }
  // Nobody is woken for nothing: most loans are given back while nobody waits.
  if (waiting_ > 0) {
    changed_.NotifyAll();
  }
}

// For a checkpoint that shortens the WAL: it needs a moment without readers. Who comes meanwhile
// waits, and after `most` it goes on with whoever is still out.
void ReaderPool::Pause(Duration most) {
  const MutexLock lock(mutex_);
  paused_ = true;
  const Call call{.deadline = clock_.Monotonic() + most};
  ++waiting_;
  while (out_ > 0 && WaitOnce(changed_, mutex_, clock_, call).ok()) {
  }
  --waiting_;
}

void ReaderPool::Resume() {
  const MutexLock lock(mutex_);
  paused_ = false;
  changed_.NotifyAll();
}

// It waits for every loan: a connection must not be closed under a statement.
void ReaderPool::Close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.NotifyAll();
  ++waiting_;
  while (out_ > 0) {
    changed_.Wait(mutex_);
  }
  --waiting_;
  idle_.clear();
}

}  // namespace kiln::cache::sqlite
