// SPDX-License-Identifier: MIT
// What the row of a batch in the store holds beside its request (spec/daemon 7.1): who started it,
// when, how far it is, and from which number its events go on. It is written when the state changes
// and every two seconds while the batch works. Losing it costs the counts; progress itself is the
// content of the cache.
#include "server/compile/batch/batch_journal.h"

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "cache/leases/actor.h"

namespace kiln::compile {
namespace {

// A row of another version decodes to nothing: the batch is counted from the beginning, and its
// results are found in the cache. Form: version, flags, started_ms, next_seq, the counts in the
// order of the table (u64, little-endian), then texts with a zero between them: owner, tenant,
// owner of the pin, who paused it, and all that started it.
constexpr uint8_t kVersion = 3;
constexpr uint8_t kDetached = 1;
constexpr size_t kHead = 2;
// Numbers of events that one process may use up: the next one begins above them.
constexpr uint64_t kSeqsOfALife = uint64_t{1} << 32;

// The counts that are kept, in the order of the format.
constexpr std::array kCounts = {
    &BatchProgress::variants_total, &BatchProgress::variants_served, &BatchProgress::results_done,
    &BatchProgress::results_upper,  &BatchProgress::hit_memory,      &BatchProgress::hit_local,
    &BatchProgress::shared,         &BatchProgress::compiled,        &BatchProgress::failed,
    &BatchProgress::limited,        &BatchProgress::poisoned,        &BatchProgress::code_distinct,
    &BatchProgress::bytes_out,      &BatchProgress::cpu_us,          &BatchProgress::cpu_saved_us,
    &BatchProgress::programs,       &BatchProgress::programs_done};
constexpr size_t kSize = kHead + 8 * (2 + kCounts.size());

using kiln::Append;

// Little-endian, whatever the machine.
void Append(Bytes& bytes, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<std::byte>(value >> shift & 0xffu));
  }
}

// The caller has checked the size.
uint64_t Take(ByteView& bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) {
    value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  }
  bytes = bytes.subspan(8);
  return value;
}

}  // namespace

// The inverse of DecodeNotes; texts have no zero, since names are printable.
Bytes EncodeNotes(const BatchNotes& notes) {
  Bytes bytes;
  bytes.push_back(std::byte{kVersion});
  bytes.push_back(notes.detach ? std::byte{kDetached} : std::byte{0});
  Append(bytes, static_cast<uint64_t>(notes.started_ms));
  Append(bytes, notes.next_seq);
  for (const auto count : kCounts) {
    Append(bytes, notes.progress.*count);
  }
  Append(bytes, AsBytes(notes.owner));
  bytes.push_back(std::byte{0});
  Append(bytes, AsBytes(notes.tenant));
  bytes.push_back(std::byte{0});
  Append(bytes, AsBytes(notes.pin_owner));
  bytes.push_back(std::byte{0});
  Append(bytes, AsBytes(notes.paused_by));
  for (const std::string& starter : notes.starters) {
    bytes.push_back(std::byte{0});
    Append(bytes, AsBytes(starter));
  }
  return bytes;
}

// A row that is too short or of another version gives defaults, never an error: its counts are of
// use for display alone. Texts are split at zeros, and a missing one is empty.
BatchNotes DecodeNotes(ByteView bytes) {
  BatchNotes notes;
  if (bytes.size() <= kSize || bytes[0] != std::byte{kVersion}) {
    return notes;
  }
  notes.detach = bytes[1] == std::byte{kDetached};
  bytes = bytes.subspan(kHead);
  notes.started_ms = static_cast<int64_t>(Take(bytes));
  notes.next_seq = Take(bytes);
  for (const auto count : kCounts) {
    notes.progress.*count = Take(bytes);
  }
  std::string_view names = AsText(bytes);
  const auto take_name = [&names] {
    const size_t zero = names.find('\0');
    std::string name(names.substr(0, zero));
    names.remove_prefix(zero == std::string_view::npos ? names.size() : zero + 1);
    return name;
  };
  notes.owner = take_name();
  notes.tenant = take_name();
  notes.pin_owner = take_name();
  notes.paused_by = take_name();
  while (!names.empty()) {
    notes.starters.push_back(take_name());
  }
  return notes;
}

