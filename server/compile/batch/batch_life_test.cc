// SPDX-License-Identifier: MIT
// Batches that are paused, cancelled, halted and taken up by the next process. Nothing here runs by
// itself: chunks run when the test says so.
#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"
#include "server/compile/batch/batch.h"
#include "server/compile/batch/batch_scan.h"
#include "server/compile/batch/test_batch.h"
#include "server/compile/calling_store.h"
#include "server/jobs/memory_queue.h"

namespace kiln::compile {
namespace {

constexpr int kResults = 64;

// Six flags, all of them consulted: 64 variants, 64 results.
BatchRequest Request() {
  std::string text;
  std::string condition = "false";
  BatchProgram program;
  for (int i = 0; i < 6; ++i) {
    const std::string flag = "f" + std::to_string(i);
    text += "global " + flag + ": flag false;\n";
    condition += " || " + flag;
    program.space.axes.push_back({.name = flag, .all = true, .values = {}});
  }
  text += "conditional (" + condition + ") setting cull_mode = \"back\";\n";
  FromText(program, "wide", text, "meta");
  return BatchOf(std::move(program));
}

const Hash128 kId = HashBytes(AsBytes("the batch"));

// A daemon's life, as far as batches see it.
struct Process {
  Process(cache::BlobStore& store, cache::BatchRows& rows, jobs::CrashGuard* attempts = nullptr)
      : pool(store, uint64_t{16} << 20),
        builder(store, pool, clock),
        batches(builder, store, queue, clock, {.workers = 2, .rows = &rows, .attempts = attempts}) {
  }

  ~Process() {  // chunks that wait have to come back before the batches may go
    batches.Halt();
    RunChunks(100);
  }

  void Restore() {
    batches.Restore([](const Hash128& id, ByteView spec) -> Result<BatchRequest> {
      if (id != kId || AsText(spec) != "spec") {
        return Error{.code = ErrorCode::kDataLoss, .context = "another build", .reason = {}};
      }
      return Request();
    });
  }

  Result<Batches::StartResult> Start(bool detach, bool quorum = false,
                                     const std::string& starter = {}) {
    const ByteView spec = AsBytes("spec");
    BatchRequest request = Request();
    request.quorum = quorum;
    return batches.Start(
        kId, std::move(request),
        {.detach = detach, .spec = {spec.begin(), spec.end()}, .starter = starter});
  }

  // Runs up to so many chunks; how many there were.
  int RunChunks(int most) {
    int ran = 0;
    while (ran < most && queue.Status().waiting[static_cast<size_t>(jobs::Lane::kBatch)] != 0) {
      std::optional<jobs::DispatchedJob> job = queue.Claim(jobs::LaneChoice::kBoth);
      job->job.run({.stop = job->job.stop, .deadline = job->job.deadline});
      queue.Complete(job->id);
      ++ran;
    }
    return ran;
  }

  BatchSummary Now() { return *batches.Get(kId); }
  std::vector<BatchEvent> Events(uint64_t from = 0) { return *batches.Events(kId, from); }

  SystemClock clock;
  ProgramPool pool;
  CachedBuild builder;
  jobs::MemoryQueue queue{{.interactive = 4, .batch = 64}};
  Batches batches;
};

class BatchLife : public testing::Test {
 protected:
  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{64} << 20}};
  cache::MemoryBatchRows rows;
};

TEST_F(BatchLife, Paused_BuildsNothingUntilItIsResumed) {
  Process process(store, rows);
  ASSERT_TRUE(process.Start(false).ok());
  EXPECT_EQ(process.batches.Pause(kId)->state, BatchState::kPaused);
  process.RunChunks(100);
  EXPECT_EQ(process.Now().progress.results_done, 0u);
  EXPECT_EQ(process.Now().state, BatchState::kPaused);
  EXPECT_EQ(process.batches.Pause(kId)->state, BatchState::kPaused);  // again: the same
  EXPECT_NE(process.batches.Resume(kId)->state, BatchState::kPaused);
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kDone);
  EXPECT_EQ(process.Now().progress.results_done, uint64_t{kResults});
  EXPECT_EQ(process.Events().back().kind, BatchEvent::Kind::kFinal);
  EXPECT_EQ(process.batches.Pause(kId)->state, BatchState::kDone);
  EXPECT_EQ(process.batches.Resume(kId)->state, BatchState::kDone);
}

