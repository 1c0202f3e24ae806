// SPDX-License-Identifier: MIT
// Disk errors, full disks and torn writes at every call of the storage layer: a clear error or a
// degraded store, then full recovery, and nothing acknowledged is lost. See spec/cache 6.10, 12.
#include <algorithm>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"
#include "tests/integration/cache_records.h"
#include "tests/integration/full_run.h"
#include "tests/support/fault_vfs.h"

namespace kiln::tests {
namespace {

using cache::sqlite::SqliteOptions;
using cache::sqlite::SqliteStore;

constexpr uint64_t kRecordsAlone = 6;
constexpr uint64_t kRecords = kRecordsAlone + 5;  // those behind them lie in a block

class CacheFault : public testing::Test {
 protected:
  // Opens, puts, gets and closes; the numbers that were acknowledged. Every answer is checked.
  std::vector<uint64_t> Work(const SqliteOptions& options) {
    std::vector<uint64_t> acknowledged;
    auto store = SqliteStore::Open(options, clock, log);
    if (!store.ok()) {
      EXPECT_FALSE(store.error().context.empty());
      return acknowledged;
    }
    for (uint64_t number = 0; number < kRecordsAlone; ++number) {
      if ((*store)->Put(NumberedItems(number), cache::Durability::kDurable, {}).ok()) {
        acknowledged.push_back(number);
      }
      EXPECT_NE(LookUp(**store, number / 2), Found::kWrong);
    }
    if ((*store)
            ->Put(NumberedItemsInABlock(kRecordsAlone, kRecords), cache::Durability::kDurable, {})
            .ok()) {
      for (uint64_t number = kRecordsAlone; number < kRecords; ++number) {
        acknowledged.push_back(number);
      }
    }
    for (uint64_t number = kRecordsAlone; number < kRecords; ++number) {
      EXPECT_NE(LookUp(**store, number), Found::kWrong);
    }
    return acknowledged;
  }

