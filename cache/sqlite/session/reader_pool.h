// SPDX-License-Identifier: MIT
// The reading connections of a store, opened when first needed. See spec/cache 6.4, 6.8.
//
// Threads: safe from any thread; a Reader belongs to the thread that took it until it gives it
// back.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "cache/sqlite/database.h"
#include "cache/sqlite/session/read_statements.h"
#include "cache/wait.h"

namespace kiln::cache::sqlite {

class ReaderPool {
 public:
  // A connection with its statements.
  struct Reader {
    Connection connection;
    ReadStatements reads;
  };

  // Requires: clock, blocks and changes outlive the pool; the last two may be null.
  ReaderPool(DatabaseFile file, uint32_t most, Clock& clock, BlockCache* blocks = nullptr,
             const std::atomic<uint64_t>* changes = nullptr)
      : file_(std::move(file)), most_(most), clock_(clock), blocks_(blocks), changes_(changes) {}
  ~ReaderPool() { Close(); }

  // A reader that goes back to the pool by itself.
  class Loan {
   public:
    // A statement that runs when `stop` is requested ends with kCancelled.
    Loan(ReaderPool& pool, std::unique_ptr<Reader> reader, const std::stop_token& stop)
        : pool_(&pool), reader_(std::move(reader)) {
      if (stop.stop_possible()) {
        on_stop_ = std::make_unique<OnStop>(stop, Interrupt{reader_->connection});
      }
    }
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      on_stop_.reset();  // nobody interrupts whoever takes the reader next
      if (reader_ != nullptr) {
        pool_->GiveBack(std::move(reader_));
      }
    }
    ReadStatements* operator->() { return &reader_->reads; }
    ReadStatements& operator*() { return reader_->reads; }
    Connection& connection() { return reader_->connection; }
    // Keeps whoever owns the pool alive as long as this.
    void KeepAlive(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

   private:
    struct Interrupt {
      Connection& connection;
      void operator()() const { connection.Interrupt(); }
    };
    using OnStop = std::stop_callback<Interrupt>;

    std::shared_ptr<const void> owner_;
    ReaderPool* pool_;
    std::unique_ptr<Reader> reader_;
    std::unique_ptr<OnStop> on_stop_;
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
  BlockCache* const blocks_;
  const std::atomic<uint64_t>* const changes_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::unique_ptr<Reader>> idle_ KILN_GUARDED_BY(mutex_);
  uint32_t out_ KILN_GUARDED_BY(mutex_) = 0;
  uint32_t waiting_ KILN_GUARDED_BY(mutex_) = 0;  // who wants to hear of a reader that comes back
  bool paused_ KILN_GUARDED_BY(mutex_) = false;
  bool closed_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::cache::sqlite