// Who joins needs no room, and what is over makes room: RoomForBatch has the rest.
TEST_F(BatchLife, WhatIsStoredOfBatches_IsBounded) {
  Process process(store, rows);
  Batches batches(process.builder, store, process.queue, process.clock, {.spec_bytes = 1000});
  struct Row {
    const char* name;
    const char* starter;
    size_t bytes;
    const char* reason;
  };
  const auto start = [&](const Row& row) {
    const auto started = batches.Start(HashBytes(AsBytes(row.name)), Request(),
                                       {.spec = Bytes(row.bytes), .starter = row.starter});
    EXPECT_EQ(started.ok() ? "" : started.error().reason, row.reason) << row.name;
  };
  for (const Row& row : {Row{"a1", "tenant:a", 500, ""}, Row{"a2", "tenant:a", 1, "QUOTA"},
                         Row{"b1", "tenant:b", 250, ""}, Row{"b2", "tenant:b", 1, "QUOTA"},
                         Row{"a1", "tenant:b", 500, ""}, Row{"o1", "owner", 250, ""},
                         Row{"o2", "owner", 1, "QUOTA"}}) {
    start(row);
  }
  process.RunChunks(1000);
  start({"a3", "tenant:a", 400, ""});
  EXPECT_FALSE(batches.Get(HashBytes(AsBytes("a1"))).ok()) << "it was over";
  EXPECT_TRUE(batches.Get(HashBytes(AsBytes("b1"))).ok()) << "nobody needs its room";
  batches.Halt();
  process.RunChunks(1000);
}

// Results stay in memory until their batch is forgotten, whatever its state.
TEST_F(BatchLife, ResultsInMemoryOfOnePrincipal_AreBounded) {
  Process process(store, rows);
  Batches batches(process.builder, store, process.queue, process.clock, {.held_results = kResults});
  const auto build = [&](const std::string& name) {
    const Hash128 id = HashBytes(AsBytes(name));
    EXPECT_TRUE(batches.Start(id, Request(), {.starter = "tenant:b"}).ok());
    process.RunChunks(1000);
    EXPECT_EQ(batches.Get(id)->state, BatchState::kDone) << name;
    return id;
  };
  // What is over makes room for the next one: it has more than half of all that is kept.
  const Hash128 first = build("first"), second = build("second");
  EXPECT_FALSE(batches.Get(first).ok());
  EXPECT_TRUE(batches.Get(second).ok());
  Batches fewer(process.builder, store, process.queue, process.clock,
                {.held_results = kResults - 1});
  const Hash128 id = HashBytes(AsBytes("c"));
  for (const char* const starter : {"owner", "tenant:c"}) {
    ASSERT_TRUE(fewer.Start(id, Request(), {.starter = starter}).ok());
    process.RunChunks(1000);
    const bool is_owner = std::string(starter) == "owner";
    EXPECT_EQ(fewer.Get(id)->state, is_owner ? BatchState::kDone : BatchState::kFailed);
    const std::vector<BatchEvent> events = *fewer.Events(id, 0);
    EXPECT_EQ(std::ranges::any_of(events,
                                  [](const BatchEvent& event) {
                                    return event.text.starts_with("the batches of tenant:c hold");
                                  }),
              !is_owner);
  }
  for (Batches* const all : {&batches, &fewer}) {
    all->Halt();
  }
  process.RunChunks(1000);
}

std::string MessagesOf(Process& process) {
  std::string all;
  for (const BatchEvent& event : process.Events()) {
    all += event.kind == BatchEvent::Kind::kMessage ? event.text + "\n" : std::string();
  }
  return all;
}

