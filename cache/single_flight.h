// SPDX-License-Identifier: MIT
// One computation per key, whoever asks: the first to join gets a Flight, the duty to compute;
// everyone gets a Ticket to wait with. See spec/cache 5.5.
//
//   SingleFlight<Outcome>::JoinResult joined = flights.Join(key, lane, deadline);
//   if (joined.flight) { queue.Submit(job holding *joined.flight); }   // exactly one of all
//   callers Result<Outcome> outcome = joined.ticket.Wait(call); … in the job: look into the store
//   again; then compute while !flight.stop().stop_requested();
//     flight.Complete(outcome);
//
// Threads: everything here may be used from any thread; a Ticket and a Flight by one at a time.
// Lifetime: tickets and flights may outlive the SingleFlight, but not its clock.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/wait.h"

namespace kiln::cache {

// T: the result of a computation; copied to every waiter, so a shared_ptr<const …> or small.
template <class T>
class SingleFlight {
 private:
  struct State {
    explicit State(const Hash128& key) : id(key) {}
    const Hash128 id;
    std::stop_source stop;
    CondVar done;
    // Guarded by the table's mutex.
    uint64_t waiters = 0;
    uint8_t lane = 0;
    Deadline deadline = Deadline::min();
    std::optional<Result<T>> result;
    std::vector<std::function<void()>> on_done;
  };
  using StatePtr = std::shared_ptr<State>;

  struct Table {
    Mutex mutex;
    std::unordered_map<Hash128, StatePtr, Hash128Hash> flying KILN_GUARDED_BY(mutex);
    uint64_t merged KILN_GUARDED_BY(mutex) = 0;

    void Forget(const State& state) KILN_REQUIRES(mutex) {
      const auto found = flying.find(state.id);
      if (found != flying.end() && found->second.get() == &state) {
        flying.erase(found);  // not a successor under the same id
      }
    }
  };
  using TablePtr = std::shared_ptr<Table>;

 public:
  // A waiter. Going away counts as leaving: when the last one has left, the flight is stopped.
  class Ticket {
   public:
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(table_, other.table_);
      std::swap(state_, other.state_);
      std::swap(clock_, other.clock_);
      return *this;
    }
    ~Ticket() {
      if (state_ == nullptr) {
        return;
      }
      bool stop = false;
      {
        const MutexLock lock(table_->mutex);
        stop = --state_->waiters == 0 && !state_->result.has_value();
        if (stop) {
          table_->Forget(*state_);  // whoever comes now starts anew
        }
      }
      if (stop) {
        state_->stop.request_stop();
      }
    }

    // The result of the flight. Errors: the flight's; kCancelled and kDeadlineExceeded of the call,
    // after which the caller still counts as a waiter until the ticket goes.
    Result<T> Wait(const Call& call) {
      const StopWakes wakes(call.stop, table_->mutex, state_->done);
      const MutexLock lock(table_->mutex);
      while (!state_->result.has_value()) {
        KILN_TRY_VOID(WaitOnce(state_->done, table_->mutex, *clock_, call));
      }
      return *state_->result;
    }

    // Calls back once, from the completing thread, or at once if the flight is over already.
    void OnDone(std::function<void()> callback) {
      {
        const MutexLock lock(table_->mutex);
        if (!state_->result.has_value()) {
          state_->on_done.push_back(std::move(callback));
          return;
        }
      }
      callback();
    }

   private:
    friend class SingleFlight;
    Ticket(TablePtr table, StatePtr state, Clock& clock)
        : table_(std::move(table)), state_(std::move(state)), clock_(&clock) {}
    TablePtr table_;
    StatePtr state_;
    Clock* clock_;
  };

  // The duty to compute. Going away without Complete completes with kCancelled.
  class Flight {
   public:
    Flight(Flight&&) noexcept = default;
    Flight& operator=(Flight&&) = delete;
    ~Flight() {
      if (state_ != nullptr) {  // perhaps while memory is out: this text needs none
        Complete(Error{.code = ErrorCode::kCancelled, .context = "dropped"});
      }
    }

    const Hash128& id() const { return state_->id; }
    // Requested when the last waiter has left.
    std::stop_token stop() const { return state_->stop.get_token(); }
    // The highest lane, and the latest deadline, of any waiter so far.
    uint8_t lane() const {
      const MutexLock lock(table_->mutex);
      return state_->lane;
    }
    Deadline deadline() const {
      const MutexLock lock(table_->mutex);
      return state_->deadline;
    }

    // Hands the result to every waiter; the flight is over.
    void Complete(Result<T> result) {
      std::vector<std::function<void()>> callbacks;
      {
        const MutexLock lock(table_->mutex);
        table_->Forget(*state_);
        state_->result.emplace(std::move(result));
        callbacks = std::move(state_->on_done);
        state_->done.NotifyAll();
      }
      state_ = nullptr;
      for (const std::function<void()>& callback : callbacks) {
        callback();
      }
    }

   private:
    friend class SingleFlight;
    Flight(TablePtr table, StatePtr state) : table_(std::move(table)), state_(std::move(state)) {}
    TablePtr table_;
    StatePtr state_;
  };

  struct JoinResult {
    Ticket ticket;
    std::optional<Flight> flight;  // set for exactly one caller per flight
  };

  // Requires: clock outlives all tickets.
  explicit SingleFlight(Clock& clock) : table_(std::make_shared<Table>()), clock_(clock) {}

  // A greater lane is more urgent.
  JoinResult Join(const Hash128& id, uint8_t lane, Deadline deadline) {
    const MutexLock lock(table_->mutex);
    StatePtr& state = table_->flying[id];
    const bool first = state == nullptr;
    if (first) {
      state = std::make_shared<State>(id);
    } else {
      ++table_->merged;
    }
    ++state->waiters;
    state->lane = std::max(state->lane, lane);
    state->deadline = std::max(state->deadline, deadline);
    JoinResult joined{.ticket = Ticket(table_, state, clock_), .flight = std::nullopt};
    if (first) {
      joined.flight.emplace(Flight(table_, state));
    }
    return joined;
  }

  // kiln_cache_inflight_merged_total: calls that found a flight to attach to.
  uint64_t merged() const {
    const MutexLock lock(table_->mutex);
    return table_->merged;
  }

 private:
  const TablePtr table_;
  Clock& clock_;
};

}  // namespace kiln::cache
