// SPDX-License-Identifier: MIT
// The session that a store has at the moment, and so the one way to its readers and its writer.
// There is none before the file could be opened and while it is replaced; whoever took one keeps it
// alive until done.
//
// Threads: safe from any thread.
#pragma once

#include <functional>
#include <memory>

#include "cache/sqlite/session/session.h"
#include "compiler/base/mutex.h"

namespace kiln::cache::sqlite {

class CurrentSession {
 public:
  // Requires: clock outlives this.
  explicit CurrentSession(Clock& clock) : clock_(clock) {}

  // Null if there is none.
  std::shared_ptr<Session> Get() const;
  // Gives the one before. It is not closed.
  std::shared_ptr<Session> Exchange(std::shared_ptr<Session> session);

  // A connection for reading. Errors: kUnavailable while there is no database.
  Result<ReaderPool::Loan> Read(const Call& call) const;
  // Runs a change on the writer thread and returns after its commit. Errors: kBusy while there is
  // no database, READ_ONLY, those of Writer::Run.
  Result<void> Write(Writer::Change change, const Call& call) const;
  // Runs a change some time later; it is lost if the queue is full or there is no writer.
  void Post(Writer::Change change, const Writer::Weight& weight) const;
  // Calls back at once if there is a writer.
  void WithWriter(const std::function<void(Writer&)>& use) const;

 private:
  Clock& clock_;
  mutable Mutex mutex_;
  std::shared_ptr<Session> session_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache::sqlite
