// SPDX-License-Identifier: MIT
// Streams, sessions and the queue of jobs meet here: a stream pushes and takes events, a session
// says what is to be done (session.h), and chunks of the two lanes do it. Sessions are kept by
// principal, project and workspace (spec/daemon 8.1) and go when nobody has been connected for a
// while.
#include "server/reload/subscriptions.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cache/leases/on_behalf.h"
#include "compiler/base/threads/thread.h"

namespace kiln::reload {
namespace {

constexpr Duration kSlice = std::chrono::milliseconds(50);  // of one chunk (spec/daemon 5.4)

Error TooManySubscribers(size_t max) {
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("watch subscribers: {} clients watch this project already, which "
                                 "is what the daemon allows (limits.watch_subscribers)",
                                 max),
          .reason = "LIMIT_EXCEEDED"};
}

// Says whose share is at its end and whose limit it is: of 64 places a tenant finds 32, and has to
// hear that the daemon's others are no fault of his. The numbers are those of jobs::RoomFor.
Error NoPlaceFor(const std::string& tenant, jobs::Room room, size_t limit) {
  const std::string whose =
      room == jobs::Room::kOwnShare
          ? fmt::format("tenant '{}' has its share, half of the {}", tenant, limit)
      : tenant.empty()
          ? fmt::format("all {} are taken", limit)
          : fmt::format("tenants have their share together, three quarters of the {}", limit);
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("watch sessions: {} that the daemon allows "
                                 "(limits.watch_sessions), each with somebody connected; end a "
                                 "watch, or have the daemon's owner raise the limit",
                                 whose),
          .reason = "LIMIT_EXCEEDED"};
}

Error Draining() {
  return {.code = ErrorCode::kUnavailable,
          .context = "kilnd drains and is about to exit",
          .reason = "DRAINING"};
}

const Problem& NoSource() {
  static const Problem problem{.text = "no client pushes sources; artifacts stay as they are",
                               .code = "NO_SOURCE_CLIENT"};
  return problem;
}

// The subscriber that has been gone for longest; end if all are here.
auto LongestGone(std::map<std::string, Subscriber>& subscribers) {
  auto found = subscribers.end();
  for (auto row = subscribers.begin(); row != subscribers.end(); ++row) {
    if (row->second.attached == 0 &&
        (found == subscribers.end() || row->second.left_at < found->second.left_at)) {
      found = row;
    }
  }
  return found;
}

bool IsConnected(Session& session) {
  return std::ranges::any_of(session.subscribers(),
                             [](const auto& row) { return row.second.attached != 0; });
}

}  // namespace

// One mutex guards all sessions. Steps of work run without it (RunSteps); it is taken to hand out
// work and to take in results, and nothing that may wait is called under it.
Subscriptions::~Subscriptions() { CancelAll(); }

// ---- Streams ------------------------------------------------------------------------------------

// Requires: the lock. A place is divided like those of the queue (spec/daemon 11.4): the owner
// finds one whatever others hold.
Result<Subscriptions::HeldPtr> Subscriptions::FindOrMake(const SessionKey& key,
                                                         const std::string& tenant) {
  if (const auto known = sessions_.find(key); known != sessions_.end()) {
    return known->second;
  }
  for (jobs::Room room = RoomFor(tenant); room != jobs::Room::kYes; room = RoomFor(tenant)) {
    // A session without connections makes room: one of the same tenant, or, if all places are
    // taken, one of any tenant but the owner.
    const auto idle = std::ranges::find_if(sessions_, [&](const auto& row) {
      const std::string& whose = row.second->tenant;
      const bool may_go = whose == tenant || (room == jobs::Room::kFull && !whose.empty());
      return may_go && !IsConnected(row.second->session);
    });
    if (idle == sessions_.end()) {
      return NoPlaceFor(tenant, room, options_.max_sessions);
    }
    idle->second->session.Stop();
    sessions_.erase(idle);
  }
  auto made = std::make_shared<SessionEntry>(key, tenant, options_.epoch, clock_, counters_);
  sessions_[key] = made;
  return made;
}

jobs::Room Subscriptions::RoomFor(const std::string& tenant) const {
  jobs::PlaceUsage taken{.all = sessions_.size()};
  for (const auto& [key, held] : sessions_) {
    taken.owner += held->tenant.empty() ? 1 : 0;
    taken.tenant += held->tenant == tenant ? 1 : 0;
  }
  return jobs::RoomFor(tenant, options_.max_sessions, taken);
}

