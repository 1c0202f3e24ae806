// SPDX-License-Identifier: MIT
// The explain records of a daemon. The slots that were used lately are in memory; a log, if there
// is one, keeps all of them over restarts. A miss gets its cause when it is appended, a hit the
// time at which its result was made. Spec: cache §11
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

#include "cache/explain.h"
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
  struct Options {
    size_t max_records = 8192;  // in memory
    size_t flush_at = 256;      // records that wait for the log
    Duration flush_after = std::chrono::seconds(1);
    // Asked about the signature of the result that a miss should have found.
    std::function<Absence(const Hash128& signature)> why_absent;
    // Told of every stage of every record, for whoever counts.
    std::function<void(const std::string& stage, uint64_t us)> on_stage;
  };

  // `log`: null if nothing outlives the process. Requires: log and clock outlive the ring.
  ExplainRing(ExplainLog* log, Clock& clock, Options options);
  ~ExplainRing() { Flush(); }

  // Numbers the record, completes and keeps it. Gives its number, which is never 0.
  uint64_t Append(ExplainRecord record);
  // The record beside what its slot had before it. For a record that was not appended: beside all.
  Explanation ExplainOf(const ExplainRecord& record);

  // Oldest first.
  std::vector<std::shared_ptr<const ExplainRecord>> Records(const ExplainSlot& slot);
  // Of those in memory.
  std::shared_ptr<const ExplainRecord> WithSeq(uint64_t seq);
  // The latest `count` of this process, latest first.
  std::vector<std::shared_ptr<const ExplainRecord>> Last(size_t count);
  // The latest record of a result; reads the whole log if it is not in memory. Null: there is none.
  // Errors: kCancelled.
  Result<std::shared_ptr<const ExplainRecord>> WithSignature(const Hash128& signature,
                                                             const std::stop_token& stop);

  // Calls back for everything that is kept, some of it twice. Errors: kCancelled.
  Result<void> Each(const std::stop_token& stop,
                    const std::function<void(const ExplainRecord&)>& each);

  // Misses of this process by cause; a batch counts its own by CountMisses.
  std::array<uint64_t, kCauseCount> MissCauses();
  void CountMisses(Cause cause, uint64_t count);

  // Hands what waits to the log.
  void Flush();

 private:
  using RecordPtr = std::shared_ptr<const ExplainRecord>;
  // A record with the sums of its fields, so that a miss is compared with a whole slot in a few
  // microseconds.
  struct Kept {
    RecordPtr record;
    std::vector<uint64_t> fields;  // one sum per name and value, in the order of the record
  };
  struct Slot {
    std::deque<Kept> records;  // oldest first
    std::list<Hash128>::iterator used;
  };

  Slot& Touch(const Hash128& id) KILN_REQUIRES(mutex_);
  void Load(const ExplainSlot& slot, const Hash128& id);
  static std::vector<uint64_t> FieldsOf(const ExplainInputs& inputs);
  // The record that agrees in the most fields, as ClosestTo says; null: there is none.
  static const ExplainRecord* Closest(const Slot& slot, const ExplainRecord& record,
                                      const std::vector<uint64_t>& fields);
  void CompleteHit(const Slot& slot, ExplainRecord& record) KILN_REQUIRES(mutex_);
  void CompleteMiss(const ExplainRecord* closest, ExplainRecord& record);
  void Add(Slot& slot, Kept kept) KILN_REQUIRES(mutex_);
  void Trim() KILN_REQUIRES(mutex_);
  std::vector<RecordPtr> TakePending(bool all);

  ExplainLog* const log_;
  Clock& clock_;
  const Options options_;

  Mutex mutex_;
  uint64_t next_seq_ KILN_GUARDED_BY(mutex_);
  std::unordered_map<Hash128, Slot, Hash128Hash> slots_ KILN_GUARDED_BY(mutex_);
  std::list<Hash128> used_ KILN_GUARDED_BY(mutex_);  // slots, latest first
  std::map<uint64_t, RecordPtr> by_seq_ KILN_GUARDED_BY(mutex_);
  std::vector<RecordPtr> pending_ KILN_GUARDED_BY(mutex_);
  Duration pending_since_ KILN_GUARDED_BY(mutex_) = Duration::zero();
  std::array<uint64_t, kCauseCount> causes_ KILN_GUARDED_BY(mutex_) = {};
  Mutex flush_mutex_;  // keeps the order of the log; taken before mutex_
};

}  // namespace kiln::cache
