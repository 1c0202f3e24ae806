// SPDX-License-Identifier: MIT
// Three things hold a record: its slot, the map by number, and for a while the list of what the log
// has not written. One mutex guards all of them and is never held while the log is read or written.
// A record never changes once it has a number, so it is handed out by shared pointer and read
// without the mutex.
#include "cache/explain/explain_ring.h"

#include <algorithm>
#include <utility>

namespace kiln::cache {
namespace {

const std::string kLookup = "lookup";  // the only stage of a hit that was one before

}  // namespace

ExplainRing::ExplainRing(ExplainLog* log, Clock& clock, Options options)
    : log_(log),
      clock_(clock),
      options_(std::move(options)),
      // Numbers go on over restarts, so one that a client noted never means another request.
      next_seq_(log == nullptr ? 1 : std::max<uint64_t>(1, log->NextSeq())) {}

// Requires: the mutex. A slot that is touched is the youngest.
ExplainRing::Slot& ExplainRing::Touch(const Hash128& id) {
  const auto [found, is_new] = slots_.try_emplace(id);
  if (is_new) {
    used_.push_front(id);
    found->second.used = used_.begin();
  } else {
    used_.splice(used_.begin(), used_, found->second.used);
  }
  return found->second;
}

void ExplainRing::Add(Slot& slot, RecordPtr record) {
  // The two indexes hold the same records: by slot for comparing, by number for looking up. A
  // record leaves both at once.
  by_seq_.insert_or_assign(record->seq, record);
  bytes_ += BytesOf(*record);
  slot.records.push_back(std::move(record));
  if (slot.records.size() > kExplainPerSlot) {
    DropOldest(slot);
  }
}

void ExplainRing::DropOldest(Slot& slot) {
  const RecordPtr& oldest = slot.records.front();
  bytes_ -= BytesOf(*oldest);
  by_seq_.erase(oldest->seq);
  slot.records.pop_front();
}

// Sums at the same place are compared, so requests of one program agree in most. 64 records at
// most, some tens of numbers each: a few microseconds (spec/cache 11.5).
const ExplainRecord* ExplainRing::Closest(const Slot& slot, const ExplainRecord& record) {
  const std::span<const uint64_t> sums = record.inputs.sums();
  const ExplainRecord* closest = nullptr;
  size_t most = 0;
  for (const RecordPtr& row : slot.records) {
    if (!row->trace.empty() && row->trace == record.trace) {
      continue;  // of the same request
    }
    const std::span<const uint64_t> others = row->inputs.sums();
    size_t equal = 0;
    for (size_t i = 0; i < std::min(sums.size(), others.size()); ++i) {
      equal += sums[i] == others[i] ? 1 : 0;
    }
    if (closest == nullptr || equal >= most) {  // of equals the latest
      closest = row.get();
      most = equal;
    }
  }
  return closest;
}

// The slot used least lately goes first; the one in use stays, with its latest record.
void ExplainRing::Trim() {
  const auto too_much = [this]() KILN_REQUIRES(mutex_) {
    return by_seq_.size() > options_.max_records || bytes_ > options_.max_bytes;
  };
  while (too_much() && slots_.size() > 1) {
    const auto victim = slots_.find(used_.back());
    while (!victim->second.records.empty()) {
      DropOldest(victim->second);
    }
    slots_.erase(victim);
    used_.pop_back();
  }
  while (slots_.size() == 1 && bytes_ > options_.max_bytes &&
         slots_.begin()->second.records.size() > 1) {
    DropOldest(slots_.begin()->second);
  }
}

// Once per slot and process, unless it was forgotten meanwhile.
void ExplainRing::Load(const ExplainSlot& slot, const Hash128& id) {
  {
    const MutexLock lock(mutex_);
    if (slots_.contains(id)) {
      return;
    }
  }
  // Read without the mutex: the log is a file, and every request of the daemon goes through here.
  Result<std::vector<ExplainRecord>> kept =
      log_ == nullptr ? std::vector<ExplainRecord>() : log_->Records(slot);
  const MutexLock lock(mutex_);
  Settle();
  if (slots_.contains(id)) {
    return;  // another thread was faster
  }
  Slot& loaded = Touch(id);
  // Also where the log could not be read: an empty slot is loaded, so that a broken log costs one
  // read and not one for each request.
  if (kept.ok()) {
    for (ExplainRecord& record : *kept) {
      Add(loaded, std::make_shared<const ExplainRecord>(std::move(record)));
    }
  }
  Trim();
}

// Requires: the mutex, or a record of the caller's own.
void ExplainRing::CompleteHit(const Slot& slot, ExplainRecord& record) {
  // The age of a hit is that of the miss that made its result, if that is still remembered.
  if (record.made_ms != 0) {
    return;
  }
  const auto earlier =
      std::find_if(slot.records.rbegin(), slot.records.rend(),
                   [&](const RecordPtr& row) { return row->signature == record.signature; });
  if (earlier != slot.records.rend()) {
    const bool made = (*earlier)->result == ExplainResult::kMiss;
    record.made_ms = made ? (*earlier)->at_ms : (*earlier)->made_ms;
  }
}

// In the order of what is certain: a cause that the builder knew, then the difference to an earlier
// request, then what the store says of results that are gone.
void ExplainRing::CompleteMiss(const ExplainRecord* closest, ExplainRecord& record) {
  if (record.cause != Cause::kNone) {
    return;
  }
  const auto earlier = closest == nullptr ? std::span<const ExplainRecord* const>()
                                          : std::span<const ExplainRecord* const>(&closest, 1);
  record.cause = Explain(record, earlier).cause;
  // Equal inputs and still a miss: the result was there and is gone. The store knows who removed
  // it.
  if (record.cause == Cause::kEvicted && options_.why_absent) {
    // A lookup that found nothing has no result of its own; the record it should have found has.
    const Absence absence =
        options_.why_absent(record.signature.zero() ? closest->signature : record.signature);
    record.cause = absence.cause;
    record.detail = absence.detail;
  } else if (record.cause == Cause::kFirstSeen && options_.why_absent) {
    // This daemon has never seen it; an upstream that cannot be asked may have.
    const Absence absence = options_.why_absent(record.signature);
    if (absence.cause == Cause::kUpstreamUnreachable) {
      record.cause = absence.cause;
      record.detail = absence.detail;
    }
  }
  if (record.detail.empty() && options_.unanswered) {
    record.detail = options_.unanswered();
  }
}

// What has to be found out about a request is found out here, while what came before it is still
// known.
uint64_t ExplainRing::Append(ExplainRecord record) {
  const Hash128 id = record.slot.Id();
  if (options_.on_stage != nullptr) {
    for (const auto& [stage, us] : record.stage_us) {
      options_.on_stage(stage, us);
    }
  }
  // The older records of the slot are read before the lock is taken, because that reads the file.
  Load(record.slot, id);
  uint64_t seq = 0;
  bool due = false;
  {
    const MutexLock lock(mutex_);
    Settle();
    Slot& slot = Touch(id);
    if (record.result == ExplainResult::kMiss) {
      CompleteMiss(Closest(slot, record), record);
      ++causes_[static_cast<size_t>(record.cause)];
    } else {
      CompleteHit(slot, record);
    }
    record.seq = seq = next_seq_++;
    auto kept = std::make_shared<const ExplainRecord>(std::move(record));
    Pend(kept);
    due = IsDue();
    Add(slot, std::move(kept));
    Trim();
  }
  if (due) {
    Flush();
  }
  return seq;
}

uint64_t ExplainRing::AppendAgain(RecordPtr before, std::string trace, uint64_t lookup_us) {
  const Hash128 slot = before->slot.Id();
  // A hit that repeats one before is noted as a reference to that record, with time and trace:
  // copying a record costs more than such a hit itself. It is written out when somebody looks, or
  // when kMostAgain of them wait.
  RepeatedHit again{.slot = slot,
                    .before = std::move(before),
                    .at_ms = clock_.UnixTime() / std::chrono::milliseconds(1),
                    .trace = std::move(trace),
                    .lookup_us = lookup_us};
  const uint64_t seq = Note(again);
  return seq != 0 ? seq : Append(RecordOf(again));  // 0: its slot was forgotten
}

uint64_t ExplainRing::Note(RepeatedHit& again) {
  uint64_t seq = 0;
  bool due = false;
  {
    const MutexLock lock(mutex_);
    if (!slots_.contains(again.slot)) {
      return 0;
    }
    // The number is given out now, so that records keep the order of the requests.
    seq = again.seq = next_seq_++;
    again_.push_back(std::move(again));
    if (again_.size() >= kMostAgain) {
      Settle();
    }
    due = IsDue();
  }
  if (due) {
    Flush();
  }
  return seq;
}

// Everything else is what the record before says: the same request, answered by the same result.
ExplainRecord ExplainRing::RecordOf(RepeatedHit& again) {
  ExplainRecord record = *again.before;
  record.seq = again.seq;
  record.at_ms = again.at_ms;
  record.trace = std::move(again.trace);
  record.stage_us = {{kLookup, again.lookup_us}};
  record.watcher = {};
  return record;
}

void ExplainRing::Settle() {
  // Called under the mutex by everything that reads records, so readers never see that some were
  // only noted.
  for (RepeatedHit& again : std::exchange(again_, {})) {
    ExplainRecord record = RecordOf(again);
    if (options_.on_stage != nullptr) {
      options_.on_stage(kLookup, again.lookup_us);
    }
    Slot& slot = Touch(again.slot);
    CompleteHit(slot, record);
    auto kept = std::make_shared<const ExplainRecord>(std::move(record));
    Pend(kept);
    Add(slot, std::move(kept));
  }
  Trim();
}

void ExplainRing::Pend(const RecordPtr& record) {
  if (log_ != nullptr) {
    // The oldest record that waits decides when the log is written.
    pending_since_ = pending_.empty() ? clock_.Monotonic() : pending_since_;
    pending_.push_back(record);
    pending_bytes_ += BytesOf(*record);
  }
}

// Requires: the mutex. Three bounds: number, bytes and age of what waits.
bool ExplainRing::IsDue() const {
  return !pending_.empty() &&
         (pending_.size() >= options_.flush_at || pending_bytes_ >= options_.flush_bytes_at ||
          clock_.Monotonic() - pending_since_ >= options_.flush_after);
}

void ExplainRing::Flush() {
  // Two mutexes, taken in this order: the outer one keeps batches of the log in the order of their
  // numbers, the inner one is free while the log writes.
  const MutexLock flush(flush_mutex_);
  std::vector<RecordPtr> pending;
  {
    const MutexLock lock(mutex_);
    Settle();
    pending.swap(pending_);
    pending_bytes_ = 0;
  }
  if (!pending.empty()) {
    log_->Append(pending);
  }
}

// What a slot has. Looking does not count as use; a call that may not write loads nothing.
ExplainRing::Slot ExplainRing::SlotFor(const ExplainSlot& slot, const Call& call) {
  const Hash128 id = slot.Id();
  // A reader must not push out of memory what those who work here need.
  if (call.may_write) {
    Load(slot, id);
  }
  {
    const MutexLock lock(mutex_);
    Settle();
    if (const auto found = slots_.find(id); found != slots_.end()) {
      return found->second;
    }
  }
  Slot kept;
  Result<std::vector<ExplainRecord>> records =
      log_ == nullptr ? std::vector<ExplainRecord>() : log_->Records(slot);
  if (records.ok()) {
    for (ExplainRecord& record : *records) {
      kept.records.push_back(std::make_shared<const ExplainRecord>(std::move(record)));
    }
  }
  return kept;
}

// A question has no number. It is answered as if it had been asked just now, and leaves nothing
// behind.
Explanation ExplainRing::ExplainOf(const ExplainRecord& record, const Call& call) {
  const Slot slot = SlotFor(record.slot, call);
  ExplainRecord asked = record;
  if (record.seq == 0) {  // a question: completed as Append would
    if (record.result == ExplainResult::kMiss) {
      CompleteMiss(Closest(slot, record), asked);
    } else {
      CompleteHit(slot, asked);
    }
  }
  std::vector<const ExplainRecord*> earlier;
  for (const RecordPtr& row : slot.records) {
    // Only what came before a request can explain it.
    if (record.seq == 0 || row->seq < record.seq) {
      earlier.push_back(row.get());
    }
  }
  return Explain(asked, earlier);
}

// For batches, which compare thousands of misses with the same records.
std::vector<ExplainRing::RecordPtr> ExplainRing::Records(const ExplainSlot& slot) {
  const Hash128 id = slot.Id();
  Load(slot, id);
  const MutexLock lock(mutex_);
  Settle();
  std::vector<RecordPtr> records;
  if (const auto found = slots_.find(id); found != slots_.end()) {
    records.assign(found->second.records.begin(), found->second.records.end());
  }
  return records;
}

// From memory alone: numbers of records that left it lead to nothing.
ExplainRing::RecordPtr ExplainRing::WithSeq(uint64_t seq) {
  const MutexLock lock(mutex_);
  Settle();
  const auto found = by_seq_.find(seq);
  return found == by_seq_.end() ? nullptr : found->second;
}

// The latest first. Only memory is asked: it has more records than anybody wants to read.
std::vector<ExplainRing::RecordPtr> ExplainRing::Last(size_t count) {
  const MutexLock lock(mutex_);
  Settle();
  std::vector<RecordPtr> last;
  for (auto row = by_seq_.rbegin(); row != by_seq_.rend() && last.size() < count; ++row) {
    last.push_back(row->second);
  }
  return last;
}

// The latest one of the signature. Memory is walked from the end, since people ask about what
// happened just now.
Result<ExplainRing::RecordPtr> ExplainRing::WithSignature(const Hash128& signature,
                                                          const std::stop_token& stop) {
  {
    const MutexLock lock(mutex_);
    Settle();
    for (auto row = by_seq_.rbegin(); row != by_seq_.rend(); ++row) {
      if (row->second->signature == signature) {
        return row->second;
      }
    }
  }
  if (log_ == nullptr) {
    return RecordPtr();
  }
  KILN_TRY(std::optional<ExplainRecord> found, log_->Find(signature, stop));
  return found.has_value() ? std::make_shared<const ExplainRecord>(*std::move(found)) : RecordPtr();
}

// A record may come twice, from memory and from the log. Callers put what they take from it into
// sets.
Result<void> ExplainRing::Each(const std::stop_token& stop,
                               const std::function<void(const ExplainRecord&)>& each) {
  std::map<uint64_t, RecordPtr> in_memory;  // what the log has, too, or will have
  {
    const MutexLock lock(mutex_);
    Settle();
    in_memory = by_seq_;
  }
  for (const auto& [seq, record] : in_memory) {
    each(*record);
  }
  return log_ == nullptr ? Result<void>() : log_->Each(stop, each);
}

std::array<uint64_t, kCauseCount> ExplainRing::MissCauses() {
  const MutexLock lock(mutex_);
  return causes_;
}

// For misses of batches, which get a count and a few examples instead of a record each.
void ExplainRing::CountMisses(Cause cause, uint64_t count) {
  const MutexLock lock(mutex_);
  causes_[static_cast<size_t>(cause)] += count;
}

}  // namespace kiln::cache