// Those that dropped out make room for those that come.
Result<void> Subscriptions::MakeRoom(Session& session) {
  if (session.subscribers().size() < options_.max_subscribers) {
    return {};
  }
  const auto gone = LongestGone(session.subscribers());
  if (gone == session.subscribers().end()) {
    return TooManySubscribers(options_.max_subscribers);
  }
  session.subscribers().erase(gone);
  return {};
}

// First message of a stream. The order matters: sessions that are over make room first, an older
// stream of the same session id is woken so that it finds itself fenced (spec/daemon 8.3.6), and
// state is told before a push begins a generation. A stream that can resume gets nothing but what
// it missed (spec/daemon 8.3.5).
Result<std::unique_ptr<Subscriptions::Stream>> Subscriptions::Open(OpenRequest request,
                                                                   std::function<void()> wake) {
  std::unique_ptr<Stream> stream;  // goes after the lock: it takes it
  const MutexLock lock(mutex_);
  if (draining_) {
    return Draining();
  }
  Forget();
  const uint64_t number = next_number_++;
  // A client without an id gets one that no request can have, since ids are printable; it cannot
  // come back.
  const std::string id =
      request.session_id.empty() ? "\n" + std::to_string(number) : request.session_id;
  const SessionKey key{.principal = request.principal,
                       .project = request.project,
                       .workspace = request.workspace,
                       .client = request.workspace.empty() ? id : std::string()};
  KILN_TRY(const HeldPtr held, FindOrMake(key, request.tenant));
  Session& session = held->session;
  const auto known = session.subscribers().find(id);
  const bool is_known = known != session.subscribers().end();
  if (!is_known) {
    KILN_TRY_VOID(MakeRoom(session));
  } else if (known->second.attached != 0) {
    known->second.wake();  // the older stream finds itself fenced
  }
  stream.reset(new Stream(*this, key, id, number));
  const bool resumed = is_known && request.resume.has_value() &&
                       request.resume->epoch == options_.epoch &&
                       known->second.log.Rewind(request.resume->seq);
  Subscriber& subscriber = session.subscribers()[id];
  subscriber.attached = number;
  subscriber.wake = std::move(wake);
  subscriber.wish.role = request.wish.role;
  if (resumed) {
    stream->first_ = Event{.seq = request.resume->seq, .body = session.OpenedFor(true)};
    session.Want(id, std::move(request.wish));
  } else {
    session.Begin(
        id, std::move(request.wish),
        request.resume.has_value() ? Session::ResumeMode::kFailed : Session::ResumeMode::kNo,
        request.programs.has_value() ? &*request.programs : nullptr);
  }
  // Programs of a source client are a push like any other.
  if (request.programs.has_value()) {
    const Result<void> pushed = session.Push({.programs = std::move(request.programs)});
    if (!pushed.ok()) {
      subscriber.attached = 0;
      return pushed.error();
    }
  }
  if (!resumed) {
    session.TellIfSettled(id);
  }
  if (!session.has_source()) {
    session.Tell(subscriber, NoSource());
  }
  subscriber.Wake();
  SubmitWork(held);
  NoteCounts();
  return stream;
}

Subscriptions::Stream::~Stream() { all_.Detach(*this); }

// Requires: the lock. Null if a newer stream has the session id, or the session is gone.
Subscriber* Subscriptions::FindAttached(const Stream& stream) {
  const auto held = sessions_.find(stream.key_);
  if (held == sessions_.end()) {
    return nullptr;
  }
  const auto found = held->second->session.subscribers().find(stream.id_);
  return found == held->second->session.subscribers().end() ||
                 found->second.attached != stream.number_
             ? nullptr
             : &found->second;
}

// The subscriber stays for a while, so that a client that lost its connection can resume
// (spec/daemon 8.3.6). Work goes on only as long as somebody is connected.
void Subscriptions::Detach(const Stream& stream) {
  const MutexLock lock(mutex_);
  Subscriber* const subscriber = FindAttached(stream);
  if (subscriber == nullptr) {
    return;
  }
  Session& session = sessions_.find(stream.key_)->second->session;
  subscriber->attached = 0;
  subscriber->wake = nullptr;
  subscriber->left_at = clock_.Monotonic();
  const bool was_source = subscriber->wish.role != Role::kSubscriber;
  if (stream.id_.starts_with('\n')) {
    session.subscribers().erase(stream.id_);  // cannot come back
  }
  if (was_source && !session.has_source()) {
    session.Tell(NoSource());
  }
  if (!IsConnected(session)) {
    session.Rest();
  }
  NoteCounts();
}

