// SPDX-License-Identifier: MIT
// Mixed load for as long as one likes: puts, gets, eviction, training, verification. What is read
// is right, the WAL stays below its bound, memory and descriptors do not grow. Four seconds; half
// an hour in the full form, or KILN_SOAK_MINUTES. See spec/cache 6.8, 12
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/decorators/limited_store.h"
#include "cache/decorators/memory_store.h"
#include "cache/record.h"
#include "cache/sqlite/maintenance/maintenance.h"
#include "cache/test_contents.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"
#include "tests/integration/full_run.h"

namespace kiln::tests {
namespace {

using cache::sqlite::SqliteStore;

constexpr uint64_t kMostBytes = uint64_t{48} << 20;  // of the store: eviction never rests
constexpr int64_t kMostWalBytes = int64_t{256} << 20;
constexpr int kSamples = 40;
constexpr uint64_t kNumbers = 40'000;

std::chrono::milliseconds SoakTime() {
  if (const char* minutes = std::getenv("KILN_SOAK_MINUTES")) {
    return std::chrono::minutes(std::strtol(minutes, nullptr, 10));
  }
  return FullRun() ? std::chrono::milliseconds(std::chrono::minutes(30))
                   : std::chrono::milliseconds(4000);
}

uint64_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  in >> size >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t OpenFiles() {
  uint64_t count = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

// A result as a build makes it; the same for the same number.
std::vector<cache::Item> ItemsOf(uint64_t number) {
  const cache::Item code = cache::ContentItem(cache::OwnedBlob(cache::LikeCode(number)));
  const Hash128 signature = HashBytes(AsBytes("s" + std::to_string(number)));
  return {code,
          cache::RecordItem(cache::Level::kSignature, 0, signature,
                            {.products = {{"code", DigestOf(code.value.bytes)}}}),
          cache::AliasItem(0, HashBytes(AsBytes("v" + std::to_string(number))), signature)};
}

struct Load {
  explicit Load(const std::filesystem::path& dir)
      : file(*SqliteStore::Open({.dir = dir, .readers = 4}, clock, log)),
        compressing(*file, *file, &file->dictionaries()),
        checked_file(compressing, *file),
        limited(checked_file, *file, {.max_bytes = kMostBytes, .min_free_bytes = 0}),
        memory(&limited, file.get(), {.max_bytes = uint64_t{8} << 20}),
        checked(memory, memory) {}

  void Write(uint64_t seed, const std::stop_token& stop) {
    std::mt19937_64 random(seed);
    while (!stop.stop_requested()) {
      const bool put =
          checked.Put(ItemsOf(random() % kNumbers), cache::Durability::kDurable, {}).ok();
      ++(put ? puts : refused);  // a store may be full until something may be evicted
    }
  }
  void Read(uint64_t seed, const std::stop_token& stop) {
    std::mt19937_64 random(seed);
    while (!stop.stop_requested()) {
      for (const cache::Item& item : ItemsOf(random() % kNumbers)) {
        const Result<cache::Blob> found = checked.Get(item.key, {});
        hits += found.ok() ? 1 : 0;
        wrong += found.ok() && AsText(found->bytes) != AsText(item.value.bytes) ? 1 : 0;
      }
    }
  }
  void Upkeep(const std::stop_token& stop) {
    cache::sqlite::StoreMaintenance maintenance(*file, clock);
    while (!stop.stop_requested()) {
      (void)file->Train();
      (void)maintenance.Gc({.to_bytes = kMostBytes / 2, .vacuum = true, .stop = stop});
      const Result<cache::VerifyReport> report =
          maintenance.Verify({.sample_percent = 10, .stop = stop});
      faults += report.ok() ? report->fault_count : 0;
      file->StartScan();
      LetPass(std::chrono::milliseconds(200));
    }
  }

  SystemClock clock;
  NullLog log;
  std::unique_ptr<SqliteStore> file;
  cache::CompressingStore compressing;
  cache::CheckedStore checked_file;
  cache::LimitedStore limited;
  cache::MemoryStore memory;
  cache::CheckedStore checked;
  std::atomic<uint64_t> puts{0}, refused{0}, hits{0}, wrong{0}, faults{0};
};

TEST(CacheSoak, MixedLoad_WalStaysBoundedAndMemoryFlat) {
  const TestDirectory directory;
  Load load(directory.path());
  std::vector<std::jthread> threads;
  for (uint64_t i = 0; i < 2; ++i) {
    threads.emplace_back([&load, i](const std::stop_token& stop) { load.Write(i, stop); });
    threads.emplace_back([&load, i](const std::stop_token& stop) { load.Read(i + 10, stop); });
  }
  threads.emplace_back([&load](const std::stop_token& stop) { load.Upkeep(stop); });
  std::vector<uint64_t> resident;
  std::vector<uint64_t> files;
  int64_t longest_wal = 0;
  for (int i = 0; i < kSamples; ++i) {
    const auto until = std::chrono::steady_clock::now() + SoakTime() / kSamples;
    while (std::chrono::steady_clock::now() < until) {
      std::error_code none;
      const auto wal = std::filesystem::file_size(directory.path() / "cache.db-wal", none);
      longest_wal = std::max(longest_wal, none ? 0 : static_cast<int64_t>(wal));
      LetPass(std::chrono::milliseconds(20));
    }
    resident.push_back(ResidentBytes());
    files.push_back(OpenFiles());
  }
  threads.clear();  // asks them to stop and waits
  EXPECT_GT(load.puts, 0u);
  EXPECT_GT(load.hits, 0u);
  EXPECT_EQ(load.wrong, 0u);
  EXPECT_EQ(load.faults, 0u);
  EXPECT_LE(longest_wal, kMostWalBytes);
  // Caches fill in the first half; from there on nothing grows.
  const auto largest = [](const std::vector<uint64_t>& samples, size_t first, size_t end) {
    return *std::max_element(samples.begin() + static_cast<ptrdiff_t>(first),
                             samples.begin() + static_cast<ptrdiff_t>(end));
  };
  const uint64_t allowed = FullRun() ? uint64_t{16} << 20 : uint64_t{64} << 20;
  EXPECT_LE(largest(resident, kSamples * 3 / 4, kSamples),
            largest(resident, kSamples / 2, kSamples * 3 / 4) + allowed);
  EXPECT_LE(largest(files, kSamples * 3 / 4, kSamples),
            largest(files, kSamples / 2, kSamples * 3 / 4) + 2);
  std::printf("puts %llu, refused %llu, hits %llu, longest WAL %lld bytes, memory %llu to %llu\n",
              static_cast<unsigned long long>(load.puts),
              static_cast<unsigned long long>(load.refused),
              static_cast<unsigned long long>(load.hits), static_cast<long long>(longest_wal),
              static_cast<unsigned long long>(resident[kSamples / 2]),
              static_cast<unsigned long long>(resident.back()));
}

}  // namespace
}  // namespace kiln::tests
