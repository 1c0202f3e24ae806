// SPDX-License-Identifier: MIT
// One opened cache.db: its readers and, if this process owns it, its writer. A store makes a new
// session when the file is replaced; whoever still holds the old one finds it closed.
#pragma once

#include <memory>
#include <utility>

#include "cache/sqlite/session/reader_pool.h"
#include "cache/sqlite/session/writer.h"
#include "compiler/base/log.h"

namespace kiln::cache::sqlite {

// Threads: safe from any thread, except Close (one thread, once).
class Session {
 public:
  struct Options {
    DatabaseFile file;
    uint32_t readers = 4;
    BlockCache* blocks = nullptr;  // of all readers; outlives the session
    // Counted by whoever writes, who is in this process; null: not all of them are told.
    const std::atomic<uint64_t>* changes = nullptr;
    TableWrites::Options writes;
    Writer::Options writer;
  };

  // Requires: this process owns the directory; clock, log and counters outlive the session.
  static Result<std::shared_ptr<Session>> OpenOwned(const Options& options, Clock& clock,
                                                    LogSink& log, Counters& counters,
                                                    Writer::Hooks hooks);
  // Without a writer. Errors: kCorrupt, kFailedPrecondition if there is nothing to read.
  static Result<std::shared_ptr<Session>> OpenReadOnly(const Options& options, Clock& clock);

  Session(const Options& options, Clock& clock)
      : readers_(options.file, options.readers, clock, options.blocks, options.changes) {}

  ReaderPool& readers() { return readers_; }
  // Null if read-only.
  Writer* writer() { return writer_.get(); }

  // Ends the writer and closes every connection. Waits for calls that are inside.
  void Close();

 private:
  ReaderPool readers_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace kiln::cache::sqlite