TEST_F(BatchLife, OfAnother_IsNotStopped) {
  const cache::Actor mine{.id = "tenant:a", .any = false}, other{.id = "tenant:b", .any = false};
  Process process(store, rows);
  ASSERT_TRUE(process.Start(false, false, mine.id).ok());
  for (const auto change : {&Batches::Pause, &Batches::Resume, &Batches::Cancel}) {
    const Result<BatchSummary> refused = (process.batches.*change)(kId, other);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kPermissionDenied);
    EXPECT_EQ(refused.error().reason, cache::kNotYours);
    EXPECT_NE(refused.error().context.find("tenant:a"), std::string::npos);
  }
  EXPECT_EQ(process.batches.Pause(kId, mine)->state, BatchState::kPaused);
  EXPECT_NE(MessagesOf(process).find("paused by tenant:a"), std::string::npos);
  EXPECT_EQ(process.Now().paused_by, mine.id);
  EXPECT_NE(process.batches.Resume(kId, mine)->state, BatchState::kPaused);
  EXPECT_NE(MessagesOf(process).find("resumed by tenant:a"), std::string::npos);
  EXPECT_EQ(process.Now().paused_by, "");
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kDone);
}

// A daemon that is started again knows who paused what, and watchers hear it once.
TEST_F(BatchLife, PausedBeforeARestart_SaysByWhom) {
  const cache::Actor mine{.id = "tenant:a", .any = false};
  {
    Process process(store, rows);
    ASSERT_TRUE(process.Start(true, false, mine.id).ok());
    ASSERT_TRUE(process.batches.Pause(kId, mine).ok());
    EXPECT_TRUE(process.batches.Pause(kId, mine).ok());
    EXPECT_EQ(MessagesOf(process),
              "paused by tenant:a; it goes on when it is started again, or by "
              "'kiln batch resume " +
                  kId.hex().substr(0, 8) + "'\n");
  }
  Process process(store, rows);
  process.Restore();
  EXPECT_EQ(process.Now().paused_by, mine.id);
  EXPECT_NE(MessagesOf(process).find("paused by tenant:a; "), std::string::npos);
}

// Who starts what somebody else has paused waits for nobody, and nobody stops it under him.
TEST_F(BatchLife, JoinedWhilePaused_GoesOnAndBelongsToBoth) {
  const cache::Actor mine{.id = "tenant:a", .any = false}, other{.id = "tenant:b", .any = false};
  {
    Process process(store, rows);
    ASSERT_TRUE(process.Start(true, false, mine.id).ok());
    (void)process.batches.Pause(kId, mine);
    process.RunChunks(100);
    EXPECT_EQ(process.Now().state, BatchState::kPaused);
    ASSERT_TRUE(process.Start(true, false, other.id)->attached);
    EXPECT_NE(process.Now().state, BatchState::kPaused);
    EXPECT_NE(MessagesOf(process).find("resumed by tenant:b"), std::string::npos);
  }
  Process process(store, rows);  // both are in the row
  process.Restore();
  for (const cache::Actor& actor : {mine, other}) {
    EXPECT_EQ(process.batches.Pause(kId, actor).error().code, ErrorCode::kPermissionDenied);
    EXPECT_EQ(process.batches.Cancel(kId, actor).error().code, ErrorCode::kPermissionDenied);
    EXPECT_TRUE(process.batches.Resume(kId, actor).ok());
  }
  EXPECT_EQ(process.batches.Pause(kId)->state, BatchState::kPaused) << "the owner of the daemon";
  ASSERT_TRUE(process.Start(true, false, mine.id)->attached);
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kDone);
}

// Written by a daemon that allowed more: what a new request may not ask for, an old one does not
// get either, and its owner is told.
TEST_F(BatchLife, RestoredRowThatIsRefused_HasFailedAndSaysWhy) {
  for (int life = 0; life < 2; ++life) {
    Process process(store, rows);
    if (life == 0) {
      ASSERT_TRUE(process.Start(true).ok());
    }
  }
  for (int life = 0; life < 2; ++life) {
    Process process(store, rows);
    process.batches.Restore([](const Hash128&, ByteView) -> Result<BatchRequest> {
      return Error{.code = ErrorCode::kInvalidArgument, .context = "far too much", .reason = {}};
    });
    EXPECT_EQ(process.RunChunks(100), 0);
    EXPECT_EQ(process.Now().state, BatchState::kFailed);
    const std::vector<BatchEvent> events = process.Events();
    EXPECT_EQ(events.back().kind, BatchEvent::Kind::kFinal);
    EXPECT_TRUE(std::ranges::any_of(
        events, [](const BatchEvent& event) { return event.text == "refused: far too much"; }));
  }
}

