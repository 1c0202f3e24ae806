// SPDX-License-Identifier: MIT
// One watch session: the programs of a workspace as they are now, what subscribers know of them,
// and what is to be built. A source client's pushes and the results of work come in; events for
// every subscriber come out. A newer generation takes over what an older one left. spec/daemon 8
//
// Threads: none of its own; whoever owns it has a lock. Nothing here builds or waits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/digest.h"
#include "server/jobs/job.h"
#include "server/reload/event_log.h"
#include "server/reload/generation.h"
#include "server/reload/included_files.h"
#include "server/reload/session_key.h"
#include "server/reload/source_index.h"
#include "server/reload/watch_counters.h"
#include "server/reload/watched.h"
#include "server/reload/wish.h"

namespace kiln::reload {

struct Subscriber {
  Wish wish;
  EventLog log;
  uint64_t attached = 0;       // number of the stream; 0: the connection is gone
  Duration left_at{};          // when it went
  std::function<void()> wake;  // there are events; called with the owner's lock

  void Wake() const {
    if (attached != 0) {
      wake();
    }
  }
};

class Session {
 public:
  // Clock and counters must outlive the session.
  Session(const SessionKey& key, uint64_t epoch, Clock& clock, WatchCounters& counters)
      : whose_{.project = key.project, .session = key.Id()},
        epoch_(epoch),
        clock_(clock),
        counters_(counters) {}

  // Errors: kResourceExhausted, LIMIT_EXCEEDED; then nothing was changed.
  Result<void> Push(PushedChange change);

  // A client that is new, or whose events are gone: Opened, then the whole state, in brackets if it
  // wanted to go on. `programs`, if not null, are what it is about to push.
  enum class ResumeMode : uint8_t { kNo, kFailed };
  void Begin(const std::string& id, Wish wish, ResumeMode resuming,
             const std::vector<WatchedProgram>* programs);
  // For a client that goes on where it was.
  SessionOpened OpenedFor(bool resumed) const;
  // Its wish is new: what is not there yet is built.
  void Want(const std::string& id, Wish wish);
  // The client has all there is of a session in which nothing goes on: says so, to it alone.
  void TellIfSettled(const std::string& id);
  std::map<std::string, Subscriber>& subscribers() { return subscribers_; }
  bool has_source() const;
  void Tell(EventBody body);  // to all
  void Tell(Subscriber& subscriber, EventBody body);

  // Work for one lane, nobody else's until it is given back with Return.
  struct WorkItem {
    std::string program;
    std::shared_ptr<ProgramWork> work;
  };
  std::optional<WorkItem> Take(jobs::Lane lane);
  size_t Waiting(jobs::Lane lane) const { return waiting_[static_cast<size_t>(lane)].size(); }
  // What a step brought. False if the work is not wanted any more.
  bool Absorb(const WorkItem& taken, StepResult result);
  void Return(const WorkItem& taken);
  // Nobody is here any more.
  void Stop();
  // Nobody is connected. What is not built yet is built when somebody comes back: Want.
  void Rest();
  // The work was lost to a bug.
  void Abandon(const WorkItem& taken);

  bool settled() const { return !open_; }

 private:
  struct ArtifactState {
    OptionsPtr options;
    std::shared_ptr<const compile::Artifact> artifact;
    Hash128 state;  // artifact::StateHash of its metadata
  };
  static Change ChangeOf(const ArtifactState& before, const BuiltVariant& now);
  struct Program {
    WatchedProgram is;
    std::set<std::string> removed;  // of its sources
    std::map<std::pair<std::string, std::string>, ArtifactState>
        last_good;                     // by variant and target
    DiagnosticsPtr diagnostics;        // null: nothing to say
    std::vector<std::string> targets;  // that last_good is about
    std::vector<Hash128> entries;      // of the last pass that was well, by target
    std::shared_ptr<ProgramWork> work;
    bool taken = false;
    ProbedPaths probed;   // by includes of its sources as they are; null: not known
    bool stale = false;   // nobody wanted it when it changed
    bool sent = false;    // the work brought artifacts
    DiagnosticsPtr said;  // by the work
  };

  void Take(const PushedChange& change, std::set<std::string>& affected);
  Result<void> TakeIncluded(const PushedChange& change, std::set<std::string>& affected);
  void Replace(std::vector<WatchedProgram> programs, std::set<std::string>& paths,
               std::set<std::string>& affected);
  void NextGeneration(const std::set<std::string>& paths, const std::set<std::string>& affected);
  void Renew(const std::string& name, Program& program);
  void DropWork(Program& program);
  void Finish(const std::string& name, Program& program);
  void SettleIfDone();
  enum class StateScope : uint8_t { kAll, kArtifacts };
  void SendState(const std::string& name, const Program& program, StateScope what, Subscriber& to);
  void SendDiagnostics(const std::string& name, Program& program, const DiagnosticsPtr& all);
  bool Knows(const Program& program, const Wish& wish, const std::string& name) const;
  std::vector<compile::NamedTarget> WantedTargets(const std::string& name,
                                                  const Program& program) const;
  std::vector<Interest> InterestIn(const std::string& name) const;
  void TellHearers(const std::string& program, const std::string* target, const EventBody& body);

  const WorkOwner whose_;
  const uint64_t epoch_;
  Clock& clock_;
  WatchCounters& counters_;
  std::map<std::string, Program> programs_;
  SourceIndex sources_;  // of the programs
  std::map<std::string, Subscriber> subscribers_;
  std::deque<std::string> waiting_[jobs::kLaneCount];  // programs; some need nothing any more
  uint64_t generation_ = 0;
  bool open_ = false;  // not settled
  Duration began_{};
  ProgramsSettled counts_;
  uint64_t working_ = 0;  // programs
};

}  // namespace kiln::reload
