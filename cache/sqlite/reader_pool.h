// SPDX-License-Identifier: MIT
// The reading connections of a store, opened when first needed. Spec: cache §6.4, §6.8.
//
// Threads: safe from any thread; a Reader belongs to the thread that took it until it gives it
// back.
#pragma once

#include <memory>
#include <vector>

#include "cache/sqlite/database.h"
#include "cache/sqlite/lookups.h"
#include "cache/wait.h"

namespace kiln::cache::sqlite {

class ReaderPool {
 public:
  // A connection with its statements.
  struct Reader {
    Connection connection;
    Lookups lookups;
  };

  // Requires: clock outlives the pool.
  ReaderPool(DatabaseFile file, uint32_t most, Clock& clock)
      : file_(std::move(file)), most_(most), clock_(clock) {}
  ~ReaderPool() { Close(); }

  // A reader that goes back to the pool by itself.
  class Loan {
   public:
    Loan(ReaderPool& pool, std::unique_ptr<Reader> reader)
        : pool_(&pool), reader_(std::move(reader)) {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (reader_ != nullptr) {
        pool_->GiveBack(std::move(reader_));
      }
    }
    Lookups* operator->() { return &reader_->lookups; }
    Lookups& operator*() { return reader_->lookups; }
    Connection& connection() { return reader_->connection; }
    // Keeps whoever owns the pool alive as long as this.
    void KeepAlive(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

   private:
    std::shared_ptr<const void> owner_;
    ReaderPool* pool_;
    std::unique_ptr<Reader> reader_;
  };

  // Errors: kUnavailable after Close; kCancelled, kDeadlineExceeded; what opening gives.
  Result<Loan> Take(const Call& call);

  // Until Resume nobody gets a reader. Waits at most `most` for those that are out.
  void Pause(Duration most);
  void Resume();

  // Nobody gets a reader any more; waits for those that are out and closes all.
  void Close();

 private:
  friend class Loan;
  void GiveBack(std::unique_ptr<Reader> reader);
  Result<std::unique_ptr<Reader>> Open() const;

  const DatabaseFile file_;
  const uint32_t most_;
  Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::unique_ptr<Reader>> idle_ KILN_GUARDED_BY(mutex_);
  uint32_t out_ KILN_GUARDED_BY(mutex_) = 0;
  uint32_t waiting_ KILN_GUARDED_BY(mutex_) = 0;  // who wants to hear of a reader that comes back
  bool paused_ KILN_GUARDED_BY(mutex_) = false;
  bool closed_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::cache::sqlite