// Of the wall clock, for people; durations are measured with the monotonic one.
int64_t UnixMs(Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.UnixTime()).count();
}

// Without a database nothing is written: the batch ends with the process.
Result<void> SaveRow(const BatchContext& context, BatchRun& run, std::optional<BatchState> state) {
  if (context.options.rows == nullptr) {
    return {};
  }
  // Held from the copy to the write: two threads that save one run would else write the older state
  // last.
  const MutexLock save_lock(run.save_mutex);
  cache::BatchRow row{.id = run.id, .spec = run.spec, .state = 0, .counts = {}, .updated_s = 0};
  {
    const MutexLock lock(run.mutex);
    run.saved_at = context.clock.Monotonic();
    run.updated_ms = UnixMs(context.clock);
    row.updated_s = run.updated_ms / 1000;
    row.state = static_cast<uint32_t>(state.value_or(run.LastingState()));
    row.counts = EncodeNotes({.detach = run.detach,
                              .owner = run.owner,
                              .tenant = run.tenant,
                              .pin_owner = run.pin_owner,
                              .paused_by = run.paused_by,
                              .starters = run.starters,
                              .started_ms = run.started_ms,
                              .next_seq = run.next_seq,
                              .progress = run.progress});
  }
  return context.options.rows->Put(row);
}

Result<void> SaveIfChanged(const BatchContext& context, BatchRun& run, bool changed) {
  if (changed) {
    return SaveRow(context, run);
  }
  if (context.options.rows == nullptr || !context.options.rows->Waits(run.id)) {
    return {};
  }
  return Error{.code = ErrorCode::kFull, .context = "the cache is full", .reason = "CACHE_FULL"};
}

// Numbers of events go on far above those of the process before: whoever watches asks for what
// comes after the last number it has seen.
BatchRunPtr RestoredRun(const cache::BatchRow& row, BatchRequest request, Clock& clock) {
  auto run = std::make_shared<BatchRun>(row.id, std::move(request), clock);
  const BatchNotes notes = DecodeNotes(row.counts);
  run->spec = row.spec;
  run->detach = notes.detach;
  run->owner = notes.owner;
  run->tenant = notes.tenant;
  run->pin_owner = notes.pin_owner;
  run->started_ms = notes.started_ms;
  run->restored = true;
  const MutexLock lock(run->mutex);
  run->starters = notes.starters;
  run->state = static_cast<BatchState>(row.state);
  run->paused = run->state == BatchState::kPaused;
  run->waits = !run->Over();
  // Running is what a process does. The batch waits until its client, or the daemon for a detached
  // one, submits it again.
  if (run->state == BatchState::kRunning) {
    run->state = BatchState::kQueued;
  }
  run->progress.programs = run->request.programs.size();
  run->progress.stage = "scan";
  run->updated_ms = row.updated_s * 1000;
  run->next_seq = notes.next_seq + kSeqsOfALife;  // above all that a watcher has seen
  // A batch that is over has no results in this process, only counts. Its two events let a watcher
  // see the end.
  if (run->Over()) {
    run->progress = notes.progress;
    run->Add({.kind = BatchEvent::Kind::kProgress, .progress = run->progress});
    run->Add({.kind = BatchEvent::Kind::kFinal, .progress = run->progress, .state = run->state});
  } else if (run->paused) {
    run->paused_by = cache::OwnerName(notes.paused_by);
    run->AddPaused();
  }
  return run;
}

// A batch that the limits of today do not allow any more (spec/daemon 7.1). It has no request, so
// it can only tell why; its row is changed once.
BatchRunPtr RefusedRun(const BatchContext& context, const cache::BatchRow& row,
                       const Error& error) {
  cache::BatchRow failed = row;
  failed.state = static_cast<uint32_t>(BatchState::kFailed);
  BatchRunPtr run = RestoredRun(failed, {}, context.clock);
  {
    const MutexLock lock(run->mutex);
    run->events.pop_back();  // the end, which follows what it ends with
    run->Add({.kind = BatchEvent::Kind::kMessage, .text = "refused: " + error.context});
    run->Add({.kind = BatchEvent::Kind::kFinal, .progress = run->progress, .state = run->state});
  }
  if (row.state != failed.state) {
    (void)SaveRow(context, *run);  // the next process refuses it again
  }
  return run;
}

}  // namespace kiln::compile
