// SPDX-License-Identifier: MIT
#include "server/jobs/crash_guard.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <list>
#include <optional>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "compiler/base/digest.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/threads/stop.h"

namespace kiln::jobs {
namespace {

constexpr int64_t kDay = int64_t{24} * 3600;
constexpr int64_t kNow = 1'800'000'000;

cache::Key KeyOf(std::string_view name, cache::Level level = cache::Level::kSignature) {
  return {.level = level, .space = 0, .id = HashBytes(AsBytes(name))};
}

class CrashGuardTest : public testing::Test {
 protected:
  std::unique_ptr<CrashGuard> Open(int64_t now_s = kNow) {
    auto opened = CrashGuard::Open(path, now_s, kDay);
    EXPECT_TRUE(opened.ok()) << opened.error().context;
    return opened.ok() ? std::move(opened).value() : nullptr;
  }

  // The next process opens what this one leaves when it dies at once, with `keys` at work.
  void Die(const std::vector<cache::Key>& keys, int64_t now_s = kNow,
           CrashGuard::Running::Place place = CrashGuard::Running::Place::kAloneIfSuspect) {
    std::string left;
    {
      const auto attempts = Open(now_s);
      std::list<CrashGuard::Running> running;  // rows of one thread do as well as those of many
      for (const cache::Key& key : keys) {
        running.emplace_back(attempts.get(), key, place);
      }
      left = ReadFile(path).value();
    }
    Write(left);
  }

