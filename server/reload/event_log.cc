// SPDX-License-Identifier: MIT
// The events of one subscriber: those that were taken, for replay, and those that wait. `next_` is
// the boundary between the two. Numbers ascend by one with every event that is added, so a gap in
// what a subscriber sees means conflation.
#include "server/reload/event_log.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace kiln::reload {
namespace {

// The key under which a newer event replaces this one; empty: it is not replaced. Parts of a key
// are separated by zeros, which names and variants do not have. Events of one subject only replace
// each other: an artifact of one variant and target, the diagnostics of one program. Marks of
// snapshots and the first event have no name, since what stands between marks must stay there.
std::string EventName(const EventBody& body) {
  const auto name = [](char kind, const std::string& program, const std::string& rest = {}) {
    return std::string(1, kind) + program + '\0' + rest;
  };
  if (const auto* artifact = std::get_if<NewArtifact>(&body)) {
    return name('a', artifact->program, artifact->variant + '\0' + artifact->artifact->target);
  }
  if (const auto* diagnostics = std::get_if<Diagnostics>(&body)) {
    return name('d', diagnostics->program);
  }
  if (const auto* unchanged = std::get_if<ProgramUnchanged>(&body)) {
    return name('u', unchanged->program);
  }
  if (const auto* problem = std::get_if<Problem>(&body)) {
    return name('p', problem->code);
  }
  if (std::holds_alternative<SourcesChanged>(body)) {
    return "c";
  }
  return std::holds_alternative<ProgramsSettled>(body) ? "s" : "";
}

// The work of an engine that skips `older` and sees `newer` only. The engine compares with what it
// has, and it has not seen the older one.
void Inherit(const EventBody& older, EventBody& newer) {
  const auto* from = std::get_if<NewArtifact>(&older);
  auto* to = std::get_if<NewArtifact>(&newer);
  if (from != nullptr && to != nullptr) {
    to->change.code |= from->change.code;
    to->change.settings |= from->change.settings;
    to->change.layout |= from->change.layout;
  }
}

}  // namespace

// A subscriber that does not take its events must cost bounded memory and still learn how things
// stand. So events that were taken are kept for replay up to a number, and events that wait are
// conflated when there are too many: of several about the same thing the newest stays, and says for
// the others what it changed. The bound is moved to twice what was left, so that conflating costs
// O(1) per event even if nothing can be dropped.
void EventLog::Append(EventBody body) {
  events_.push_back({.seq = ++last_seq_, .body = std::move(body)});
  while (next_ != 0 && events_.size() > kReplayed) {
    lost_through_ = events_.front().seq;
    events_.pop_front();
    --next_;
  }
  if (waiting() > conflate_at_) {
    Conflate();
    conflate_at_ = std::max(kWaiting, 2 * waiting());
  }
}

// From the newest to the oldest, so that the first event of a name that is met is the one that
// stays. An event that follows a gap is marked, since the subscriber sees a jump in the numbers.
void EventLog::Conflate() {
  std::deque<Event> kept;
  std::map<std::string, size_t> newest;  // counted from the end of `kept`
  for (size_t i = events_.size(); i > next_; --i) {
    Event& event = events_[i - 1];
    const std::string name = EventName(event.body);
    if (const auto found = name.empty() ? newest.end() : newest.find(name); found != newest.end()) {
      Inherit(event.body, kept[kept.size() - 1 - found->second].body);
      ++conflated_;
      continue;
    }
    if (!name.empty()) {
      newest.emplace(name, kept.size());
    }
    kept.push_front(std::move(event));
  }
  uint64_t before = next_ == 0 ? lost_through_ : events_[next_ - 1].seq;
  for (Event& event : kept) {
    event.conflated |= event.seq != before + 1;
    before = event.seq;
  }
  events_.erase(events_.begin() + static_cast<ptrdiff_t>(next_), events_.end());
  for (Event& event : kept) {
    events_.push_back(std::move(event));
  }
}

// The bound falls with what was taken, but never below the least: a subscriber that has caught up
// is conflated late again.
std::optional<Event> EventLog::Take() {
  if (next_ == events_.size()) {
    return std::nullopt;
  }
  conflate_at_ = std::max(kWaiting, 2 * (waiting() - 1));
  return events_[next_++];
}

// Replays what comes after `seq` (spec/daemon 8.3.5). False if some of it is gone; then the
// subscriber needs a snapshot.
bool EventLog::Rewind(uint64_t seq) {
  if (seq < lost_through_ || seq > last_seq_) {
    return false;
  }
  const auto behind = std::ranges::upper_bound(events_, seq, {}, &Event::seq);
  next_ = static_cast<size_t>(behind - events_.begin());
  return true;
}

}  // namespace kiln::reload