// In the thread of the stream. `first_` is the answer to a stream that resumed: it stands before
// the events that are replayed and has no place in the log.
std::optional<Event> Subscriptions::Stream::Take() {
  const MutexLock lock(all_.mutex_);
  Subscriber* const subscriber = all_.FindAttached(*this);
  if (subscriber == nullptr) {
    return std::nullopt;
  }
  return first_.has_value() ? std::exchange(first_, std::nullopt) : subscriber->log.Take();
}

std::optional<Error> Subscriptions::Stream::Ended() {
  const MutexLock lock(all_.mutex_);
  if (all_.FindAttached(*this) == nullptr) {
    return Error{.code = ErrorCode::kAborted,
                 .context = "a newer stream has the session id '" + id_ + "'",
                 .reason = "FENCED"};
  }
  return all_.draining_ ? std::optional(Draining()) : std::nullopt;
}

bool Subscriptions::Stream::IsSettled() {
  const MutexLock lock(all_.mutex_);
  const Subscriber* const subscriber = all_.FindAttached(*this);
  return subscriber == nullptr ||
         (subscriber->log.waiting() == 0 && all_.sessions_.find(key_)->second->session.settled());
}

Result<void> Subscriptions::Stream::Push(PushedChange change) {
  const MutexLock lock(all_.mutex_);
  Subscriber* const subscriber = all_.FindAttached(*this);
  if (subscriber == nullptr) {
    return {};  // Ended says why
  }
  if (subscriber->wish.role == Role::kSubscriber) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "push: this client opened as a mere subscriber",
                 .reason = "MALFORMED_REQUEST"};
  }
  const HeldPtr held = all_.sessions_.find(key_)->second;
  KILN_TRY_VOID(held->session.Push(std::move(change)));
  all_.SubmitWork(held);
  return {};
}

void Subscriptions::Stream::SetInterest(std::vector<Interest> interest) {
  const MutexLock lock(all_.mutex_);
  if (const Subscriber* const subscriber = all_.FindAttached(*this); subscriber != nullptr) {
    const HeldPtr held = all_.sessions_.find(key_)->second;
    Wish wish = subscriber->wish;
    wish.SetInterest(std::move(interest));
    held->session.Want(id_, std::move(wish));
    all_.SubmitWork(held);
  }
}

// Acknowledgements free nothing: what is kept for replay is bounded by number. They are checked, so
// that a client with a wrong count hears of it.
Result<void> Subscriptions::Stream::Acknowledge(uint64_t seq) {
  const MutexLock lock(all_.mutex_);
  const Subscriber* const subscriber = all_.FindAttached(*this);
  if (subscriber != nullptr && seq > subscriber->log.last_seq()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "ack.seq: event " + std::to_string(seq) + " was never sent",
                 .reason = "MALFORMED_REQUEST"};
  }
  return {};
}

// Requires: the lock. Subscribers that were gone for too long, and then sessions without any.
void Subscriptions::Forget() {
  const Duration now = clock_.Monotonic();
  for (auto row = sessions_.begin(); row != sessions_.end();) {
    Session& session = row->second->session;
    std::erase_if(session.subscribers(), [&](const auto& client) {
      return client.second.attached == 0 && now - client.second.left_at >= kSurvives;
    });
    if (!session.subscribers().empty()) {
      ++row;
      continue;
    }
    session.Stop();
    row = sessions_.erase(row);
  }
  NoteCounts();
}

// For the status, which must not wait for the lock.
void Subscriptions::NoteCounts() {
  uint64_t connected = 0;
  for (const auto& [key, held] : sessions_) {
    for (const auto& [id, subscriber] : held->session.subscribers()) {
      connected += subscriber.attached != 0 ? 1 : 0;
    }
  }
  session_count_ = sessions_.size();
  subscriber_count_ = connected;
}

// Called every second by the daemon.
void Subscriptions::Tick() {
  const MutexLock lock(mutex_);
  Forget();
  for (const auto& [key, held] : sessions_) {
    SubmitWork(held);  // if the queue was full
  }
}