  void Write(const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  TestDirectory folder;
  const std::string path = folder.path().string() + "/attempts";
};

TEST_F(CrashGuardTest, ProcessThatEnds_LeavesNothing) {
  {
    const auto attempts = Open();
    const CrashGuard::Running running(attempts.get(), KeyOf("a"));
    attempts->Leave();  // the second signal
    std::filesystem::copy_file(path, path + ".left");
  }
  EXPECT_TRUE(Open()->found().empty());
  std::filesystem::rename(path + ".left", path);
  EXPECT_TRUE(Open()->found().empty());
}

TEST_F(CrashGuardTest, ProcessThatDies_WhatRanHasHadOneAttempt) {
  {
    const auto attempts = Open();
    const CrashGuard::Running done(attempts.get(), KeyOf("done"));
  }
  Die({KeyOf("a"), KeyOf("b", cache::Level::kModule), KeyOf("a")});
  const auto attempts = Open();
  ASSERT_EQ(attempts->found().size(), 2u);
  for (const cache::Key& key : {KeyOf("a"), KeyOf("b", cache::Level::kModule)}) {
    EXPECT_EQ(std::ranges::count(attempts->found(), key, &CrashGuard::InterruptedInput::key), 1);
    EXPECT_FALSE(attempts->IsPoisoned(key));
  }
  EXPECT_EQ(attempts->found()[0].attempts, 1u);
}

TEST_F(CrashGuardTest, ThreeDeaths_ArePoisonedAndTheNextTryBeginsAnew) {
  const cache::Key key = KeyOf("a");
  for (uint32_t death = 1; death <= CrashGuard::kMost; ++death) {
    Die({key});
    const auto attempts = Open();
    ASSERT_EQ(attempts->found().size(), 1u) << death;
    EXPECT_EQ(attempts->found()[0].attempts, death);
    EXPECT_EQ(attempts->IsPoisoned(key), death == CrashGuard::kMost);
  }
  EXPECT_TRUE(Open()->IsPoisoned(key));  // remembered, and counted once
  EXPECT_TRUE(Open()->found().empty());
  Die({key});
  const auto attempts = Open();
  ASSERT_EQ(attempts->found().size(), 1u);
  EXPECT_EQ(attempts->found()[0].attempts, 1u);
}

// What takes too long without an end of the process is counted by the process, until it is
// poisoned.
TEST_F(CrashGuardTest, ThreeFailuresWithoutADeath_ArePoisonedForTheNextProcessToo) {
  const cache::Key key = KeyOf("slow");
  {
    const auto attempts = Open();
    EXPECT_FALSE(attempts->Fail(key));
    EXPECT_FALSE(attempts->Fail(KeyOf("other")));
    EXPECT_FALSE(attempts->Fail(key));
    EXPECT_FALSE(attempts->IsPoisoned(key));
  }
  {
    const auto attempts = Open();
    EXPECT_FALSE(attempts->Fail(key)) << "those of the other process are forgotten";
    EXPECT_FALSE(attempts->Fail(key));
    EXPECT_TRUE(attempts->Fail(key));
    EXPECT_TRUE(attempts->IsPoisoned(key));
    EXPECT_FALSE(attempts->IsPoisoned(KeyOf("other")));
  }
  const auto attempts = Open();
  EXPECT_TRUE(attempts->IsPoisoned(key));
  EXPECT_TRUE(attempts->found().empty()) << "nobody died";
  { const CrashGuard::Running retried(attempts.get(), key); }
  EXPECT_FALSE(attempts->IsPoisoned(key)) << "it was done";
}

TEST_F(CrashGuardTest, MoreSlowInputsThanRows_BeginAnew) {
  const auto attempts = Open();
  const cache::Key key = KeyOf("slow");
  EXPECT_FALSE(attempts->Fail(key));
  EXPECT_FALSE(attempts->Fail(key));
  for (size_t i = 0; i < CrashGuard::kRows; ++i) {
    EXPECT_FALSE(attempts->Fail(KeyOf("another" + std::to_string(i))));
  }
  EXPECT_FALSE(attempts->Fail(key));
  EXPECT_FALSE(attempts->IsPoisoned(key));
}

// What is long, and of which others are part, counts like everything else and holds nobody up.
TEST_F(CrashGuardTest, BesideOthers_CountsAndNeitherWaitsNorIsWaitedFor) {
  constexpr auto kBeside = CrashGuard::Running::Place::kBesideOthers;
  const cache::Key key = KeyOf("long");
  for (uint32_t death = 1; death < CrashGuard::kMost; ++death) {
    Die({key}, kNow, kBeside);
  }
  {
    const auto attempts = Open();
    EXPECT_FALSE(attempts->IsPoisoned(key));
    const CrashGuard::Running other(attempts.get(), KeyOf("other"));
    const CrashGuard::Running suspect(attempts.get(), key, kBeside);
    const CrashGuard::Running part_of_it(attempts.get(), KeyOf("part"));
  }
  Die({key}, kNow, kBeside);  // the one before was a success: it begins anew
  EXPECT_FALSE(Open()->IsPoisoned(key));
  Die({key}, kNow, kBeside);
  Die({key}, kNow, kBeside);
  EXPECT_TRUE(Open()->IsPoisoned(key));
}

// Two suspects never run side by side: who waits for that can be called off.
TEST_F(CrashGuardTest, WaitingToRunAlone_EndsWhenNobodyWantsItAnyMore) {
  Die({KeyOf("a"), KeyOf("b")});
  const auto attempts = Open();
  const CrashGuard::Running first(attempts.get(), KeyOf("a"));
  SystemClock clock;
  std::stop_source stop;
  stop.request_stop();
  const StopScope scope({.stop = stop.get_token()}, clock);
  for (const char* const name : {"b", "innocent"}) {
    EXPECT_THROW(CrashGuard::Running(attempts.get(), KeyOf(name)), Stopped) << name;
  }
}

TEST_F(CrashGuardTest, Success_ClearsTheAttempts) {
  Die({KeyOf("a"), KeyOf("b")});
  {
    const auto attempts = Open();
    const CrashGuard::Running running(attempts.get(), KeyOf("a"));
  }
  Die({KeyOf("a")});
  Die({KeyOf("b")});
  const auto attempts = Open();
  ASSERT_EQ(attempts->found().size(), 1u);
  EXPECT_EQ(attempts->found()[0].attempts, 2u);  // b; and a has one, not two
  EXPECT_FALSE(attempts->IsPoisoned(KeyOf("a")));
}

TEST_F(CrashGuardTest, OldAttempts_DoNotCount) {
  Die({KeyOf("a")}, kNow);
  EXPECT_EQ(Open(kNow)->found().size(), 1u);
  Die({KeyOf("a")}, kNow + kDay);
  EXPECT_EQ(Open(kNow + kDay)->found()[0].attempts, 1u);
  Die({KeyOf("a")}, kNow - kDay);  // a clock that went back: what is to come is not believed
  EXPECT_EQ(Open(kNow - kDay)->found()[0].attempts, 1u);
}

// Who failed runs alone: what dies beside it would be blamed, too.
TEST_F(CrashGuardTest, Suspect_RunsAlone) {
  Die({KeyOf("suspect")});
  const auto attempts = Open();
  std::optional<CrashGuard::Running> other;
  other.emplace(attempts.get(), KeyOf("other"));
  std::atomic<bool> begun = false, other_is_over = false;
  std::thread suspect([&] {
    begun = true;
    const CrashGuard::Running running(attempts.get(), KeyOf("suspect"));
    EXPECT_TRUE(other_is_over);
  });
  while (!begun) {
    std::this_thread::yield();
  }
  other_is_over = true;
  other.reset();
  suspect.join();
  other.emplace(attempts.get(), KeyOf("suspect"));  // cleared: no suspect, nobody waits
  const CrashGuard::Running beside(attempts.get(), KeyOf("other"));
}

TEST_F(CrashGuardTest, ManyThreads_NobodyIsLostAndNobodyStays) {
  std::vector<cache::Key> suspects;
  suspects.reserve(8);
  for (int i = 0; i < 8; ++i) {
    suspects.push_back(KeyOf("suspect " + std::to_string(i)));
  }
  Die(suspects);
  const auto attempts = Open();
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> inside = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 2000; ++i) {
        const bool is_suspect = i % 250 == thread;
        const CrashGuard::Running running(attempts.get(),
                                          is_suspect ? suspects.at(static_cast<size_t>(i / 250))
                                                     : KeyOf(std::to_string(thread * 10'000 + i)));
        ++inside;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(inside, 0);
  for (const cache::Key& key : suspects) {
    EXPECT_FALSE(attempts->IsPoisoned(key));
  }
  Write(ReadFile(path).value());
  EXPECT_TRUE(Open()->found().empty());
}

TEST_F(CrashGuardTest, MoreInputsThanRows_RunUnnoted) {
  std::vector<cache::Key> keys;
  for (size_t i = 0; i < CrashGuard::kRows + 20; ++i) {
    keys.push_back(KeyOf(std::to_string(i)));
  }
  Die(keys);
  EXPECT_EQ(Open()->found().size(), CrashGuard::kRows);
}

TEST_F(CrashGuardTest, HostileFiles_AreNoAttempts) {
  Die({KeyOf("a")});
  const std::string good = ReadFile(path).value();
  for (const size_t size : {size_t{0}, size_t{1}, size_t{64}, good.size() - 1, good.size() + 1}) {
    std::string bytes = good;
    bytes.resize(size, 'x');
    Write(bytes);
    EXPECT_TRUE(Open()->found().empty()) << size;
  }
  const Hash128 id = KeyOf("a").id;
  const size_t row = good.find(std::string(id.bytes.begin(), id.bytes.end())) - sizeof(uint64_t);
  ASSERT_LT(row, good.size());
  for (size_t at = row; at < row + 24; ++at) {  // any bit of the row that ran: the head, the id
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    Write(bytes);
    EXPECT_TRUE(Open()->found().empty()) << at;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = good;
    const size_t from = i % 2 == 0 ? 16 : 0;  // with and without the magic number
    for (size_t at = from; at < bytes.size(); ++at) {
      bytes[at] = static_cast<char>(random());
    }
    Write(bytes);
    const auto attempts = Open();
    EXPECT_TRUE(attempts->found().empty());
    const CrashGuard::Running running(attempts.get(), KeyOf("a"));
  }
}

TEST_F(CrashGuardTest, FolderThatIsNotThere_IsTold) {
  const auto opened = CrashGuard::Open(folder.path().string() + "/none/attempts", kNow, kDay);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace kiln::jobs
