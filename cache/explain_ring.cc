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

void ExplainRing::Add(Slot& slot, Kept kept) {
  by_seq_.insert_or_assign(kept.record->seq, kept.record);
  slot.records.push_back(std::move(kept));
  if (slot.records.size() > kExplainPerSlot) {
    by_seq_.erase(slot.records.front().record->seq);
    slot.records.pop_front();
  }
}

// Fields of one program stand at the same places, so that places are compared; a field that moved
// counts as different, which costs an explanation nothing but a better match.
std::vector<uint64_t> ExplainRing::FieldsOf(const ExplainInputs& inputs) {
  std::vector<uint64_t> fields;
  fields.reserve(inputs.modules.size() + inputs.dependencies.size() + inputs.options.size() +
                 inputs.target.size() + inputs.limits.size() + inputs.fingerprints.size() +
                 inputs.entry_points.size() + 4);
  Bytes text;
  const auto add = [&](std::string_view name, std::string_view value) {
    text.clear();
    kiln::Append(text, AsBytes(name));
    text.push_back(std::byte{0});
    kiln::Append(text, AsBytes(value));
    fields.push_back(Hash64(text));
  };
  const auto add_all = [&](const std::vector<NamedText>& rows) {
    for (const NamedText& row : rows) {
      add(row.name, row.value);
    }
    fields.push_back(rows.size());
  };
  for (const ExplainModule& module : inputs.modules) {
    add(module.path, AsText(std::as_bytes(std::span(module.source.id.bytes))));
  }
  fields.push_back(inputs.modules.size());
  for (const ExplainDependency& file : inputs.dependencies) {
    add(file.path, file.digest.has_value() ? AsText(std::as_bytes(std::span(file.digest->id.bytes)))
                                           : std::string_view());
  }
  add("pipeline", inputs.pipeline);
  for (const std::string& recipe : inputs.recipes) {
    add("recipe", recipe);
  }
  for (const auto* rows : {&inputs.entry_points, &inputs.target, &inputs.options, &inputs.limits,
                           &inputs.fingerprints}) {
    add_all(*rows);
  }
  return fields;
}

const ExplainRecord* ExplainRing::Closest(const Slot& slot, const ExplainRecord& record,
                                          const std::vector<uint64_t>& fields) {
  const ExplainRecord* closest = nullptr;
  size_t most = 0;
  for (const Kept& row : slot.records) {
    if (!row.record->trace.empty() && row.record->trace == record.trace) {
      continue;  // of the same request
    }
    size_t equal = 0;
    for (size_t i = 0; i < std::min(fields.size(), row.fields.size()); ++i) {
      equal += fields[i] == row.fields[i] ? 1 : 0;
    }
    if (closest == nullptr || equal >= most) {  // of equals the latest
      closest = row.record.get();
      most = equal;
    }
  }
  return closest;
}

// The slot used least lately goes first; the one in use stays.
void ExplainRing::Trim() {
  while (by_seq_.size() > options_.max_records && slots_.size() > 1) {
    const auto victim = slots_.find(used_.back());
    for (const Kept& row : victim->second.records) {
      by_seq_.erase(row.record->seq);
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
      std::vector<uint64_t> fields = FieldsOf(record.inputs);
      Add(loaded, {.record = std::make_shared<const ExplainRecord>(std::move(record)),
                   .fields = std::move(fields)});
    }
  }
  Trim();
}

void ExplainRing::CompleteHit(const Slot& slot, ExplainRecord& record) {
  const auto made =
      std::find_if(slot.records.rbegin(), slot.records.rend(), [&](const Kept& earlier) {
        return earlier.record->result == ExplainResult::kMiss &&
               earlier.record->signature == record.signature;
      });
  if (record.made_ms == 0 && made != slot.records.rend()) {
    record.made_ms = made->record->at_ms;
  }
}

void ExplainRing::CompleteMiss(const ExplainRecord* closest, ExplainRecord& record) {
  if (record.cause != Cause::kNone) {
    return;
  }
  const auto earlier = closest == nullptr ? std::span<const ExplainRecord* const>()
                                          : std::span<const ExplainRecord* const>(&closest, 1);
  record.cause = Explain(record, earlier).cause;
  if (record.cause == Cause::kEvicted && options_.why_absent) {
    // A question has no result of its own; what it should have found has.
    const Absence absence =
        options_.why_absent(record.signature.zero() ? closest->signature : record.signature);
    record.cause = absence.cause;
    record.detail = absence.detail;
  } else if (record.cause == Cause::kFirstSeen && options_.why_absent) {
    // Nobody here has seen it; an upstream that cannot be asked may have.
    const Absence absence = options_.why_absent(record.signature);
    if (absence.cause == Cause::kUpstreamUnreachable) {
      record.cause = absence.cause;
      record.detail = absence.detail;
    }
  }
}

uint64_t ExplainRing::Append(ExplainRecord record) {
  const Hash128 id = record.slot.Id();
  if (options_.on_stage != nullptr) {
    for (const auto& [stage, us] : record.stage_us) {
      options_.on_stage(stage, us);
    }
  }
  Load(record.slot, id);
  Kept kept{.record = nullptr, .fields = FieldsOf(record.inputs)};
  uint64_t seq = 0;
  {
    const MutexLock lock(mutex_);
    Slot& slot = Touch(id);
    if (record.result == ExplainResult::kMiss) {
      CompleteMiss(Closest(slot, record, kept.fields), record);
      ++causes_[static_cast<size_t>(record.cause)];
    } else {
      CompleteHit(slot, record);
    }
    record.seq = seq = next_seq_++;
    kept.record = std::make_shared<const ExplainRecord>(std::move(record));
    if (log_ != nullptr) {
      pending_since_ = pending_.empty() ? clock_.Monotonic() : pending_since_;
      pending_.push_back(kept.record);
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
  ExplainRecord asked = record;
  if (record.seq == 0) {  // a question: completed as Append would
    const Hash128 id = record.slot.Id();
    Load(record.slot, id);
    const std::vector<uint64_t> fields = FieldsOf(record.inputs);
    const MutexLock lock(mutex_);
    const Slot& slot = Touch(id);
    if (record.result == ExplainResult::kMiss) {
      CompleteMiss(Closest(slot, record, fields), asked);
    } else {
      CompleteHit(slot, asked);
    }
  }
  const std::vector<RecordPtr> slot = Records(record.slot);
  std::vector<const ExplainRecord*> earlier;
  for (const RecordPtr& row : slot) {
    if (record.seq == 0 || row->seq < record.seq) {
      earlier.push_back(row.get());
    }
  }
  return Explain(asked, earlier);
}

std::vector<ExplainRing::RecordPtr> ExplainRing::Records(const ExplainSlot& slot) {
  const Hash128 id = slot.Id();
  Load(slot, id);
  const MutexLock lock(mutex_);
  std::vector<RecordPtr> records;
  if (const auto found = slots_.find(id); found != slots_.end()) {
    for (const Kept& row : found->second.records) {
      records.push_back(row.record);
    }
  }
  return records;
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

Result<void> ExplainRing::Each(const std::stop_token& stop,
                               const std::function<void(const ExplainRecord&)>& each) {
  std::map<uint64_t, RecordPtr> in_memory;  // what the log has, too, or will have
  {
    const MutexLock lock(mutex_);
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

void ExplainRing::CountMisses(Cause cause, uint64_t count) {
  const MutexLock lock(mutex_);
  causes_[static_cast<size_t>(cause)] += count;
}

}  // namespace kiln::cache
