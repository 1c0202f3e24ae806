// SPDX-License-Identifier: MIT
#include "cache/single_flight.h"

#include <atomic>
#include <barrier>
#include <thread>

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

using Flights = SingleFlight<int>;
const Hash128 kId = HashBytes(AsBytes("one"));

TEST(SingleFlight, ThousandConcurrentRequests_ComputeOnce) {
  constexpr int kThreads = 1000;
  SystemClock clock;
  Flights flights(clock);
  std::atomic<int> computed = 0;
  std::atomic<int> answered = 0;
  std::barrier joined_all(kThreads);
  const auto request = [&] {
    Flights::JoinResult joined = flights.Join(kId, 0, Deadline::max());
    joined_all.arrive_and_wait();
    if (joined.flight.has_value()) {
      ++computed;
      joined.flight->Complete(42);
    }
    answered += *joined.ticket.Wait({}) == 42 ? 1 : 0;
  };
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(request);
  }
  threads.clear();
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(answered, kThreads);
  EXPECT_EQ(flights.merged(), kThreads - 1u);
}

TEST(SingleFlight, CancellingAllButOne_LeavesItRunning) {
  SystemClock clock;
  Flights flights(clock);
  Flights::JoinResult first = flights.Join(kId, 0, Deadline::max());
  {
    std::vector<Flights::JoinResult> others;
    for (int i = 0; i < 999; ++i) {
      others.push_back(flights.Join(kId, 0, Deadline::max()));
      std::stop_source stop;
      stop.request_stop();
      EXPECT_EQ(others.back().ticket.Wait({.stop = stop.get_token()}).error().code,
                ErrorCode::kCancelled);
    }
  }
  EXPECT_FALSE(first.flight->stop().stop_requested());
  first.flight->Complete(7);
  EXPECT_EQ(*first.ticket.Wait({}), 7);
}

TEST(SingleFlight, LastWaiterLeaves_StopsTheFlightAndTheNextStartsAnew) {
  SystemClock clock;
  Flights flights(clock);
  std::optional<Flights::Flight> flight;
  {
    Flights::JoinResult joined = flights.Join(kId, 0, Deadline::max());
    flight.emplace(*std::move(joined.flight));
  }
  EXPECT_TRUE(flight->stop().stop_requested());
  Flights::JoinResult next = flights.Join(kId, 0, Deadline::max());
  ASSERT_TRUE(next.flight.has_value());
  flight->Complete(1);  // the old flight ends late and disturbs nobody
  next.flight->Complete(2);
  EXPECT_EQ(*next.ticket.Wait({}), 2);
}

TEST(SingleFlight, Flight_HasTheHighestLaneAndTheLatestDeadline) {
  SystemClock clock;
  Flights flights(clock);
  const Flights::JoinResult first = flights.Join(kId, 1, Duration(50));
  const Flights::JoinResult second = flights.Join(kId, 3, Duration(20));
  const Flights::JoinResult third = flights.Join(kId, 2, Duration(90));
  EXPECT_FALSE(second.flight.has_value());
  EXPECT_EQ(first.flight->lane(), 3);
  EXPECT_EQ(first.flight->deadline(), Duration(90));
}

TEST(SingleFlight, DroppedFlight_FailsItsWaiters) {
  SystemClock clock;
  Flights flights(clock);
  Flights::JoinResult joined = flights.Join(kId, 0, Deadline::max());
  joined.flight.reset();
  EXPECT_EQ(joined.ticket.Wait({}).error().code, ErrorCode::kCancelled);
}

TEST(SingleFlight, DeadlineOfAWaiter_EndsItsWaitOnly) {
  FakeClock clock;
  Flights flights(clock);
  Flights::JoinResult joined = flights.Join(kId, 0, Deadline::max());
  EXPECT_EQ(joined.ticket.Wait({.deadline = clock.Monotonic()}).error().code,
            ErrorCode::kDeadlineExceeded);
  EXPECT_FALSE(joined.flight->stop().stop_requested());
}

TEST(SingleFlight, OnDone_CallsBackOnceBeforeOrAfterCompletion) {
  SystemClock clock;
  Flights flights(clock);
  Flights::JoinResult joined = flights.Join(kId, 0, Deadline::max());
  int calls = 0;
  joined.ticket.OnDone([&calls] { ++calls; });
  EXPECT_EQ(calls, 0);
  joined.flight->Complete(1);
  EXPECT_EQ(calls, 1);
  joined.ticket.OnDone([&calls] { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(SingleFlight, DifferentIds_FlyApart) {
  SystemClock clock;
  Flights flights(clock);
  const Flights::JoinResult one = flights.Join(kId, 0, Deadline::max());
  const Flights::JoinResult two = flights.Join(HashBytes(AsBytes("two")), 0, Deadline::max());
  EXPECT_TRUE(one.flight.has_value());
  EXPECT_TRUE(two.flight.has_value());
}

}  // namespace
}  // namespace kiln::cache
