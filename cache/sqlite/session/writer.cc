// SPDX-License-Identifier: MIT
// Queue, groups, checkpoints.
#include "cache/sqlite/session/writer.h"

#include <algorithm>
#include <utility>

#include "cache/sqlite/database.h"
#include "cache/sqlite/transaction.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int64_t kFrameHeader = 24;
// A checkpoint that readers kept from finishing is tried again after this much more.
constexpr int64_t kCheckpointStep = int64_t{4} << 20;
constexpr int kRestartBusyMs = 50;
constexpr Duration kHoldReaders = std::chrono::milliseconds(250);

// Errors that say something about one request rather than about the file.
// The request is wrong, or what it needs is not there. All other errors are the file's and fail the
// whole group.
bool IsOwnFault(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kNotFound:
    case ErrorCode::kAborted:
      return true;
    case ErrorCode::kCancelled:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kUnimplemented:
    case ErrorCode::kInternal:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDataLoss:
    case ErrorCode::kUnauthenticated:
      return false;
  }
  KILN_UNREACHABLE();
}

Result<int64_t> IntOf(Statement& statement) {
  Query query(statement);
  KILN_TRY(const bool found, query.Next());
  return found ? query.Int(0) : 0;
}

}  // namespace

Result<Writer::Side> Writer::Side::Prepare(Connection connection, Clock& clock, Counters& counters,
                                           const TableWrites::Options& options) {
  // The connection needs a fixed address, because the changes refer to it.
  auto fixed = std::make_unique<Connection>(std::move(connection));
  KILN_TRY(TableWrites writes, TableWrites::Prepare(*fixed, clock, counters, options));
  KILN_TRY(Statement page_count, fixed->Prepare("PRAGMA page_count"));
  KILN_TRY(Statement freelist_count, fixed->Prepare("PRAGMA freelist_count"));
  return Side{.connection = std::move(fixed),
              .writes = std::move(writes),
              .page_count = std::move(page_count),
              .freelist_count = std::move(freelist_count)};
}

Writer::Writer(Side side, ReaderPool& readers, Clock& clock, Counters& counters,
               const Options& options, Hooks hooks)
    : side_(std::move(side)),
      readers_(readers),
      clock_(clock),
      counters_(counters),
      options_(options),
      hooks_(std::move(hooks)) {
  // Before there is a thread, since the connection belongs to it from then on.
  Measure();
  thread_ = Thread({.name = "cache writer"}, [this](const std::stop_token&) { Loop(); });
}

void Writer::Stop() {
  {
    const MutexLock lock(mutex_);
    // Who waits for room in the queue is refused; what is in the queue is still written.
    stopping_ = true;
    work_.NotifyAll();
    done_.NotifyAll();
  }
  if (thread_.joinable()) {
    thread_.join();
    // Best effort: what the WAL holds is as durable as what the database holds.
    static_cast<void>(side_->connection->Checkpoint(CheckpointMode::kTruncate, kRestartBusyMs));
    side_.reset();
  }
}

bool Writer::QueueIsFull(const Weight& more) const {
  // A request that is larger than the whole queue goes in alone.
  return !queue_.empty() && (queued_.items + more.items > options_.queue_items ||
                             queued_.bytes + more.bytes > options_.queue_bytes);
}

Result<Writer::RequestPtr> Writer::Enqueue(std::shared_ptr<Request> request, const Call& call) {
  const Weight weight = request->weight;
  const StopWakes wakes(call.stop, mutex_, done_);
  const MutexLock lock(mutex_);
  while (!stopping_ && QueueIsFull(weight)) {
    const Result<void> waited = WaitOnce(done_, mutex_, clock_, call);
    if (!waited.ok()) {
      return Error{
          .code = waited.error().code == ErrorCode::kCancelled ? ErrorCode::kCancelled
                                                               : ErrorCode::kBusy,
          .context = "the cache's writer is behind by " + std::to_string(queued_.bytes) + " bytes",
          .reason = {}};
    }
  }
  if (stopping_) {
    return Error{.code = ErrorCode::kBusy, .context = "the cache is closing"};
  }
  request->queued_at = clock_.Monotonic();
  queue_.push_back(request);
  queued_.items += weight.items;
  queued_.bytes += weight.bytes;
  awaited_ += request->is_awaited ? 1 : 0;
  const bool first_awaited = request->is_awaited && awaited_ == 1;
  if (queue_.size() == 1 || first_awaited || GroupIsComplete()) {  // else the writer waits for more
    work_.NotifyAll();
  }
  return request;
}

