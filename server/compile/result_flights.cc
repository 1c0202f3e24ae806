// SPDX-License-Identifier: MIT
#include "server/compile/result_flights.h"

#include <optional>
#include <stop_token>
#include <utility>

#include "cache/call_bounds.h"
#include "compiler/base/mutex.h"
#include "server/compile/poison.h"
#include "server/jobs/job.h"

namespace kiln::compile {
namespace {

// The place of the caller that computes, in single flight; it may be given up on any thread.
class OwnPlace {
 public:
  using Ticket = cache::SingleFlight<CachedResultPtr>::Ticket;
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

Result<CachedResultPtr> ResultFlights::Compile(const ResultRequest& wanted,
                                               const cache::Call& call) {
  for (;;) {
    auto joined = flights_.Join(wanted.variant, /*lane=*/0, call.deadline);
    if (joined.flight.has_value()) {
      return Fly(wanted, std::move(joined), call);
    }
    Result<CachedResultPtr> landed = joined.ticket.Wait(call);
    // Whoever computed has left. That is no reason for this caller to leave: it joins again, and
    // may then compute by itself.
    const bool dropped = !landed.ok() && landed.error().code == ErrorCode::kCancelled;
    if (!dropped || !cache::StillWanted(call, clock_).ok()) {
      return landed;
    }
    // The computing call was stopped at the moment when this call joined, so this one is the first.
  }
}

// Computes the result for all calls that wait, as long as one of them does. The bounds are those of
// the flight, not of the call: a caller that leaves, or whose time is up, gives up its place, and
// the work ends when the last place is given up. What failed only because nobody waited any more is
// dropped, so that whoever joined at that moment computes it; a result, and a variant that takes
// more than a job may, is everybody's.
Result<CachedResultPtr> ResultFlights::Fly(const ResultRequest& wanted,
                                           cache::SingleFlight<CachedResultPtr>::JoinResult joined,
                                           const cache::Call& call) {
  cache::SingleFlight<CachedResultPtr>::Flight& flight = *joined.flight;
  // Another flight may have landed since the look-up (spec/cache 5.5).
  if (CachedResultPtr landed = wanted.how.known == KnownResult::kBuiltAgain ||
                                       wanted.how.failed == KnownFailure::kTriedAgain
                                   ? nullptr
                                   : lookup_.RecentOf(wanted.program.entry, wanted.values, call);
      landed != nullptr) {
    flight.Complete(CachedResultPtr(landed));
    return landed;
  }
  if (CachedResultPtr poisoned = builder_.Poisoned(wanted, call); poisoned != nullptr) {
    flight.Complete(CachedResultPtr(poisoned));
    return poisoned;
  }
  OwnPlace place(std::move(joined.ticket));
  const std::stop_callback leave(call.stop, [&] { place.GiveUp(); });
  cache::Call of_all = call;
  of_all.stop = flight.stop();
  // Neither the stop nor the deadline of this call ends the work while others wait for it; both
  // only give up its own place.
  of_all.deadline = cache::Deadline::max();
  bool too_slow = false;
  // Asked once, for the bound and for what is told: the clock of a thread is a call of the system.
  const Duration begin = clock_.ThreadCpu();
  Result<CachedResultPtr> found = cache::Within(
      {.stop = of_all.stop,
       .deadline = call.deadline,
       .bytes = jobs::kCallBytes,
       // When the deadline of this caller comes, the work goes on until that of the last one who
       // waits.
       .later =
           [&] {
             place.GiveUp();
             return flight.deadline();
           },
       .cpu = jobs::kJobCpu,
       .cpu_begin = begin,
       .on_cpu = [&] { too_slow = true; }},
      clock_, [&]() -> Result<CachedResultPtr> { return builder_.Compile(wanted, begin, of_all); });
  if (too_slow && !found.ok()) {
    if (CachedResultPtr poison = AfterSlowness(wanted, of_all); poison != nullptr) {
      found = poison;
    }
  }
  if (found.ok() || found.error().code == ErrorCode::kResourceExhausted) {
    flight.Complete(found);
  }  // else it is dropped: whoever joined just now computes it
  return found;
}

// It took more time than a job may. Null: it may be tried again; else the poison that it is now.
CachedResultPtr ResultFlights::AfterSlowness(const ResultRequest& wanted, const cache::Call& call) {
  const cache::Key key = ResultKey(wanted.variant);
  if (attempts_ == nullptr || !attempts_->Fail(key)) {
    return nullptr;
  }
  const cache::Item poison = PoisonItem(key);
  (void)store_.Put(std::span(&poison, 1), cache::Durability::kDurable, call);
  return builder_.Poisoned(wanted, call);
}

}  // namespace kiln::compile