// What ended three daemons while it was counted is not counted again, whoever asks; two are not
// enough, and to have been counted once clears it.
TEST_F(BatchLife, ScanThatEndedThreeProcesses_IsPoison) {
  const TestDirectory folder;
  const std::string path = folder.path().string() + "/attempts";
  const auto open = [&] { return std::move(jobs::CrashGuard::Open(path, 0, 1000)).value(); };
  const auto die = [&] {
    std::string left;
    {
      const auto attempts = open();
      const jobs::CrashGuard::Running scan(attempts.get(), ScanKey(kId),
                                           jobs::CrashGuard::Running::Place::kBesideOthers);
      left = ReadFile(path).value();
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << left;
  };
  for (const int deaths : {2, 3}) {
    for (int death = 0; death < deaths; ++death) {
      die();
    }
    const auto attempts = open();
    cache::MemoryBatchRows fresh;
    Process process(store, fresh, attempts.get());
    ASSERT_TRUE(process.Start(true).ok());
    process.RunChunks(100);
    EXPECT_EQ(process.Now().state, deaths == 3 ? BatchState::kFailed : BatchState::kDone);
    EXPECT_EQ(process.Now().progress.results_done, deaths == 3 ? 0u : uint64_t{kResults});
  }
}

// A daemon that drains does not wait for a batch that counts: the next one counts.
TEST_F(BatchLife, HaltWhileItScans_StopsTheScanAndKeepsTheRow) {
  {
    CallingStore calling(store);
    Process process(calling, rows);
    calling.on_get = [&](const cache::Key&) { process.batches.Halt(); };  // it scans
    ASSERT_TRUE(process.Start(true).ok());
    EXPECT_EQ(process.RunChunks(100), 1);
    EXPECT_EQ(process.Now().progress.variants_total, 0u) << "it was not scanned";
    EXPECT_NE(process.Now().state, BatchState::kCancelled);
  }
  Process process(store, rows);
  process.Restore();
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kDone);
}

// Nor does CancelBatch.
TEST_F(BatchLife, CancelWhileItScans_EndsTheBatchThere) {
  CallingStore calling(store);
  Process process(calling, rows);
  calling.on_get = [&](const cache::Key&) { (void)process.batches.Cancel(kId); };
  ASSERT_TRUE(process.Start(true).ok());
  EXPECT_EQ(process.RunChunks(100), 1);
  EXPECT_EQ(process.Now().progress.variants_total, 0u) << "it was not scanned";
  EXPECT_EQ(process.Now().state, BatchState::kCancelled);
}

// A store with a fault of ours in it.
class FaultyStore final : public cache::BlobStore {
 public:
  Result<cache::Blob> Get(const cache::Key&, const cache::Call&) override { Break(); }
  Result<cache::PutResult> Put(std::span<const cache::Item>, cache::Durability,
                               const cache::Call&) override {
    Break();
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key>,
                                              const cache::Call&) override {
    Break();
  }
  void Touch(std::span<const cache::Key>) override {}

 private:
  [[noreturn]] static void Break() { throw InternalError("planted"); }
};

TEST_F(BatchLife, InternalErrorOfAChunk_EndsTheBatch) {
  FaultyStore faulty;
  Process process(faulty, rows);
  ASSERT_TRUE(process.Start(false).ok());
  EXPECT_THROW(process.RunChunks(100), InternalError);
  EXPECT_EQ(process.Now().state, BatchState::kFailed);
  EXPECT_EQ(process.Events().back().kind, BatchEvent::Kind::kFinal);
}