// Once. Streams see it when they ask whether they have ended.
void Subscriptions::Drain() {
  const MutexLock lock(mutex_);
  if (draining_) {
    return;
  }
  draining_ = true;
  for (const auto& [key, held] : sessions_) {
    held->session.Tell(Problem{.text = "kilnd is about to exit", .code = "DRAINING"});
  }
}

Subscriptions::Status Subscriptions::GetStatus() const {
  return {
      .sessions = session_count_, .subscribers = subscriber_count_, .counters = counters_.Read()};
}

// ---- Work ---------------------------------------------------------------------------------------

// Submits a chunk for everything that waits, up to the limit; a full queue is asked again later.
void Subscriptions::SubmitWork(const HeldPtr& held) {
  for (const jobs::Lane lane : {jobs::Lane::kInteractive, jobs::Lane::kBatch}) {
    uint32_t& running = held->running[static_cast<size_t>(lane)];
    const size_t wanted = std::min<size_t>(held->session.Waiting(lane), options_.workers);
    while (running < wanted && !draining_ && !stop_.stop_requested()) {
      jobs::Job job{
          .lane = lane,
          .name = "watch",
          .tenant = held->tenant,
          .session = held->share,
          .stop = stop_.get_token(),
          .run = [this, held, lane](const cache::Call& call) { RunChunk(held, lane, call); }};
      if (lane == jobs::Lane::kInteractive) {
        job.deadline = clock_.Monotonic() + jobs::kInteractiveDeadline;
      }
      if (!queue_.Submit(std::move(job)).ok()) {
        return;
      }
      ++running;
      ++chunks_;
    }
  }
}

// One chunk works on programs of one session until its slice is over (spec/daemon 5.4). What is
// left is submitted anew by the guard, behind what others wait with.
void Subscriptions::RunChunk(const HeldPtr& held, jobs::Lane lane, const cache::Call& call) {
  struct Guard {  // also if an exception ends it
    Subscriptions& all;
    const HeldPtr& held;
    const jobs::Lane lane;
    ~Guard() {
      const MutexLock lock(all.mutex_);
      --held->running[static_cast<size_t>(lane)];
      (void)CatchAll([this] { all.SubmitWork(held); });  // else the next tick does
      --all.chunks_;
      all.idle_.NotifyAll();
    }
  } const guard{*this, held, lane};
  const cache::OnBehalfOf principal(held->principal);
  const Duration until = clock_.Monotonic() + kSlice;
  while (!call.stop.stop_requested() && clock_.Monotonic() < until) {
    std::optional<Session::WorkItem> taken;
    {
      const MutexLock lock(mutex_);
      taken = held->session.Take(lane);
    }
    if (!taken.has_value()) {
      return;
    }
    RunSteps(held, *taken, until, call);
  }
}

// Works on one program for as long as the slice lasts and the lane is right.
void Subscriptions::RunSteps(const HeldPtr& held, const Session::WorkItem& taken, Duration until,
                             const cache::Call& call) {
  // Only an exception, a bug of kiln, ends this early.
  struct Guard {
    Subscriptions& all;
    SessionEntry& held;
    const Session::WorkItem& taken;
    bool returned = false;
    ~Guard() {
      if (!returned) {
        const MutexLock lock(all.mutex_);
        (void)CatchAll([this] { held.session.Abandon(taken); });
      }
    }
  } guard{*this, *held, taken};
  // A program that goes on in the background is handed back, to be taken by a chunk of that lane.
  const bool background = taken.work->in_background();
  bool wanted = true;
  do {
    StepResult result = taken.work->Step(shop_, call);
    const MutexLock lock(mutex_);
    wanted = held->session.Absorb(taken, std::move(result));
  } while (wanted && taken.work->phase() != ProgramWork::Phase::kDone &&
           taken.work->in_background() == background && !call.stop.stop_requested() &&
           clock_.Monotonic() < until);
  const MutexLock lock(mutex_);
  held->session.Return(taken);
  guard.returned = true;
}

// For the destructor: no chunk may be left that could touch this object.
void Subscriptions::CancelAll() {
  stop_.request_stop();
  const MutexLock lock(mutex_);
  while (chunks_ != 0) {
    idle_.Wait(mutex_);
  }
}

}  // namespace kiln::reload