Result<void> Writer::Run(Change change, const Weight& weight, const Call& call) {
  KILN_TRY(const RequestPtr request,
           Enqueue(std::make_shared<Request>(
                       Request{.change = std::move(change), .weight = weight, .is_awaited = true}),
                   call));
  const StopWakes wakes(call.stop, mutex_, done_);
  const MutexLock lock(mutex_);
  // Leaving early does not take the change back: it may be in a transaction already.
  while (!request->outcome.has_value()) {
    KILN_TRY_VOID(WaitOnce(done_, mutex_, clock_, call));
  }
  return *request->outcome;
}

Result<void> Writer::Post(Change change, const Weight& weight, const Call& call) {
  KILN_TRY_VOID(Enqueue(
      std::make_shared<Request>(Request{.change = std::move(change), .weight = weight}), call));
  return {};
}

void Writer::Wake() {
  const MutexLock lock(mutex_);
  background_ = true;
  work_.NotifyAll();
}

Duration Writer::GroupWait() const {
  // A group that nobody waits for is gathered longer: fewer commits for the same work.
  return awaited_ == 0 ? options_.group_wait * options_.unawaited_factor : options_.group_wait;
}

// A group ends by its size or by the age of its first request, so nobody waits longer than
// group_wait for others to come.
bool Writer::GroupIsComplete() const {
  const uint32_t factor = awaited_ == 0 ? options_.unawaited_factor : 1;
  return stopping_ || queued_.items >= options_.group_items * factor ||
         queue_.size() >= options_.group_requests || queued_.bytes >= options_.group_bytes ||
         clock_.Monotonic() - queue_.front()->queued_at >= GroupWait();
}

// The requests of the next transaction; none if there is background work instead. Waits until there
// is something to do.
Writer::Group Writer::NextGroup() {
  const MutexLock lock(mutex_);
  while (queue_.empty() && !background_ && !stopping_) {
    work_.Wait(mutex_);
  }
  if (queue_.empty()) {
    return {};
  }
  // The wait ends early when somebody begins to wait for a request of the group.
  while (!GroupIsComplete()) {
    const Duration waited = clock_.Monotonic() - queue_.front()->queued_at;
    const uint32_t awaited = awaited_;
    if (!work_.WaitFor(mutex_, GroupWait() - waited) && awaited == awaited_) {
      break;  // also under a clock that stands still
    }
  }
  Group group;
  Weight weight{.items = 0, .bytes = 0};
  while (!queue_.empty()) {
    const RequestPtr& next = queue_.front();
    // At least one request, however large.
    if (!group.empty() && (group.size() == options_.group_requests ||
                           weight.bytes + next->weight.bytes > options_.group_bytes)) {
      break;
    }
    weight.items += next->weight.items;
    weight.bytes += next->weight.bytes;
    awaited_ -= next->is_awaited ? 1 : 0;
    group.push_back(next);
    queue_.pop_front();
  }
  queued_.items -= weight.items;
  queued_.bytes -= weight.bytes;
  done_.NotifyAll();  // there is space in the queue
  return group;
}

void Writer::Loop() {
  BoundWal();  // an earlier process may have left a long one
  for (;;) {
    const Group group = NextGroup();
    if (!group.empty()) {
      RunGroup(group);
    }
    bool background = false;
    {
      const MutexLock lock(mutex_);
      if (stopping_) {
        if (queue_.empty()) {
          return;
        }
        continue;
      }
      background = std::exchange(background_, false);
    }
    // One slice, then the queue again: background work never holds up more than one group.
    const bool more = background && hooks_.background(side_->writes);
    counters_.changes += background ? 1 : 0;
    if (more) {
      Measure();
      BoundWal();
      Wake();
    }
  }
}

