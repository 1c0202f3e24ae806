// SPDX-License-Identifier: MIT
#include "cache/decorators/journalling_store.h"

#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "compiler/base/test_directory.h"

namespace kiln::cache {
namespace {

// Takes puts, in order, unless it is down.
class Sink final : public BlobStore {
 public:
  Result<Blob> Get(const Key&, const Call&) override {
    return Error{.code = ErrorCode::kNotFound, .context = {}};
  }
  Result<PutResult> Put(std::span<const Item> items, Durability, const Call&) override {
    const MutexLock lock(mutex_);
    ++tries_;
    changed_.NotifyAll();
    if (down_) {
      return Error{.code = ErrorCode::kUnavailable, .context = "down"};
    }
    for (const Item& item : items) {
      text_ += AsText(item.value.bytes);
    }
    return PutResult{.added = items.size()};
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key>, const Call&) override {
    return std::vector<Key>();
  }
  void Touch(std::span<const Key>) override {}

  void SetDown(bool down) {
    const MutexLock lock(mutex_);
    down_ = down;
  }
  std::string WaitFor(size_t length) {
    const MutexLock lock(mutex_);
    while (text_.size() < length) {
      changed_.WaitFor(mutex_, std::chrono::milliseconds(5));
    }
    return text_;
  }
  void WaitForTry() {
    const MutexLock lock(mutex_);
    while (tries_ == 0) {
      changed_.Wait(mutex_);
    }
  }
  std::string text() {
    const MutexLock lock(mutex_);
    return text_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::string text_ KILN_GUARDED_BY(mutex_);
  bool down_ KILN_GUARDED_BY(mutex_) = false;
  int tries_ KILN_GUARDED_BY(mutex_) = 0;
};

class JournallingStoreTest : public testing::Test {
 protected:
  JournallingStore::Options Options() const {
    return {.dir = dir / "journal", .retry = std::chrono::milliseconds(2)};
  }
  static Result<PutResult> Put(JournallingStore& store, std::string_view text,
                               Durability durability = Durability::kRelaxed) {
    const Item item = ContentItem(CopiedBlob(AsBytes(text)));
    return store.Put(std::span(&item, 1), durability, {});
  }
  size_t Files() const {
    size_t files = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(dir / "journal")) {
      ++files;
    }
    return files;
  }

  TestDirectory directory;
  std::filesystem::path dir = directory.path();
  SystemClock clock;
  Sink sink;
};

TEST_F(JournallingStoreTest, Puts_ArriveInOrder) {
  JournallingStore store(sink, clock, Options());
  for (const char* text : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(Put(store, text).ok());
  }
  EXPECT_EQ(sink.WaitFor(4), "abcd");
}

TEST_F(JournallingStoreTest, UpstreamDown_WaitsInFilesAndSurvivesARestart) {
  sink.SetDown(true);
  {
    JournallingStore store(sink, clock, Options());
    ASSERT_TRUE(Put(store, "a").ok());
    sink.WaitForTry();
    ASSERT_TRUE(Put(store, "b").ok());
    EXPECT_EQ(store.status().queued, 2u);
  }
  EXPECT_EQ(Files(), 2u);
  sink.SetDown(false);
  JournallingStore store(sink, clock, Options());
  ASSERT_TRUE(Put(store, "c", Durability::kQuorum).ok()) << "waits for those before it";
  EXPECT_EQ(sink.text(), "abc");
  while (store.status().queued != 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(Files(), 0u);
  EXPECT_EQ(store.status().sent, 3u);
  EXPECT_EQ(store.status().bytes, 0u);
}

// A link to nothing and a folder have no size. Taken for 2^64-1 bytes they made the queue drop all.
TEST_F(JournallingStoreTest, WhatIsNoFile_IsNotPartOfTheQueue) {
  sink.SetDown(true);
  {
    JournallingStore store(sink, clock, Options());
    ASSERT_TRUE(Put(store, "a").ok());
    sink.WaitForTry();
  }
  ASSERT_EQ(Files(), 1u);
  std::filesystem::create_symlink("nowhere", dir / "journal" / "7.put");
  std::filesystem::create_directory(dir / "journal" / "8.put");
  JournallingStore store(sink, clock, Options());
  EXPECT_EQ(store.status().queued, 1u);
  EXPECT_EQ(store.status().dropped, 0u);
  EXPECT_LT(store.status().bytes, 1000u);
  sink.SetDown(false);
  EXPECT_EQ(sink.WaitFor(1), "a");
}

TEST_F(JournallingStoreTest, BeyondItsBound_DropsTheOldestAndCounts) {
  sink.SetDown(true);
  JournallingStore::Options options = Options();
  options.max_bytes = 250;
  JournallingStore store(sink, clock, options);
  const std::string text(50, 'x');  // about 100 bytes each
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Put(store, text + std::to_string(i)).ok());
  }
  EXPECT_EQ(store.status().queued, 2u);
  EXPECT_EQ(store.status().dropped, 3u);
  sink.SetDown(false);
  EXPECT_EQ(sink.WaitFor(102), text + "3" + text + "4");
}

TEST_F(JournallingStoreTest, QuorumWithoutUpstream_SaysSoAndStaysQueued) {
  sink.SetDown(true);
  JournallingStore store(sink, clock, Options());
  const Result<PutResult> put = Put(store, "q", Durability::kQuorum);
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().reason, kUpstreamDown);
  sink.SetDown(false);
  EXPECT_EQ(sink.WaitFor(1), "q");
}

TEST_F(JournallingStoreTest, EveryByteOfAFileDamaged_IsRefusedAndTheOthersArrive) {
  sink.SetDown(true);
  { Put(*std::make_unique<JournallingStore>(sink, clock, Options()), "first").ok(); }
  const std::filesystem::path file = dir / "journal" / "1.put";
  std::ifstream in(file, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  ASSERT_GT(good.size(), 40u);
  sink.SetDown(false);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x20);
    std::ofstream(file, std::ios::binary) << bad;
    JournallingStore store(sink, clock, Options());
    ASSERT_TRUE(Put(store, "!", Durability::kQuorum).ok());
    EXPECT_EQ(store.status().refused, 1u) << "byte " << i;
  }
  EXPECT_EQ(sink.text(), std::string(good.size(), '!'));
}

}  // namespace
}  // namespace kiln::cache
