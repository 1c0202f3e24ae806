// SPDX-License-Identifier: MIT
#include "cache/decorators/journalling_store.h"

#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "cache/leases/on_behalf.h"
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
  void Forget() {
    const MutexLock lock(mutex_);
    tries_ = 0;
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

// Whoever asks for a quorum again and again while nobody answers has one put in the queue.
TEST_F(JournallingStoreTest, WhatWaitsAlready_IsPutOnce) {
  sink.SetDown(true);
  JournallingStore store(sink, clock, Options());
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Put(store, "q", Durability::kQuorum).error().reason, kUpstreamDown);
    EXPECT_TRUE(Put(store, "r").ok());
  }
  EXPECT_EQ(store.status().queued, 2u);
  sink.SetDown(false);
  EXPECT_EQ(sink.WaitFor(2), "qr");
  while (store.status().queued != 0) {
    std::this_thread::yield();
  }
  const size_t before = sink.text().size();
  EXPECT_TRUE(Put(store, "q", Durability::kQuorum).ok());
  EXPECT_EQ(sink.text().size(), before + 1) << "what was sent may be sent again";
}

// Of a put with rows the rows count: those that wait are left out, with what only they name.
TEST_F(JournallingStoreTest, RowsThatWait_AreLeftOutOfALaterPut) {
  sink.SetDown(true);
  JournallingStore store(sink, clock, Options());
  const Item one = ContentItem(CopiedBlob(AsBytes("1"))),
             two = ContentItem(CopiedBlob(AsBytes("2"))),
             both = ContentItem(CopiedBlob(AsBytes("b")));
  const auto row = [&](const char* name, const Item& own) {
    return Item{.key = {.level = Level::kSignature, .id = HashBytes(AsBytes(name))},
                .value = CopiedBlob(AsBytes(name)),
                .refs = {own.key.id, both.key.id}};
  };
  const std::vector<Item> first = {one, both, row("A", one)};
  const std::vector<Item> second = {one, two, both, row("A", one), row("B", two)};
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(store.Put(first, Durability::kQuorum, {}).ok());
    EXPECT_FALSE(store.Put(second, Durability::kQuorum, {}).ok());
  }
  EXPECT_EQ(store.status().queued, 2u);
  sink.SetDown(false);
  EXPECT_EQ(sink.WaitFor(6), "1bA2bB");
}

// One who puts all that he can costs others nothing of their share, and hears that his own went.
TEST_F(JournallingStoreTest, PutsOfOne_DropNoneOfOthers) {
  sink.SetDown(true);
  JournallingStore::Options options = Options();
  options.max_bytes = 1'600;
  std::vector<uint64_t> told;
  options.on_drop = [&](uint64_t puts) { told.push_back(puts); };
  const std::string text(50, 'x');  // about 100 bytes each
  const auto put = [&](JournallingStore& store, const char* principal, int number) {
    const OnBehalfOf scope(principal);
    ASSERT_TRUE(Put(store, principal + text + std::to_string(number)).ok());
  };
  {
    JournallingStore store(sink, clock, options);
    put(store, "token:a", 0);
    put(store, "", 0);
    sink.WaitForTry();
    for (int i = 0; i < 100; ++i) {
      put(store, "token:b", i);
    }
    EXPECT_GT(store.status().dropped, 90u);
    EXPECT_EQ(store.status().lost, store.status().dropped);
    EXPECT_LE(store.status().bytes, 1'600u / 2 + 250);
    EXPECT_EQ(told, std::vector<uint64_t>{1}) << "once a minute";
  }
  // Whose they are is known to the next process as well.
  JournallingStore store(sink, clock, options);
  for (int i = 100; i < 200; ++i) {
    put(store, "token:b", i);
  }
  EXPECT_LE(store.status().bytes, 1'600u / 2 + 250);
  sink.SetDown(false);
  while (store.status().queued != 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(sink.text().find("token:a" + text + "0" + text + "0" + "token:b"), 0u);
  EXPECT_EQ(store.status().lost, 0u);
}

TEST_F(JournallingStoreTest, RowsWithoutEnd_AreBoundedToo) {
  sink.SetDown(true);
  JournallingStore::Options options = Options();
  options.max_rows = 4;
  JournallingStore store(sink, clock, options);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Put(store, std::to_string(i)).ok());
  }
  EXPECT_EQ(store.status().queued, 4u);
}

// What the files of an earlier process have is not put once more.
TEST_F(JournallingStoreTest, WhatWaitsInFiles_IsPutOnceToo) {
  sink.SetDown(true);
  for (int process = 0; process < 3; ++process) {
    sink.Forget();
    JournallingStore store(sink, clock, Options());
    if (process != 0) {  // it tries what it found, once it knows what that is
      sink.WaitForTry();
    }
    EXPECT_FALSE(Put(store, "q", Durability::kQuorum).ok());
    EXPECT_EQ(store.status().queued, 1u);
    sink.WaitForTry();
  }
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