// Says how often it was asked to wait for an upstream, which may not answer.
class QuorumStore final : public cache::BlobStore {
 public:
  QuorumStore(cache::BlobStore& below, bool answers) : below_(below), answers_(answers) {}
  Result<cache::Blob> Get(const cache::Key& key, const cache::Call& call) override {
    return below_.Get(key, call);
  }
  Result<cache::PutResult> Put(std::span<const cache::Item> items, cache::Durability durability,
                               const cache::Call& call) override {
    Result<cache::PutResult> stored = below_.Put(items, durability, call);
    durable += durability == cache::Durability::kDurable ? 1 : 0;
    if (durability != cache::Durability::kQuorum) {
      return stored;
    }
    ++waited;
    return answers_ ? stored
                    : Error{.code = ErrorCode::kUnavailable,
                            .context = "nobody is there",
                            .reason = std::string(cache::kUpstreamDown)};
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key> keys,
                                              const cache::Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const cache::Key>) override {}

  int waited = 0;
  int durable = 0;

 private:
  cache::BlobStore& below_;
  const bool answers_;
};

TEST_F(BatchLife, Quorum_IsAskedForAndResultsWithoutItAreNotStored) {
  struct Row {
    bool quorum, answers;
    uint64_t unstored;
  };
  for (const Row& row :
       {Row{true, true, 0}, Row{true, false, uint64_t{kResults}}, Row{false, false, 0}}) {
    cache::MemoryStore below(nullptr, nullptr, {.max_bytes = uint64_t{64} << 20});
    QuorumStore upstream(below, row.answers);
    cache::MemoryBatchRows own_rows;
    Process process(upstream, own_rows);
    ASSERT_TRUE(process.Start(false, row.quorum).ok());
    process.RunChunks(100);
    EXPECT_EQ(process.Now().state, BatchState::kDone);
    EXPECT_EQ(process.Now().progress.results_done, uint64_t{kResults});
    EXPECT_EQ(process.Now().progress.unstored, row.unstored);
    EXPECT_EQ(upstream.waited > 0, row.quorum);
    EXPECT_EQ(upstream.durable > 0, !row.quorum);
  }
}

// What is known here the upstream may never have seen: it is asked for it as for what is new.
TEST_F(BatchLife, QuorumOfWhatIsKnown_IsAskedForToo) {
  for (const bool answers : {true, false}) {
    cache::MemoryStore below(nullptr, nullptr, {.max_bytes = uint64_t{64} << 20});
    QuorumStore upstream(below, answers);
    cache::MemoryBatchRows own_rows;
    Process process(upstream, own_rows);
    for (const bool quorum : {false, true, true}) {
      upstream.waited = 0;
      ASSERT_TRUE(process.Start(false, quorum).ok());
      process.RunChunks(100);
      EXPECT_EQ(process.Now().state, BatchState::kDone);
      EXPECT_EQ(process.Now().progress.unstored, quorum && !answers ? uint64_t{kResults} : 0u);
      EXPECT_EQ(upstream.waited > 0, quorum);
    }
  }
}

TEST_F(BatchLife, CancelledWhilePaused_Ends) {
  Process process(store, rows);
  ASSERT_TRUE(process.Start(false).ok());
  (void)process.batches.Pause(kId);
  process.RunChunks(100);
  EXPECT_EQ(process.batches.Cancel(kId)->state, BatchState::kCancelled);
  EXPECT_EQ(process.Events().back().state, BatchState::kCancelled);
  EXPECT_EQ(rows.Get(kId)->state, static_cast<uint32_t>(BatchState::kCancelled));
}

