// SPDX-License-Identifier: MIT
// Batches: every allowed variant of several programs, built or found in chunks on the batch lane,
// with events that any number of watchers read. A batch is its request; its progress is the content
// of the cache, so starting it again resumes it, and a row per batch is all that a restart of the
// daemon needs. See spec/daemon 4.2, 7
//
// Batches is what others call. The rest has files of its own: batch_check what is refused at once,
// batch_scan what is to be built, batch_work the building, batch_journal the row, and BatchRun the
// state of one batch that they share.
//
// Threads: all functions of Batches may run concurrently. Its mutex guards which runs there are;
// one mutex per batch guards its events and counts (BatchRun); building runs outside of both.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/leases/actor.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "server/compile/batch/batch_context.h"
#include "server/compile/batch/batch_progress.h"
#include "server/compile/batch/batch_request.h"
#include "server/compile/batch/batch_run.h"
#include "server/compile/batch/batch_work.h"
#include "server/compile/batch/former_results.h"
#include "server/compile/cached_build.h"
#include "server/compile/explainer.h"

namespace kiln::compile {

class Batches {
 public:
  using Options = BatchOptions;

  // All must outlive the object, those of the options too.
  Batches(CachedBuild& builder, cache::BlobStore& store, jobs::JobQueue& queue, Clock& clock,
          const Options& options)
      : context_{.builder = builder,
                 .store = store,
                 .queue = queue,
                 .clock = clock,
                 .options = options},
        worker_(context_) {}
  ~Batches();

  struct StartResult {
    Hash128 id;
    bool attached = false;  // a batch of the same id was running already
  };
  struct StartHow {
    bool detach = false;         // goes on by itself after a restart
    Bytes spec;                  // what Restore decodes the request from
    std::string owner = {};      // who started it, for people
    std::string tenant = {};     // whose share of the lane it uses
    std::string starter = {};    // the principal that may pause and cancel it; empty: the owner
    std::string pin_owner = {};  // as whose its results are pinned
    FormerResults former = {};   // what FormerOf gave for the request
  };
  // `id` names the request: equal requests, equal id. Who starts what is going joins it, and it
  // goes on if it was paused. When it returns the batch survives the death of the process. Errors:
  // those of the queue.
  Result<StartResult> Start(const Hash128& id, BatchRequest request, StartHow how);
  Result<StartResult> Start(const Hash128& id, BatchRequest request) {
    return Start(id, std::move(request), {});
  }

  // A batch of which nothing changed: an equal one is done, all its results were right and stored,
  // and the store has lost nothing since it began. It is over when this returns, with the results
  // of the one before as hits of memory, whatever their number: no program is prepared and no point
  // looked up. Nothing if there is no such batch, if it pins its results, or if they are to be
  // acknowledged by an upstream: Start has to look.
  std::optional<StartResult> Repeat(const Hash128& id, StartHow how);

  // What stands for programs of a batch that is to be started: results of the latest batch of the
  // project that is done, for programs that are the same there and here, while the store has lost
  // nothing since that began. Start forgets it if something is lost meanwhile.
  FormerResults FormerOf(const BatchRequest& request);

  // Takes up the batches of an earlier process. Detached ones that had not ended go on; attached
  // ones when somebody who may write starts, watches or resumes them; paused ones stay paused. Rows
  // that `decode`
  // cannot read are dropped; what it reads and refuses, as a new one would be, has failed and says
  // why. To be called once, before anything else.
  using Decode = std::function<Result<BatchRequest>(const Hash128& id, ByteView spec)>;
  void Restore(const Decode& decode);

  // Events after `from_seq`. The last 4,096 are kept; if the next one is not among them, or
  // `from_seq` is not of this batch, the first is a full progress event. Errors: kNotFound.
  Result<std::vector<BatchEvent>> Events(const Hash128& id, uint64_t from_seq);

  // Calls back from some thread whenever there are new events, until the returned token goes. A
  // restored batch that waits for its client goes on if the subscriber may write: whoever may only
  // read starts nothing. Errors: kNotFound.
  enum class Wakes : uint8_t { kNo, kYes };
  Result<std::shared_ptr<void>> Subscribe(const Hash128& id, Wakes wakes,
                                          std::function<void()> on_events);

  // These three change nothing of a batch that is over. A batch is of those who started it: each
  // may resume it, but pause or cancel it only as long as no other has joined. Errors: those of the
  // rows if it is done and not stored, so that it may not outlive the process; kNotFound;
  // kPermissionDenied, NOT_YOURS.
  Result<BatchSummary> Cancel(const Hash128& id, const cache::Actor& actor = {});
  // Running variants end first. Watchers are told by whom.
  Result<BatchSummary> Pause(const Hash128& id, const cache::Actor& actor = {});
  Result<BatchSummary> Resume(const Hash128& id, const cache::Actor& actor = {});
  Result<BatchSummary> Get(const Hash128& id);
  std::vector<BatchSummary> List();  // latest first
  BatchTotals Totals();
  // Distinct results so far, in order of program and meeting. Errors: kNotFound;
  // kFailedPrecondition, BATCH_FORGOTTEN, if it ended before the daemon was restarted.
  Result<BatchResults> Results(const Hash128& id);
  // Those of some kinds and the failures, with the variants that each serves: `count` of them from
  // the number `first` on. Errors: as Results.
  struct ItemPage {
    BatchItems items;
    size_t in_all = 0;
  };
  Result<ItemPage> Items(const Hash128& id, const ItemKinds& kinds, size_t first, size_t count);
  Result<MissHistogram> Misses(const Hash128& id);  // so far; errors: kNotFound
  // The request of a batch, to look its results up again. Errors: kNotFound.
  Result<std::shared_ptr<const BatchRequest>> Request(const Hash128& id);

  // Starts no further chunk and ends those that scan: batches go on in the next process. For
  // draining.
  void Halt();
  // The same, and waits for running chunks. Rows say where each batch was.
  void CancelAll();

 private:
  BatchRunPtr Find(const Hash128& id);
  // A run that somebody starts now.
  BatchRunPtr NewRun(const Hash128& id, BatchRequest request, StartHow how);
  // Takes batches that are over from runs_, as RoomForBatch says, for one that comes. Errors: those
  // of it.
  Result<std::vector<BatchRunPtr>> MakeRoom(const BatchRun& next, const std::string& starter)
      KILN_REQUIRES(mutex_);
  // Counts the results of whoever started a batch first.
  std::shared_ptr<HeldResults> HeldBy(std::string_view starter) KILN_REQUIRES(mutex_);
  void RemoveRows(const std::vector<BatchRunPtr>& dropped);

  BatchContext context_;
  BatchWorker worker_;
  Mutex mutex_;  // before the lock of a run, where both are taken
  std::map<Hash128, BatchRunPtr> runs_ KILN_GUARDED_BY(mutex_);
  BatchTotals gone_ KILN_GUARDED_BY(mutex_);  // of runs that were in runs_
  std::map<std::string, std::weak_ptr<HeldResults>> held_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::compile
