// SPDX-License-Identifier: MIT
// All watch sessions of a daemon: who is connected to which, their limits, how long a dropped
// connection may come back, and the jobs that build. A stream of the transport is one Stream here.
// See spec/daemon 8.3, 10
//
// Threads: all functions may run concurrently, those of a Stream too. One mutex guards every
// session, held for bookkeeping only; building runs outside of it. `wake` is called with the mutex
// held and must not call back.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "server/compile/cached_build.h"
#include "server/jobs/queue.h"
#include "server/jobs/shares.h"
#include "server/reload/session.h"

namespace kiln::reload {

struct OpenRequest {
  std::string principal;  // ops::Principal::id
  std::string tenant;     // whose share of the lanes its work takes
  std::string project;
  std::string workspace;   // empty: the client has a session of its own
  std::string session_id;  // of the client; empty: one that cannot be resumed
  Wish wish;
  std::optional<std::vector<WatchedProgram>> programs;  // of a source client
  struct Resume {
    uint64_t epoch = 0;
    uint64_t seq = 0;
  };
  std::optional<Resume> resume;
};

class Subscriptions {
 public:
  static constexpr Duration kSurvives = std::chrono::seconds(60);  // a dropped connection

  struct Options {
    uint32_t workers = 1;  // chunks of one session and lane that may run at once
    uint64_t epoch = 1;    // random per daemon run
    size_t max_sessions = 64;
    size_t max_subscribers = 64;  // of one session
  };

  // All must outlive the object.
  Subscriptions(compile::CachedBuild& builder, cache::ExplainRing& explains, jobs::JobQueue& queue,
                Clock& clock, const Options& options)
      : shop_{builder, explains, clock}, queue_(queue), clock_(clock), options_(options) {}
  ~Subscriptions();

  // One connection of one client. Its subscription outlives it for a while.
  class Stream {
   public:
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    std::optional<Event> Take();
    // Why there is nothing more to take, ever: kAborted, FENCED; kUnavailable, DRAINING.
    std::optional<Error> Ended();
    // Nothing is under way, and everything was taken.
    bool IsSettled();
    // Errors: kInvalidArgument for a mere subscriber; kResourceExhausted.
    Result<void> Push(PushedChange change);
    void SetInterest(std::vector<Interest> interest);
    // Errors: kInvalidArgument for what was never sent.
    Result<void> Acknowledge(uint64_t seq);

   private:
    friend class Subscriptions;
    Stream(Subscriptions& all, SessionKey key, std::string id, uint64_t number)
        : all_(all), key_(std::move(key)), id_(std::move(id)), number_(number) {}

    Subscriptions& all_;
    const SessionKey key_;
    const std::string id_;
    const uint64_t number_;
    std::optional<Event> first_;  // of a connection that goes on
  };

  // Errors: kResourceExhausted, LIMIT_EXCEEDED; kUnavailable, DRAINING; kInvalidArgument.
  Result<std::unique_ptr<Stream>> Open(OpenRequest request, std::function<void()> wake);

  // Time has passed: forgets who did not come back.
  void Tick();
  // Tells everybody and ends every stream.
  void Drain();
  // Stops work and waits for chunks that run; for shutdown.
  void CancelAll();

  struct Status {
    uint64_t sessions = 0;
    uint64_t subscribers = 0;  // connected
    WatchCounts counters;
  };
  // Waits for nothing that goes on in a session.
  Status GetStatus() const;

 private:
  struct SessionEntry {  // a session with its jobs
    SessionEntry(const SessionKey& key, std::string whose_share, uint64_t epoch, Clock& clock,
                 WatchCounters& counters)
        : principal(key.principal),
          tenant(std::move(whose_share)),
          share(key.project + '\n' + key.workspace + '\n' + key.client),
          session(key, epoch, clock, counters) {}
    const std::string principal;  // for whom it builds
    const std::string tenant;
    const std::string share;  // of the tenant's: jobs::Job::session
    Session session;
    uint32_t running[jobs::kLaneCount] = {};  // chunks, waiting ones too
  };
  using HeldPtr = std::shared_ptr<SessionEntry>;

  Result<HeldPtr> FindOrMake(const SessionKey& key, const std::string& tenant)
      KILN_REQUIRES(mutex_);
  jobs::Room RoomFor(const std::string& tenant) const KILN_REQUIRES(mutex_);
  Result<void> MakeRoom(Session& session) KILN_REQUIRES(mutex_);
  Subscriber* FindAttached(const Stream& stream) KILN_REQUIRES(mutex_);
  void Detach(const Stream& stream);
  void Forget() KILN_REQUIRES(mutex_);
  void NoteCounts() KILN_REQUIRES(mutex_);
  void SubmitWork(const HeldPtr& held) KILN_REQUIRES(mutex_);
  void RunChunk(const HeldPtr& held, jobs::Lane lane, const cache::Call& call);
  void RunSteps(const HeldPtr& held, const Session::WorkItem& taken, Duration until,
                const cache::Call& call);

  const Workshop shop_;
  jobs::JobQueue& queue_;
  Clock& clock_;
  const Options options_;
  std::stop_source stop_;
  Mutex mutex_;
  CondVar idle_;
  WatchCounters counters_;
  std::atomic<uint64_t> session_count_ = 0;
  std::atomic<uint64_t> subscriber_count_ = 0;  // connected
  std::map<SessionKey, HeldPtr> sessions_ KILN_GUARDED_BY(mutex_);
  uint64_t next_number_ KILN_GUARDED_BY(mutex_) = 1;
  uint64_t chunks_ KILN_GUARDED_BY(mutex_) = 0;
  bool draining_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::reload