  SystemClock clock;
  NullLog log;
  FaultVfs vfs{"kiln-fault"};
};

TEST_F(CacheFault, AnyCallOfTheDiskFails_NothingAcknowledgedIsLost) {
  uint64_t calls = 0;
  {
    const TestDirectory directory;
    vfs.Disarm();
    ASSERT_EQ(Work({.dir = directory.path(), .vfs = vfs.name()}).size(), kRecords);
    calls = vfs.calls();
  }
  ASSERT_GT(calls, 50u);
  const uint64_t step = FullRun() ? 1 : std::max<uint64_t>(1, calls / 25);
  for (const DiskFault fault : {DiskFault::kIoError, DiskFault::kFull, DiskFault::kShortWrite}) {
    for (uint64_t call = static_cast<uint64_t>(fault); call < calls; call += step) {
      const TestDirectory directory;
      vfs.Arm(call, fault, call % 2);  // a third failing read in a minute gives the file up
      const std::vector<uint64_t> acknowledged = Work({.dir = directory.path(), .vfs = vfs.name()});
      vfs.Disarm();
      auto store = SqliteStore::Open({.dir = directory.path(), .vfs = vfs.name()}, clock, log);
      ASSERT_TRUE(store.ok()) << "call " << call << ": " << ErrorText(store.error());
      for (const uint64_t number : acknowledged) {
        ASSERT_EQ(LookUp(**store, number), Found::kAll) << "call " << call << " record " << number;
      }
      ASSERT_TRUE((*store)->Put(NumberedItems(99), cache::Durability::kDurable, {}).ok());
      ASSERT_EQ(LookUp(**store, 99), Found::kAll) << "call " << call;
    }
  }
  std::printf("calls %lu, step %lu\n", calls, step);
}

TEST_F(CacheFault, FullDisk_RefusesPutsServesReadsAndRecovers) {
  const TestDirectory directory;
  FakeClock clock;
  auto store = *SqliteStore::Open({.dir = directory.path(), .vfs = vfs.name()}, clock, log);
  ASSERT_TRUE(store->Put(NumberedItems(1), cache::Durability::kDurable, {}).ok());
  vfs.Arm(0, DiskFault::kFull, UINT64_MAX / 2);
  const Result<cache::PutResult> refused =
      store->Put(NumberedItems(2), cache::Durability::kDurable, {});
  vfs.Disarm();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kFull) << ErrorText(refused.error());
  EXPECT_TRUE(store->Status().full);
  EXPECT_EQ(store->Put(NumberedItems(2), cache::Durability::kDurable, {}).error().code,
            ErrorCode::kFull);
  EXPECT_EQ(LookUp(*store, 1), Found::kAll);
  clock.Advance(std::chrono::seconds(31));
  EXPECT_TRUE(store->Put(NumberedItems(2), cache::Durability::kDurable, {}).ok());
  EXPECT_FALSE(store->Status().full);
}

TEST_F(CacheFault, FullDiskAtTheStart_IsOpenedLaterWithoutARestart) {
  const TestDirectory directory;
  for (const DiskFault fault : {DiskFault::kFull, DiskFault::kIoError}) {
    vfs.Arm(0, fault, UINT64_MAX / 2);
    auto store = SqliteStore::Open({.dir = directory.path(), .vfs = vfs.name(), .must_own = true},
                                   clock, log);
    ASSERT_TRUE(store.ok()) << ErrorText(store.error());
    EXPECT_FALSE((*store)->Status().open);
    EXPECT_EQ(LookUp(**store, 1), Found::kMissing);
    EXPECT_FALSE((*store)->Put(NumberedItems(1), cache::Durability::kDurable, {}).ok());
    vfs.Disarm();
    EXPECT_TRUE(WaitUntil([&] { return (*store)->Status().open; }));
    ASSERT_TRUE((*store)->Put(NumberedItems(1), cache::Durability::kDurable, {}).ok());
    EXPECT_EQ(LookUp(**store, 1), Found::kAll);
    EXPECT_FALSE((*store)->Status().full);
    store->reset();
    std::filesystem::remove(directory.path() / "cache.db");
  }
}

TEST_F(CacheFault, ReadErrors_AreMisses) {
  const TestDirectory directory;
  ASSERT_EQ(Work({.dir = directory.path()}).size(), kRecords);
  auto store = *SqliteStore::Open({.dir = directory.path(), .vfs = vfs.name()}, clock, log);
  vfs.Arm(0, DiskFault::kIoError, UINT64_MAX / 2);
  EXPECT_EQ(LookUp(*store, 1), Found::kMissing);
  vfs.Disarm();
}

TEST_F(CacheFault, ReadErrorsThatGoOn_GiveTheFileUp) {
  const TestDirectory directory;
  ASSERT_EQ(Work({.dir = directory.path()}).size(), kRecords);
  auto store = *SqliteStore::Open({.dir = directory.path(), .vfs = vfs.name()}, clock, log);
  EXPECT_FALSE(store->Get(NumberedItems(50)[0].key, {}).ok());  // opens a reader
  vfs.Arm(0, DiskFault::kIoError, UINT64_MAX / 2);
  for (uint64_t number = 0; number < kRecords; ++number) {
    EXPECT_EQ(LookUp(*store, number), Found::kMissing);
  }
  vfs.Disarm();
  // The maintenance thread of the store sets the file aside.
  EXPECT_TRUE(
      WaitUntil([&] { return std::filesystem::exists(directory.path() / "cache.corrupt-1.db"); }));
  Result<cache::PutResult> stored = Error{};
  EXPECT_TRUE(WaitUntil([&] {
    stored = store->Put(NumberedItems(1), cache::Durability::kDurable, {});
    return stored.ok();
  }));
  ASSERT_TRUE(stored.ok()) << ErrorText(stored.error());
  EXPECT_EQ(LookUp(*store, 1), Found::kAll);
  EXPECT_EQ(LookUp(*store, 2), Found::kMissing);
}

// Runs as nobody, who gets it all, when the test runs as root, whom no permission stops.
TEST_F(CacheFault, DirectoryThatMayNotBeWritten_IsReadAndSaysSo) {
  constexpr uid_t kNobody = 65'534;
  const uid_t user = ::geteuid() == 0 ? kNobody : ::geteuid();
  const TestDirectory directory;
  ASSERT_EQ(Work({.dir = directory.path()}).size(), kRecords);
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    ASSERT_EQ(::chmod(entry.path().c_str(), 0444), 0);
    ASSERT_EQ(::chown(entry.path().c_str(), user, static_cast<gid_t>(-1)), 0);
  }
  ASSERT_EQ(::chmod(directory.path().c_str(), 0555), 0);
  ASSERT_EQ(::chown(directory.path().c_str(), user, static_cast<gid_t>(-1)), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() != user && ::setuid(user) != 0) {
      ::_exit(10);
    }
    RecordingLog log;
    auto store = SqliteStore::Open({.dir = directory.path()}, clock, log);
    const bool good =
        store.ok() && (*store)->Status().read_only && LookUp(**store, 2) == Found::kAll &&
        (*store)->Put(NumberedItems(7), cache::Durability::kDurable, {}).error().reason ==
            cache::kReadOnly &&
        log.Lines().size() == 1;
    ::_exit(good ? 0 : 11);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(::chmod(directory.path().c_str(), 0755), 0);
}

}  // namespace
}  // namespace kiln::tests
