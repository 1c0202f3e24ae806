// SPDX-License-Identifier: MIT
// Batches that the next process takes up from their rows.
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"
#include "server/compile/batch/batch_scan.h"
#include "server/compile/batch/test_batch_life.h"
#include "server/compile/calling_store.h"

namespace kiln::compile {
namespace {

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

}  // namespace
}  // namespace kiln::compile
