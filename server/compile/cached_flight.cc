// SPDX-License-Identifier: MIT
// A variant that several callers want is computed once, by the first of them, for as long as one of
// them wants it. See spec/cache 5.5, spec/daemon 2.3, 9.2
#include <optional>
#include <stop_token>
#include <utility>

#include "cache/call_bounds.h"
#include "server/compile/cached_build.h"
#include "server/compile/poison.h"
#include "server/jobs/job.h"

namespace kiln::compile {
namespace {

// The place of the caller that computes, in single flight; it may be given up on any thread.
class OwnPlace {
 public:
  using Ticket = cache::SingleFlight<CachedBuild::FoundPtr>::Ticket;
  explicit OwnPlace(Ticket ticket) : ticket_(std::move(ticket)) {}

  void GiveUp() {
    std::optional<Ticket> ticket;  // ends outside of the lock
    const MutexLock lock(mutex_);
    ticket.swap(ticket_);
  }

 private:
  Mutex mutex_;
  std::optional<Ticket> ticket_ KILN_GUARDED_BY(mutex_);
};

}  // namespace

Result<CachedBuild::FoundPtr> CachedBuild::Compile(const ResultRequest& wanted,
                                                   const cache::Call& call) {
  for (;;) {
    auto joined = flights_.Join(wanted.variant, /*lane=*/0, call.deadline);
    if (joined.flight.has_value()) {
      return Fly(wanted, std::move(joined), call);
    }
    Result<FoundPtr> landed = joined.ticket.Wait(call);
    const bool dropped = !landed.ok() && landed.error().code == ErrorCode::kCancelled;
    if (!dropped || !cache::StillWanted(call, clock_).ok()) {
      return landed;
    }
    // The computing call was stopped at the moment when this call joined, so this one is the first.
  }
}

// Computes the result for all calls that wait, as long as one of them does.
Result<CachedBuild::FoundPtr> CachedBuild::Fly(const ResultRequest& wanted,
                                               cache::SingleFlight<FoundPtr>::JoinResult joined,
                                               const cache::Call& call) {
  cache::SingleFlight<FoundPtr>::Flight& flight = *joined.flight;
  // Another flight may have landed since the look-up (spec/cache 5.5).
  if (FoundPtr landed =
          wanted.how.anew || wanted.how.retry_failed ? nullptr : Recent(wanted.variant);
      landed != nullptr) {
    flight.Complete(FoundPtr(landed));
    return landed;
  }
  if (FoundPtr deadly = Deadly(wanted, call); deadly != nullptr) {
    flight.Complete(FoundPtr(deadly));
    return deadly;
  }
  OwnPlace place(std::move(joined.ticket));
  const std::stop_callback leave(call.stop, [&] { place.GiveUp(); });
  cache::Call of_all = call;
  of_all.stop = flight.stop();
  of_all.deadline = cache::Deadline::max();
  bool too_slow = false;
  Result<FoundPtr> found =
      cache::Within({.stop = of_all.stop,
                     .deadline = call.deadline,
                     .bytes = jobs::kCallBytes,
                     .later =
                         [&] {
                           place.GiveUp();
                           return flight.deadline();
                         },
                     .cpu = jobs::kJobCpu,
                     .on_cpu = [&] { too_slow = true; }},
                    clock_, [&]() -> Result<FoundPtr> { return CompileNow(wanted, of_all); });
  if (too_slow && !found.ok()) {
    if (FoundPtr poison = AfterSlowness(wanted, of_all); poison != nullptr) {
      found = poison;
    }
  }
  if (found.ok() || found.error().code == ErrorCode::kResourceExhausted) {
    flight.Complete(found);
  }  // else it is dropped: whoever joined just now computes it
  return found;
}

// It took more time than a job may. Null: it may be tried again; else the poison that it is now.
CachedBuild::FoundPtr CachedBuild::AfterSlowness(const ResultRequest& wanted,
                                                 const cache::Call& call) {
  const cache::Key key{.level = cache::Level::kSignature, .space = 0, .id = wanted.variant};
  if (attempts_ == nullptr || !attempts_->Fail(key)) {
    return nullptr;
  }
  const cache::Item poison = PoisonItem(key);
  (void)store_.Put(std::span(&poison, 1), cache::Durability::kDurable, call);
  return Deadly(wanted, call);
}

}  // namespace kiln::compile
