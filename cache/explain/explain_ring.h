// SPDX-License-Identifier: MIT
// The explain records of a daemon. The slots that were used lately are in memory; a log, if there
// is one, keeps all of them over restarts. A miss gets its cause when it is appended, a hit the
// time at which its result was made. See spec/cache 11
//
// Threads: safe from any thread. One mutex guards the slots; the log is read outside of it.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cache/explain/explain.h"
#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

// Why a result that was there once is not there now: cause and detail.
struct Absence {
  Cause cause = Cause::kEvicted;
  std::string detail;
};

class ExplainRing {
 public:
  using RecordPtr = std::shared_ptr<const ExplainRecord>;

  struct Options {
    size_t max_records = 8192;                    // in memory
    uint64_t max_bytes = uint64_t{128} << 20;     // the same; a slot keeps its latest
    size_t flush_at = 256;                        // records that wait for the log
    uint64_t flush_bytes_at = uint64_t{4} << 20;  // and their bytes
    Duration flush_after = std::chrono::seconds(1);
    // Asked about the signature of the result that a miss should have found.
    std::function<Absence(const Hash128& signature)> why_absent;
    // Of upstreams that gave no answer: who and why, for misses with another cause; empty: all did.
    std::function<std::string()> unanswered = {};
    // Told of every stage of every record, for whoever counts; at the end by the destructor.
    std::function<void(const std::string& stage, uint64_t us)> on_stage;
  };

  // `log`: null if nothing outlives the process. Requires: log and clock outlive the ring.
  ExplainRing(ExplainLog* log, Clock& clock, Options options);
  ~ExplainRing() { Flush(); }

  // Numbers the record, completes and keeps it. Gives its number, which is never 0.
  uint64_t Append(ExplainRecord record);
  // A hit again, as `before` was one: the same in all but its number, its time, its trace and how
  // long looking it up took. Costs next to nothing: records are made of several together, when
  // somebody asks for records at the latest. Requires: `before` came from here and is a hit.
  uint64_t AppendAgain(RecordPtr before, std::string trace, uint64_t lookup_us);
  // The record beside what its slot had before it. For a record that was not appended: beside all.
  Explanation ExplainOf(const ExplainRecord& record, const Call& call = {});

  // Oldest first.
  std::vector<RecordPtr> Records(const ExplainSlot& slot);
  // Of those in memory.
  RecordPtr WithSeq(uint64_t seq);
  // The latest `count` of this process, latest first.
  std::vector<RecordPtr> Last(size_t count);
  // The latest record of a result; reads the whole log if it is not in memory. Null: there is none.
  // Errors: kCancelled.
  Result<RecordPtr> WithSignature(const Hash128& signature, const std::stop_token& stop);

  // Calls back for everything that is kept, some of it twice. Errors: kCancelled.
  Result<void> Each(const std::stop_token& stop,
                    const std::function<void(const ExplainRecord&)>& each);

  // Misses of this process by cause; a batch counts its own by CountMisses.
  std::array<uint64_t, kCauseCount> MissCauses();
  void CountMisses(Cause cause, uint64_t count);

  // Hands what waits to the log.
  void Flush();

 private:
  struct Slot {
    std::deque<RecordPtr> records;  // oldest first
    std::list<Hash128>::iterator used;
  };

  // A hit that is not a record yet.
  struct RepeatedHit {
    uint64_t seq = 0;
    Hash128 slot;  // its id
    RecordPtr before;
    int64_t at_ms = 0;
    std::string trace;
    uint64_t lookup_us = 0;
  };
  static constexpr size_t kMostAgain = 32;

  // Gives the number of the hit and takes it, or 0 and leaves it: its slot is not there.
  uint64_t Note(RepeatedHit& again);
  static ExplainRecord RecordOf(RepeatedHit& again);  // takes its text
  // All that uses slots, numbers or what is pending does this first.
  void Settle() KILN_REQUIRES(mutex_);
  void Pend(const RecordPtr& record) KILN_REQUIRES(mutex_);
  Slot& Touch(const Hash128& id) KILN_REQUIRES(mutex_);
  void Load(const ExplainSlot& slot, const Hash128& id);
  Slot SlotFor(const ExplainSlot& slot, const Call& call);
  // The record that agrees in the most fields, as ClosestTo says; null: there is none.
  static const ExplainRecord* Closest(const Slot& slot, const ExplainRecord& record);
  static void CompleteHit(const Slot& slot, ExplainRecord& record);
  void CompleteMiss(const ExplainRecord* closest, ExplainRecord& record);
  void Add(Slot& slot, RecordPtr record) KILN_REQUIRES(mutex_);
  void DropOldest(Slot& slot) KILN_REQUIRES(mutex_);
  void Trim() KILN_REQUIRES(mutex_);
  bool IsDue() const KILN_REQUIRES(mutex_);

  ExplainLog* const log_;
  Clock& clock_;
  const Options options_;

  Mutex mutex_;
  uint64_t next_seq_ KILN_GUARDED_BY(mutex_);
  std::unordered_map<Hash128, Slot, Hash128Hash> slots_ KILN_GUARDED_BY(mutex_);
  std::list<Hash128> used_ KILN_GUARDED_BY(mutex_);  // slots, latest first
  std::map<uint64_t, RecordPtr> by_seq_ KILN_GUARDED_BY(mutex_);
  uint64_t bytes_ KILN_GUARDED_BY(mutex_) = 0;              // of all records of slots
  std::vector<RepeatedHit> again_ KILN_GUARDED_BY(mutex_);  // their slots are there
  std::vector<RecordPtr> pending_ KILN_GUARDED_BY(mutex_);
  uint64_t pending_bytes_ KILN_GUARDED_BY(mutex_) = 0;
  Duration pending_since_ KILN_GUARDED_BY(mutex_) = Duration::zero();
  std::array<uint64_t, kCauseCount> causes_ KILN_GUARDED_BY(mutex_) = {};
  Mutex flush_mutex_;  // keeps the order of the log; taken before mutex_
};

}  // namespace kiln::cache
