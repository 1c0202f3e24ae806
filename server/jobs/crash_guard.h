// SPDX-License-Identifier: MIT
// What was being worked on when a daemon ended without being asked to: each such input has had one
// failed attempt, and after three of them it is not tried again. So has what took more time than a
// job may. See spec/daemon 10 (class T), 12.3, 14.9
//
//   file of 16,448 bytes, little endian, mapped, never synced: it has to survive the process only
//   u64 "KILNATT1" | u64 1 while a daemon works, else 0                        | 48 bytes 0
//   256 x what runs:   u64 level, check << 32 (0: nothing) | id 16 | 8 bytes 0
//   256 x what failed: u64 level, attempts << 8, check << 32 | id 16 | i64 seconds of the last one
//
//   check: the low half of XXH3 over the rest of the row. A row with a wrong check is ignored.
//
// An input is named by the key of the record that would say that it is poison. Where what runs is
// noted per variant, the one that ended the daemon is among as many as there are threads, and the
// next daemon runs those alone: so who dies is found, and who ran beside it is cleared.
//
// Threads: all functions may run concurrently. Noting an input takes no lock unless there are
// suspects; then one mutex guards them and who may run.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/store.h"
#include "compiler/base/lru_map.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"

namespace kiln::jobs {

class CrashGuard {
 public:
  static constexpr uint32_t kMost = 3;
  static constexpr size_t kRows = 256;  // of either kind

  struct InterruptedInput {
    cache::Key key;
    uint32_t attempts = 0;  // this one included
  };

  // Makes the file if it is not there or no such file; what it says is not trusted. Failed attempts
  // that are older than `keep_s` do not count. One process at a time. Errors: kUnavailable if it
  // cannot be made, or not with all of its bytes.
  static Result<std::unique_ptr<CrashGuard>> Open(const std::string& path, int64_t now_s,
                                                  int64_t keep_s);
  ~CrashGuard();  // as Leave
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

  // What ran when the daemon before this one ended.
  const std::vector<InterruptedInput>& found() const { return found_; }

  // Whether it has had all of its attempts. To run it in spite of that begins the count anew.
  bool IsPoisoned(const cache::Key& key);

  // It took more time than a job may, and the process goes on: one failed attempt, forgotten with
  // the process if it is not the last. True: it was, and from now on it is poisoned.
  bool Fail(const cache::Key& key);

  // From now on the process ends on request: what runs then does not count as an attempt.
  void Leave();

  // An input that is being worked on. One that failed before waits until nothing else runs, and
  // nothing else runs beside it. The end of the object is success: the input is cleared.
  class Running {
   public:
    // Whether one that failed before runs alone. Work that is long, or that others of these are
    // part of, must not: it is only counted, and who ran beside it is not cleared.
    enum class Place : uint8_t { kAloneIfSuspect, kBesideOthers };

    // Null: nothing is noted. The attempts must outlive the object. Throws Stopped while it waits.
    Running(CrashGuard* attempts, const cache::Key& key, Place place = Place::kAloneIfSuspect);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    enum class EntryMode : uint8_t { kFree, kTogether, kAlone, kBeside };
    friend class CrashGuard;

    CrashGuard* const attempts_;
    const cache::Key key_;
    EntryMode entered_ = EntryMode::kFree;
    size_t row_ = kRows;  // kRows: more run than there are rows
  };

 private:
  struct Row {
    uint64_t head, id0, id1, at;
  };
  struct File {
    uint64_t magic, working;
    std::array<uint64_t, 6> nothing;
    std::array<Row, kRows> running, failed;
  };
  struct Suspect {
    uint32_t attempts = 0;
    int64_t at_s = 0;
  };

  CrashGuard(File& file, int64_t now_s) : file_(file), now_s_(now_s) {}
  void Read(int64_t keep_s) KILN_REQUIRES(mutex_);
  void WriteSuspects() KILN_REQUIRES(mutex_);
  Running::EntryMode Enter(const cache::Key& key);
  void Exit(const cache::Key& key, Running::EntryMode entered);
  size_t Note(const cache::Key& key);
  void Forget(size_t row);

  File& file_;
  const int64_t now_s_;  // of Open
  std::vector<InterruptedInput> found_;
  std::array<std::atomic<bool>, kRows> taken_{};
  std::atomic<size_t> suspect_count_ = 0;
  Mutex mutex_;
  CondVar changed_;
  std::unordered_map<cache::Key, Suspect, cache::KeyHash> suspects_ KILN_GUARDED_BY(mutex_);
  LruMap<cache::Key, uint32_t, cache::KeyHash> slow_ KILN_GUARDED_BY(mutex_);
  uint32_t together_ KILN_GUARDED_BY(mutex_) = 0;
  uint32_t waiting_alone_ KILN_GUARDED_BY(mutex_) = 0;
  bool alone_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::jobs
