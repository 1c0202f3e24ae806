// SPDX-License-Identifier: MIT
#include "compiler/driver/assembler/module_cache.h"

#include <array>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::driver {
namespace {

WrittenModule ModuleOf(std::string_view text) { return {.content = DigestOf(text), .needs = 5}; }

// As an assembler does it.
uint32_t Write(ModuleCache& cache, std::span<const uint32_t> key, std::string_view text) {
  const uint32_t number = cache.NumberOf(key);
  if (!cache.IsWritten(number)) {
    cache.SetWritten(number, ModuleOf(text));
  }
  return number;
}

constexpr std::array<uint32_t, 2> kKey{1, 2}, kOther{1, 3};

TEST(ModuleCache, EqualKeys_AreOneModuleAndOthersAreNot) {
  ModuleCache cache;
  const uint32_t first = Write(cache, kKey, "first");
  const uint32_t other = Write(cache, kOther, "other");
  EXPECT_NE(first, other);
  EXPECT_EQ(cache.NumberOf(kKey), first);
  EXPECT_EQ(cache[first].content, DigestOf(std::string_view("first")));
  EXPECT_EQ(cache[other].content, DigestOf(std::string_view("other")));
  EXPECT_EQ(cache.NumberOf(std::span(kKey).first(1)), 2u);  // a part of a key is another key
}

TEST(ModuleCache, NumberWhoseWritingFailed_IsStillNew) {
  ModuleCache cache;
  const uint32_t number = cache.NumberOf(kKey);
  EXPECT_FALSE(cache.IsWritten(number));
  const uint32_t other = Write(cache, kOther, "other");
  EXPECT_NE(number, other);
  EXPECT_EQ(cache.NumberOf(kKey), number);
  EXPECT_FALSE(cache.IsWritten(number));
  EXPECT_FALSE(cache.IsWritten(99));
}

TEST(ModuleCache, AfterAnEdit_ContentIsFoundAndKeysAreNot) {
  ModuleCache cache;
  const Hash128 id = HashBytes(AsBytes(std::string_view("content")));
  EXPECT_EQ(cache.Find(id), nullptr);
  const uint32_t before = Write(cache, kKey, "first");
  cache.SetContent(id, before);
  cache.Serve();
  ASSERT_NE(cache.Find(id), nullptr);
  EXPECT_EQ(cache.Find(id)->content, DigestOf(std::string_view("first")));
  EXPECT_EQ(cache.Find(id)->needs, 5u);
  EXPECT_EQ(cache.Find(HashBytes(AsBytes(std::string_view("other")))), nullptr);
  const uint32_t after = cache.NumberOf(kKey);  // of another program: it means something else
  EXPECT_NE(after, before);
  EXPECT_FALSE(cache.IsWritten(after));
}

TEST(ModuleCache, WordsOfAModuleThatIsWrittenOften_AreKeptUntilTheNextProgram) {
  ModuleCache cache;
  const std::vector<uint32_t> words{7, 8, 9};
  const uint32_t number = Write(cache, kKey, "often");
  for (int i = 0; i < 2; ++i) {
    cache.Keep(number, words);
    EXPECT_TRUE(cache.WordsOf(number).empty()) << i;
  }
  cache.Keep(number, words);
  const std::span<const uint32_t> kept = cache.WordsOf(number);
  EXPECT_EQ(std::vector(kept.begin(), kept.end()), words);
  const uint32_t other = Write(cache, kOther, "another");
  for (int i = 0; i < 3; ++i) {
    cache.Keep(other, words);
  }
  EXPECT_EQ(cache.WordsOf(number).data(), kept.data());  // what was handed out stays
  cache.Serve();
  EXPECT_TRUE(cache.WordsOf(number).empty());
}

TEST(ModuleCache, MoreWordsThanThereIsRoomFor_AreNotKept) {
  ModuleCache cache;
  const std::vector<uint32_t> large((size_t{1} << 16) + 1);
  const uint32_t number = Write(cache, kKey, "large");
  for (int i = 0; i < 4; ++i) {
    cache.Keep(number, large);
  }
  EXPECT_TRUE(cache.WordsOf(number).empty());
}

TEST(ModuleCache, NumbersOfOthers_NeedNoKey) {
  ModuleCache cache;
  cache.SetWritten(1, ModuleOf("text"));
  EXPECT_FALSE(cache.IsWritten(0));
  EXPECT_TRUE(cache.IsWritten(1));
  EXPECT_EQ(cache[1].content, DigestOf(std::string_view("text")));
}

}  // namespace
}  // namespace kiln::driver
