// SPDX-License-Identifier: MIT
// Which pipelines are being made or drawn first, in a mapped file that outlives the process: what
// is still in it at the next start killed the last run, and is not tried again. See spec/pso 7.8
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "compiler/base/files/file_lock.h"
#include "compiler/base/mutex.h"
#include "runtime/pipeline/driver/binary_cache.h"

namespace kiln::runtime {

// The file: magic, u32 slots, u32 count of quarantined keys, slots × key, up to kMaxKeys keys.
// Slots: their worker only. The rest from any thread.
class BuildJournal {
 public:
  static constexpr uint32_t kMaxKeys = 1024;

  // Null, with a line of the log, if the file cannot be used or another process does.
  static std::unique_ptr<BuildJournal> Open(const CacheFolder& folder, const Hash128& identity,
                                            uint32_t slots);
  ~BuildJournal();
  BuildJournal(const BuildJournal&) = delete;
  BuildJournal& operator=(const BuildJournal&) = delete;

  void Begin(uint32_t slot, const Hash128& key);
  void End(uint32_t slot);

  // A run ended while it was being made, or it did not end itself.
  bool Died(const Hash128& key) const;
  void Quarantine(const Hash128& key);
  std::string path() const { return path_; }

 private:
  BuildJournal(std::string path, FileLock lock, std::span<std::byte> mapped, uint32_t slots)
      : path_(std::move(path)), lock_(std::move(lock)), mapped_(mapped), slots_(slots) {}
  void Add(const Hash128& key) KILN_REQUIRES(mutex_);
  void ReadBack();

  std::string path_;
  FileLock lock_;
  std::span<std::byte> mapped_;
  uint32_t slots_;
  mutable Mutex mutex_;
  std::set<Hash128> dead_ KILN_GUARDED_BY(mutex_);
};

// In the journal as long as it lives; `journal` may be null.
class JournalEntry {
 public:
  JournalEntry(BuildJournal* journal, uint32_t slot, const Hash128& key)
      : journal_(journal), slot_(slot) {
    if (journal_ != nullptr) {
      journal_->Begin(slot_, key);
    }
  }
  ~JournalEntry() {
    if (journal_ != nullptr) {
      journal_->End(slot_);
    }
  }
  JournalEntry(const JournalEntry&) = delete;
  JournalEntry& operator=(const JournalEntry&) = delete;

 private:
  BuildJournal* journal_;
  uint32_t slot_;
};

}  // namespace kiln::runtime