// One transaction for all: one fsync acknowledges the whole group (spec/cache 6.5).
Result<void> Writer::RunTogether(const Group& group) {
  KILN_TRY(Transaction transaction, Transaction::Begin(*side_->connection));
  for (const RequestPtr& request : group) {
    KILN_TRY_VOID(request->change(side_->writes));
  }
  return transaction.Commit();
}

void Writer::RunGroup(const Group& group) {
  const Duration start = clock_.Monotonic();
  Result<void> outcome;
  const Result<void> ran = CatchAll([&] { outcome = RunTogether(group); });
  outcome = ran.ok() ? outcome : ran;  // those who wait are told what was thrown
  const bool own_fault = !outcome.ok() && (!ran.ok() || IsOwnFault(outcome.error()));
  // The transaction was rolled back, so each change runs again in one of its own. That is why
  // changes must be able to run twice.
  if (own_fault && group.size() > 1) {
    for (const RequestPtr& request : group) {
      RunGroup({request});  // who is at fault fails alone
    }
    return;
  }
  if (!outcome.ok() && !own_fault) {
    // Only errors of the file are told: a request that is wrong says nothing about it.
    hooks_.on_failure(outcome.error());
  }
  ++counters_.groups;
  ++counters_.changes;  // before anybody is told: readers forget what they read earlier
  counters_.grouped_requests += group.size();
  const auto passed =
      std::chrono::duration_cast<std::chrono::microseconds>(clock_.Monotonic() - start);
  counters_.commit_us += static_cast<uint64_t>(passed.count());
  Measure();
  // Behind the COMMIT, before the checkpoint: nobody waits for a checkpoint.
  Complete(group, outcome);
  BoundWal();
}

void Writer::Complete(const Group& group, const Result<void>& outcome) {
  const MutexLock lock(mutex_);
  for (const RequestPtr& request : group) {
    request->outcome = outcome;
  }
  done_.NotifyAll();
}

// Numbers that SQLite has in memory, so asking after each group costs nothing.
void Writer::Measure() {
  const Result<int64_t> pages = IntOf(side_->page_count);
  const Result<int64_t> free = IntOf(side_->freelist_count);
  if (pages.ok() && free.ok()) {
    counters_.used_bytes = static_cast<uint64_t>((*pages - *free) * kPageSize);
  }
  counters_.wal_bytes = side_->connection->wal_frames() * (kPageSize + kFrameHeader);
}

void Writer::BoundWal() {
  const int64_t bytes = counters_.wal_bytes;
  if (bytes < wal_at_last_checkpoint_) {
    wal_at_last_checkpoint_ = 0;  // SQLite began the WAL anew
  }
  if (bytes < options_.wal.passive || bytes < wal_at_last_checkpoint_ + kCheckpointStep) {
    return;
  }
  wal_at_last_checkpoint_ = bytes;
  // A checkpoint that fails has done part of its work, and the next one goes on from there.
  // Three steps as the WAL grows: what is possible beside readers; starting it anew, which waits
  // briefly for readers; and shortening the file, for which readers are held. So its size is
  // bounded even if somebody always reads (spec/cache 6.8).
  if (bytes >= options_.wal.truncate) {
    readers_.Pause(kHoldReaders);
    static_cast<void>(side_->connection->Checkpoint(
        CheckpointMode::kTruncate, static_cast<int>(kHoldReaders / std::chrono::milliseconds(1))));
    readers_.Resume();
  } else if (bytes >= options_.wal.restart) {
    static_cast<void>(side_->connection->Checkpoint(CheckpointMode::kRestart, kRestartBusyMs));
  } else {
    static_cast<void>(side_->connection->Checkpoint(CheckpointMode::kPassive, 0));
  }
  counters_.wal_bytes = side_->connection->wal_frames() * (kPageSize + kFrameHeader);
}

}  // namespace kiln::cache::sqlite
