// SPDX-License-Identifier: MIT
#include "cache/explain_ring.h"

#include <algorithm>
#include <utility>

namespace kiln::cache {

ExplainRing::ExplainRing(ExplainLog* log, Clock& clock, Options options)
    : log_(log),
      clock_(clock),
      options_(std::move(options)),
      next_seq_(log == nullptr ? 1 : std::max<uint64_t>(1, log->NextSeq())) {}

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
  by_seq_.insert_or_assign(record->seq, record);
  slot.records.push_back(std::move(record));
  if (slot.records.size() > kExplainPerSlot) {
    by_seq_.erase(slot.records.front()->seq);
    slot.records.pop_front();
  }
}

// The slot used least lately goes first; the one in use stays.
void ExplainRing::Trim() {
  while (by_seq_.size() > options_.max_records && slots_.size() > 1) {
    const auto victim = slots_.find(used_.back());
    for (const RecordPtr& record : victim->second.records) {
      by_seq_.erase(record->seq);
    }
    slots_.erase(victim);
    used_.pop_back();
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
  Result<std::vector<ExplainRecord>> kept =
      log_ == nullptr ? std::vector<ExplainRecord>() : log_->Records(slot);
  const MutexLock lock(mutex_);
  if (slots_.contains(id)) {
    return;  // another thread was faster
  }
  Slot& loaded = Touch(id);
  if (kept.ok()) {
    for (ExplainRecord& record : *kept) {
      Add(loaded, std::make_shared<const ExplainRecord>(std::move(record)));
    }
  }
  Trim();
}

void ExplainRing::Complete(const Slot& slot, ExplainRecord& record) {
  if (record.result != ExplainResult::kMiss) {
    const auto made =
        std::find_if(slot.records.rbegin(), slot.records.rend(), [&](const RecordPtr& earlier) {
          return earlier->result == ExplainResult::kMiss && earlier->signature == record.signature;
        });
    if (record.made_ms == 0 && made != slot.records.rend()) {
      record.made_ms = (*made)->at_ms;
    }
    return;
  }
  if (record.cause == Cause::kNone) {
    std::vector<const ExplainRecord*> earlier;
    for (const RecordPtr& row : slot.records) {
      earlier.push_back(row.get());
    }
    record.cause = Explain(record, earlier).cause;
    if (record.cause == Cause::kEvicted && options_.why_absent) {
      // A question has no result of its own; what it should have found has.
      const Hash128& signature = record.signature.zero()
                                     ? ClosestTo(record.inputs, earlier)->signature
                                     : record.signature;
      const Absence absence = options_.why_absent(signature);
      record.cause = absence.cause;
      record.detail = absence.detail;
    }
  }
  ++causes_[static_cast<size_t>(record.cause)];
}

uint64_t ExplainRing::Append(ExplainRecord record) {
  const Hash128 id = record.slot.Id();
  Load(record.slot, id);
  uint64_t seq = 0;
  {
    const MutexLock lock(mutex_);
    Slot& slot = Touch(id);
    Complete(slot, record);
    record.seq = seq = next_seq_++;
    auto kept = std::make_shared<const ExplainRecord>(std::move(record));
    if (log_ != nullptr) {
      pending_since_ = pending_.empty() ? clock_.Monotonic() : pending_since_;
      pending_.push_back(kept);
    }
    Add(slot, std::move(kept));
    Trim();
  }
  const MutexLock flush(flush_mutex_);
  const std::vector<RecordPtr> due = TakePending(false);
  if (!due.empty()) {
    log_->Append(due);
  }
  return seq;
}

std::vector<ExplainRing::RecordPtr> ExplainRing::TakePending(bool all) {
  const MutexLock lock(mutex_);
  const bool due =
      !pending_.empty() && (all || pending_.size() >= options_.flush_at ||
                            clock_.Monotonic() - pending_since_ >= options_.flush_after);
  return due ? std::exchange(pending_, {}) : std::vector<RecordPtr>();
}

void ExplainRing::Flush() {
  const MutexLock flush(flush_mutex_);
  const std::vector<RecordPtr> due = TakePending(true);
  if (!due.empty()) {
    log_->Append(due);
  }
}

Explanation ExplainRing::ExplainOf(const ExplainRecord& record) {
  const std::vector<RecordPtr> slot = Records(record.slot);
  std::vector<const ExplainRecord*> earlier;
  for (const RecordPtr& row : slot) {
    if (record.seq == 0 || row->seq < record.seq) {
      earlier.push_back(row.get());
    }
  }
  if (record.seq != 0) {
    return Explain(record, earlier);
  }
  ExplainRecord asked = record;
  {
    const MutexLock lock(mutex_);
    Complete({.records = {slot.begin(), slot.end()}, .used = {}}, asked);
    causes_[static_cast<size_t>(asked.cause)] -= asked.result == ExplainResult::kMiss ? 1 : 0;
  }
  return Explain(asked, earlier);
}

std::vector<ExplainRing::RecordPtr> ExplainRing::Records(const ExplainSlot& slot) {
  const Hash128 id = slot.Id();
  Load(slot, id);
  const MutexLock lock(mutex_);
  const auto found = slots_.find(id);
  return found == slots_.end()
             ? std::vector<RecordPtr>()
             : std::vector<RecordPtr>(found->second.records.begin(), found->second.records.end());
}

ExplainRing::RecordPtr ExplainRing::WithSeq(uint64_t seq) {
  const MutexLock lock(mutex_);
  const auto found = by_seq_.find(seq);
  return found == by_seq_.end() ? nullptr : found->second;
}

std::vector<ExplainRing::RecordPtr> ExplainRing::Last(size_t count) {
  const MutexLock lock(mutex_);
  std::vector<RecordPtr> last;
  for (auto row = by_seq_.rbegin(); row != by_seq_.rend() && last.size() < count; ++row) {
    last.push_back(row->second);
  }
  return last;
}

Result<ExplainRing::RecordPtr> ExplainRing::WithSignature(const Hash128& signature,
                                                          const std::stop_token& stop) {
  {
    const MutexLock lock(mutex_);
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

std::array<uint64_t, kCauseCount> ExplainRing::MissCauses() {
  const MutexLock lock(mutex_);
  return causes_;
}

void ExplainRing::CountMisses(Cause cause, uint64_t count) {
  const MutexLock lock(mutex_);
  causes_[static_cast<size_t>(cause)] += count;
}

}  // namespace kiln::cache
