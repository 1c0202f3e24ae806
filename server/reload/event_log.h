// SPDX-License-Identifier: MIT
// The events of one subscriber: numbered, kept for a while after they were handed out so that a
// connection that broke can go on, and conflated while nobody takes them. See spec/daemon 8.3.1,
// 8.3.5
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "server/reload/event.h"

namespace kiln::reload {

class EventLog {
 public:
  static constexpr size_t kReplayed = 4096;  // events that a client may have missed
  static constexpr size_t kWaiting = 1024;   // more that nobody took are conflated

  // Gives the event the next number, from 1.
  void Append(EventBody body);

  // The next one that was not handed out; from then on it is replayed only.
  std::optional<Event> Take();

  // Goes back to just behind `seq`. False, and nothing happens, if events behind it are gone or it
  // was never given.
  bool Rewind(uint64_t seq);

  // Nothing waits any more: the subscriber is about to get the whole state.
  void SkipAll() { next_ = events_.size(); }

  uint64_t last_seq() const { return last_seq_; }
  size_t waiting() const { return events_.size() - next_; }
  uint64_t conflated() const { return conflated_; }  // events that were replaced

 private:
  void Conflate();

  std::deque<Event> events_;  // ascending; [0, next_) were handed out
  size_t next_ = 0;
  size_t conflate_at_ = kWaiting;
  uint64_t last_seq_ = 0;
  uint64_t lost_through_ = 0;  // no event up to this one is kept
  uint64_t conflated_ = 0;
};

}  // namespace kiln::reload
