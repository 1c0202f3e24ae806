// SPDX-License-Identifier: MIT
// kill -9 at random moments while several writers run: nothing acknowledged is lost, nothing is
// wrong, the next start is quick. See spec/cache 12.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <iterator>
#include <numeric>
#include <random>
#include <span>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cache/decorators/compressing_store.h"
#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"
#include "tests/integration/cache_records.h"
#include "tests/integration/full_run.h"

namespace kiln::tests {
namespace {

using cache::sqlite::SqliteStore;

constexpr int kWriters = 4;
constexpr uint64_t kMostRecordsOfAPut = 128;
constexpr int kPipeBytes = 1 << 20;
constexpr uint64_t kNumbersPerRound = 1'000'000;
constexpr size_t kAcknowledgedOfAFullRun = 1'000'000;

// One put of `count` records; reports their numbers once they were acknowledged. Half of the puts
// are those of a batch: content by content, which waits for more of its kind, and then the rows.
void PutSome(cache::BlobStore& store, std::atomic<uint64_t>& next, uint64_t count,
             int acknowledged_fd) {
  std::vector<cache::Item> items;
  std::vector<uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), next.fetch_add(count));
  for (const uint64_t number : numbers) {
    std::vector<cache::Item> record = NumberedItems(number);
    if (numbers.front() % 2 == 0) {
      if (!store.Put(std::span(record).first(1), cache::Durability::kRelaxed, {}).ok()) {
        return;
      }
      record.erase(record.begin());
    }
    std::ranges::move(record, std::back_inserter(items));
  }
  const size_t bytes = numbers.size() * sizeof(uint64_t);
  if (store.Put(items, cache::Durability::kDurable, {}).ok() &&
      ::write(acknowledged_fd, numbers.data(), bytes) != static_cast<ssize_t>(bytes)) {
    ::_exit(2);
  }
}

// Puts records from `first` on in calls of one to many and reports each number once it was
// acknowledged. Never returns.
[[noreturn]] void Write(const std::filesystem::path& dir, uint64_t first, int acknowledged_fd) {
  SystemClock clock;
  NullLog log;
  auto store = SqliteStore::Open({.dir = dir}, clock, log);
  if (!store.ok()) {
    ::_exit(1);
  }
  cache::CompressingStore compressing(**store, **store, &(*store)->dictionaries());
  std::atomic<uint64_t> next = first;
  std::vector<std::jthread> writers;
  writers.reserve(kWriters);
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      std::mt19937_64 random(first + static_cast<uint64_t>(i));
      for (;;) {
        PutSome(compressing, next, 1 + random() % kMostRecordsOfAPut, acknowledged_fd);
      }
    });
  }
  for (;;) {
    ::pause();
  }
}

std::vector<uint64_t> ReadAll(int fd) {
  std::vector<uint64_t> numbers;
  uint64_t number = 0;
  while (::read(fd, &number, sizeof(number)) == sizeof(number)) {
    numbers.push_back(number);
  }
  return numbers;
}

// One life of a writing process; the numbers that it acknowledged.
std::vector<uint64_t> LiveAndDie(const std::filesystem::path& dir, uint64_t first,
                                 std::mt19937& random) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  ::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    Write(dir, first, ends[1]);
  }
  ::close(ends[1]);
  // A pipe of a MiB holds 131,072 numbers, which no life is long enough to write.
  LetPass(std::chrono::microseconds(10'000 + random() % 240'000));
  if (random() % 4 == 0) {
    ::kill(child, SIGSTOP);
    LetPass(std::chrono::milliseconds(random() % 10));
    ::kill(child, SIGCONT);
    LetPass(std::chrono::milliseconds(random() % 10));
  }
  ::kill(child, SIGKILL);
  std::vector<uint64_t> acknowledged = ReadAll(ends[0]);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  return acknowledged;
}

TEST(CacheKill, KilledWhileWriting_NothingAcknowledgedIsLost) {
  const TestDirectory directory;
  SystemClock clock;
  RecordingLog log;
  std::mt19937 random(11);
  std::vector<uint64_t> all;
  double slowest_start_s = 0;
  int kills = 0;
  for (; kills < Rounds(20, 1000) || (FullRun() && all.size() < kAcknowledgedOfAFullRun); ++kills) {
    const std::vector<uint64_t> acknowledged =
        LiveAndDie(directory.path(), static_cast<uint64_t>(kills) * kNumbersPerRound, random);
    all.insert(all.end(), acknowledged.begin(), acknowledged.end());
    const Duration start = clock.Monotonic();
    auto store = SqliteStore::Open({.dir = directory.path()}, clock, log);
    ASSERT_TRUE(store.ok()) << ErrorText(store.error());
    slowest_start_s =
        std::max(slowest_start_s, std::chrono::duration<double>(clock.Monotonic() - start).count());
    cache::CompressingStore compressing(**store, **store, &(*store)->dictionaries());
    for (const uint64_t number : acknowledged) {
      ASSERT_EQ(LookUp(compressing, number), Found::kAll)
          << "round " << kills << " number " << number;
    }
    for (int i = 0; i < 50 && !all.empty(); ++i) {
      const uint64_t number = all[random() % all.size()];
      ASSERT_EQ(LookUp(compressing, number), Found::kAll)
          << "round " << kills << " number " << number;
    }
  }
  EXPECT_GT(all.size(), 0u);
  EXPECT_LT(slowest_start_s, 1.0);
  auto store = SqliteStore::Open({.dir = directory.path()}, clock, log);
  ASSERT_TRUE(store.ok());
  cache::CompressingStore compressing(**store, **store, &(*store)->dictionaries());
  for (const uint64_t number : all) {
    ASSERT_EQ(LookUp(compressing, number), Found::kAll) << number;
  }
  RecordProperty("acknowledged", static_cast<int>(all.size()));
  std::printf("%d kills, %zu acknowledged records, 0 lost, slowest start %.3f s\n", kills,
              all.size(), slowest_start_s);
  EXPECT_TRUE(log.Lines().empty()) << log.Lines().front();  // no damage was seen anywhere
}

}  // namespace
}  // namespace kiln::tests
