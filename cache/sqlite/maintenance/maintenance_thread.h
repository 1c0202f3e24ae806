// SPDX-License-Identifier: MIT
// The thread on which a store looks after itself: it carries out orders about the file, opens what
// could not be opened, and every 30 seconds flushes access times, starts ageing and the scan for
// orphans, verifies a part of all rows and trains dictionaries. It counts records while somebody
// asks. See spec/cache 6.7, 6.10, 6.11
//
// Threads: Start and Stop by one thread, once; Records from any.
#pragma once

#include <optional>

#include "cache/sqlite/repair/file_replacement.h"
#include "cache/sqlite/repair/scrubber.h"
#include "cache/sqlite/store_file.h"
#include "cache/sqlite/store_parts.h"
#include "cache/sqlite/tables/record_counts.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cache::sqlite {

class MaintenanceThread {
 public:
  // `store` is told of damage and gets what is salvaged. Requires: all outlive this.
  MaintenanceThread(SqliteStore& store, StoreParts& parts, StoreFile& file);
  ~MaintenanceThread() { Stop(); }

  void Start();
  // Ends what waits or is at work, then the thread.
  void Stop();

  // As of the last count; nothing before the first time. Asking makes the thread count again.
  std::optional<RecordCounts> Records();

 private:
  void Loop();
  void Reopen();
  void Tick();
  void Reverify(Duration passed);
  void TrainIfDue();
  void CountIfAsked();

  StoreParts& parts_;
  StoreFile& file_;
  DamageSink& damage_;
  FileReplacement replacement_;
  Scrubber scrubber_;

  Mutex mutex_;
  std::optional<RecordCounts> records_ KILN_GUARDED_BY(mutex_);
  bool count_asked_ KILN_GUARDED_BY(mutex_) = false;
  Duration next_count_ KILN_GUARDED_BY(mutex_) = Duration::min();
  Thread thread_;  // last: everything else is there while it runs
};

}  // namespace kiln::cache::sqlite