// What was answered holds, however soon the process ends: the row says so before.
TEST_F(BatchLife, CancelledWhileItWorks_IsCancelledInTheNextProcess) {
  for (const bool halted : {false, true}) {
    cache::MemoryStore own_store(nullptr, nullptr, {.max_bytes = uint64_t{64} << 20});
    cache::MemoryBatchRows own_rows;
    {
      CallingStore calling(own_store);
      Process first(calling, own_rows);
      bool cancelled = false;
      calling.on_get = [&](const cache::Key&) {  // a chunk is at work
        if (!std::exchange(cancelled, true)) {
          EXPECT_EQ(first.batches.Cancel(kId)->state, BatchState::kCancelled);
          EXPECT_EQ(own_rows.Get(kId)->state, static_cast<uint32_t>(BatchState::kCancelled));
        }
        if (halted) {
          first.batches.Halt();
        }
      };
      ASSERT_TRUE(first.Start(true).ok());
      first.RunChunks(100);
      EXPECT_EQ(first.Now().state, BatchState::kCancelled);
    }
    Process second(own_store, own_rows);
    second.Restore();
    EXPECT_EQ(second.RunChunks(100), 0);
    EXPECT_EQ(second.Now().state, BatchState::kCancelled);
  }
}

TEST_F(BatchLife, Detached_GoesOnInTheNextProcessAndFindsWhatIsDone) {
  uint64_t seen = 0;
  {
    Process first(store, rows);
    ASSERT_TRUE(first.Start(true).ok());
    EXPECT_EQ(rows.Get(kId)->state, static_cast<uint32_t>(BatchState::kQueued));
    first.RunChunks(1);  // all of it, or a slice
    first.batches.Halt();
    seen = first.Events().back().seq;
  }
  Process second(store, rows);
  // The row still says that it runs, unless the first chunk was all: then it says so.
  second.Restore();
  second.RunChunks(100);
  EXPECT_EQ(second.Now().state, BatchState::kDone);
  for (const BatchEvent& event : second.Events(seen)) {
    EXPECT_GT(event.seq, seen);
  }
}

TEST_F(BatchLife, HaltedBeforeItBegan_IsRunWholeByTheNextProcess) {
  {
    Process first(store, rows);
    ASSERT_TRUE(first.Start(true).ok());
    first.batches.Halt();
    first.RunChunks(100);
    EXPECT_EQ(first.Now().progress.results_done, 0u);
  }
  Process second(store, rows);
  second.Restore();
  EXPECT_GT(second.RunChunks(100), 0);
  EXPECT_EQ(second.Now().state, BatchState::kDone);
  EXPECT_EQ(second.Now().progress.results_done, uint64_t{kResults});
}

TEST_F(BatchLife, Attached_WaitsForItsClientWhoMayWrite) {
  {
    Process first(store, rows);
    ASSERT_TRUE(first.Start(false).ok());
    first.batches.Halt();
    first.RunChunks(100);
  }
  Process second(store, rows);
  second.Restore();
  EXPECT_EQ(second.RunChunks(100), 0);
  EXPECT_EQ(second.Now().state, BatchState::kQueued);
  EXPECT_TRUE(second.Now().waits);
  const auto reader = second.batches.Subscribe(kId, Batches::Wakes::kNo, [] {});
  EXPECT_EQ(second.RunChunks(100), 0);
  EXPECT_TRUE(second.Now().waits);
  ASSERT_EQ(second.Events().size(), 1u);  // what is known of it, and no end
  EXPECT_EQ(second.Events().front().kind, BatchEvent::Kind::kProgress);
  const auto watcher = second.batches.Subscribe(kId, Batches::Wakes::kYes, [] {});
  EXPECT_FALSE(second.Now().waits);
  EXPECT_GT(second.RunChunks(100), 0);
  EXPECT_EQ(second.Now().state, BatchState::kDone);
}

TEST_F(BatchLife, Paused_StaysPausedInTheNextProcess) {
  {
    Process first(store, rows);
    ASSERT_TRUE(first.Start(true).ok());
    (void)first.batches.Pause(kId);
    first.RunChunks(100);
  }
  Process second(store, rows);
  second.Restore();
  EXPECT_EQ(second.RunChunks(100), 0);
  EXPECT_EQ(second.Now().state, BatchState::kPaused);
  (void)second.batches.Resume(kId);
  second.RunChunks(100);
  EXPECT_EQ(second.Now().state, BatchState::kDone);
}

