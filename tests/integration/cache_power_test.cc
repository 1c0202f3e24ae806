// SPDX-License-Identifier: MIT
// Loss of power at any moment: what was not synced is gone, kept or torn, in any order. A store
// always opens, and what it acknowledged is there. See spec/cache 6.5, 12
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/test_directory.h"
#include "tests/integration/cache_records.h"
#include "tests/integration/full_run.h"
#include "tests/support/recording_vfs.h"

namespace kiln::tests {
namespace {

using cache::sqlite::SqliteStore;

constexpr uint64_t kRecordsOfASession = 12;
constexpr uint64_t kRecordsOfABlock = 6;

class CachePower : public testing::Test {
 protected:
  // Sessions of a store: puts, some of them together, with a clean end, at which the WAL is written
  // back. Marks what was acknowledged.
  std::vector<DiskOp> Work(int sessions) {
    RecordingVfs vfs("kiln-recording");
    const TestDirectory directory;
    uint64_t number = 0;
    for (int session = 0; session < sessions; ++session) {
      auto store = SqliteStore::Open({.dir = directory.path(), .vfs = vfs.name()}, clock, log);
      EXPECT_TRUE(store.ok());
      for (uint64_t i = 0; i < kRecordsOfASession; ++i, ++number) {
        EXPECT_TRUE((*store)->Put(NumberedItems(number), cache::Durability::kDurable, {}).ok());
        vfs.Mark(number);
        (void)(*store)->Put(NumberedItems(1'000'000 + number), cache::Durability::kRelaxed, {});
      }
      const uint64_t end = number + kRecordsOfABlock;
      EXPECT_TRUE(
          (*store)->Put(NumberedItemsInABlock(number, end), cache::Durability::kDurable, {}).ok());
      for (; number < end; ++number) {
        vfs.Mark(number);
      }
    }
    return vfs.ops();
  }

  // A store over what the cut left has all that was acknowledged, and nothing wrong.
  void Check(const std::map<std::string, Bytes>& left, const std::set<uint64_t>& acknowledged,
             size_t cut) {
    const TestDirectory directory;
    for (const auto& [name, content] : left) {
      std::ofstream file(directory.path() / name, std::ios::binary);
      file.write(reinterpret_cast<const char*>(content.data()),
                 static_cast<std::streamsize>(content.size()));
    }
    auto store = SqliteStore::Open({.dir = directory.path()}, clock, log);
    ASSERT_TRUE(store.ok()) << "cut " << cut << ": " << ErrorText(store.error());
    for (const uint64_t number : acknowledged) {
      ASSERT_EQ(LookUp(**store, number), Found::kAll) << "cut " << cut << " record " << number;
      ASSERT_NE(LookUp(**store, 1'000'000 + number), Found::kWrong) << "cut " << cut;
    }
    ASSERT_TRUE((*store)->Put(NumberedItems(999), cache::Durability::kDurable, {}).ok());
  }

  SystemClock clock;
  NullLog log;
};

TEST_F(CachePower, CutAtAnyMoment_NothingAcknowledgedIsLost) {
  const std::vector<DiskOp> ops = Work(FullRun() ? 6 : 2);
  ASSERT_GT(ops.size(), 100u);
  const auto cuts = static_cast<size_t>(Rounds(80, 10'000));
  std::mt19937_64 random(6);
  std::multiset<size_t> moments;
  for (size_t i = 0; i < cuts; ++i) {
    moments.insert(random() % ops.size());
  }
  ReplayedDisk disk;
  std::set<uint64_t> acknowledged;
  for (size_t i = 0; i < ops.size() && !HasFatalFailure(); ++i) {
    disk.Do(ops[i]);
    if (ops[i].kind == DiskOp::Kind::kMark) {
      acknowledged.insert(ops[i].offset);
    }
    for (size_t cut = 0; cut < moments.count(i) && !HasFatalFailure(); ++cut) {
      Check(disk.CutHere(random), acknowledged, i);
    }
  }
  std::printf("operations %zu, cuts %zu\n", ops.size(), cuts);
}

// The test can fail: a disk that lies about syncing loses what was acknowledged.
TEST_F(CachePower, DiskThatDoesNotSync_IsFoundOut) {
  const std::vector<DiskOp> ops = Work(1);
  ReplayedDisk disk;
  for (const DiskOp& op : ops) {
    if (op.kind != DiskOp::Kind::kSync) {
      disk.Do(op);
    }
  }
  std::mt19937_64 random(1);
  uint32_t lost = 0;
  for (int i = 0; i < 8; ++i) {
    const TestDirectory directory;
    for (const auto& [name, content] : disk.CutHere(random)) {
      std::ofstream file(directory.path() / name, std::ios::binary);
      file.write(reinterpret_cast<const char*>(content.data()),
                 static_cast<std::streamsize>(content.size()));
    }
    auto store = SqliteStore::Open({.dir = directory.path()}, clock, log);
    lost += !store.ok() || LookUp(**store, 0) != Found::kAll ? 1 : 0;
  }
  EXPECT_GT(lost, 0u);
}

}  // namespace
}  // namespace kiln::tests