TEST_F(BatchLife, Done_IsKnownToTheNextProcessByItsCounts) {
  {
    Process first(store, rows);
    ASSERT_TRUE(first.Start(true).ok());
    first.RunChunks(100);
  }
  Process second(store, rows);
  second.Restore();
  EXPECT_EQ(second.Now().state, BatchState::kDone);
  EXPECT_EQ(second.Now().progress.results_done, uint64_t{kResults});
  EXPECT_EQ(second.Events().back().kind, BatchEvent::Kind::kFinal);
  EXPECT_EQ(second.batches.Results(kId).error().reason, "BATCH_FORGOTTEN");
  const Result<Batches::StartResult> again = second.Start(true);
  EXPECT_FALSE(again->attached);
  second.RunChunks(100);
  EXPECT_EQ(second.batches.Results(kId)->size(), size_t{kResults});
  EXPECT_EQ(second.Now().progress.compiled, 0u);  // all of it was found
}

TEST_F(BatchLife, RowOfAnotherBuild_IsDropped) {
  ASSERT_TRUE(rows.Put({.id = HashBytes(AsBytes("x")), .spec = {}, .state = 1, .counts = {}}).ok());
  Process process(store, rows);
  process.Restore();
  EXPECT_TRUE(process.batches.List().empty());
  EXPECT_TRUE(rows.List(std::nullopt, 10)->empty());
}

TEST_F(BatchLife, SeqThatIsGone_BeginsWithAFullProgress) {
  {
    Process first(store, rows);
    ASSERT_TRUE(first.Start(true).ok());
    first.batches.Halt();
    first.RunChunks(100);
  }
  Process second(store, rows);
  second.Restore();
  second.RunChunks(100);
  const std::vector<BatchEvent> events = second.Events(1);
  EXPECT_EQ(events.front().kind, BatchEvent::Kind::kProgress);
  EXPECT_EQ(events.front().progress.results_done, uint64_t{kResults});
  EXPECT_EQ(second.Events(~uint64_t{0}).size(), events.size());  // of nobody: from the start
}

TEST_F(BatchLife, Budget_EndsTheBatchWhereItIsUsedUp) {
  Process process(store, rows);
  BatchRequest request = Request();
  request.budget.output = 1;
  ASSERT_TRUE(process.batches.Start(kId, std::move(request)).ok());
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kFailed);
  EXPECT_TRUE(process.Now().progress.over_budget);
  EXPECT_LT(process.Now().progress.results_done, uint64_t{kResults});
}

TEST_F(BatchLife, Items_AreListedByKindWithWhatTheyServe) {
  Process process(store, rows);
  BatchRequest request = Request();
  request.programs[0].space.axes.resize(2);
  ASSERT_TRUE(process.batches.Start(kId, std::move(request)).ok());
  process.RunChunks(100);
  EXPECT_EQ(process.batches.Items(kId, {}, 0, 100)->items.size(), 4u);
  EXPECT_EQ(process.batches.Items(kId, {}, 3, 100)->items.size(), 1u);
  EXPECT_EQ(process.batches.Items(kId, {}, 1, 2)->items.size(), 2u);
  EXPECT_EQ(process.batches.Items(kId, {}, 1, 2)->in_all, 4u);
  EXPECT_EQ(process.batches.Items(kId, {}, 9, 2)->items.size(), 0u);
  EXPECT_EQ(process.batches.Items(kId, {.failed = true}, 0, 100)->items.size(), 0u);
  EXPECT_EQ(process.batches.Items(kId, {.slow = true}, 0, 100)->items.size(), 4u);
  EXPECT_EQ(process.batches.Items(kId, {.deduped = true}, 0, 100)->items.size(), 0u);
  EXPECT_FALSE(process.batches.Items(HashBytes(AsBytes("y")), {}, 0, 100).ok());
}

TEST_F(BatchLife, SumOfOrigins_IsTheNumberOfResults) {
  Process process(store, rows);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(process.Start(true).ok());
    process.RunChunks(100);
    const BatchProgress progress = process.Now().progress;
    EXPECT_EQ(progress.hit_memory + progress.hit_local + progress.shared + progress.compiled,
              progress.results_done);
    EXPECT_EQ(progress.results_upper, uint64_t{kResults});
  }
}

}  // namespace
}  // namespace kiln::compile
