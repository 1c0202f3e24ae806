// SPDX-License-Identifier: MIT
// Modules come out as they went in, and hostile ones do no harm.
#include "cache/module_codec.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "cache/test_contents.h"

namespace kiln::cache {
namespace {

SymbolTable TableOf(const SymbolWriter& writer) {
  const Bytes table = writer.Table();
  return table.empty() ? SymbolTable() : SymbolTable::Read(table).value();
}

std::vector<uint32_t> WordsOf(ByteView bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

Bytes BytesOf(const std::vector<uint32_t>& words) {
  const ByteView bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

TEST(ModuleCodec, Modules_ComeOutAsTheyWentIn) {
  SymbolWriter writer{SymbolTable()};
  for (uint32_t bits = 0; bits < 300; bits += 7) {
    writer.Add(SampleModule(bits));
  }
  const SymbolTable table = TableOf(writer);
  EXPECT_GE(table.size(), 40u);
  for (uint32_t bits = 0; bits < 300; bits += 7) {
    const Bytes module = SampleModule(bits);
    const std::optional<Bytes> encoded = writer.Encode(module);
    ASSERT_TRUE(encoded.has_value()) << bits;
    Bytes again(module.size());
    EXPECT_TRUE(DecodeModule(*encoded, table, again));
    EXPECT_EQ(again, module);
  }
}

// What makes packs small: a function is the same words whatever stands in front of it.
TEST(ModuleCodec, SameFunctionOfOtherModules_IsTheSameWords) {
  SymbolWriter writer{SymbolTable()};
  writer.Add(SampleModule(0));
  writer.Add(SampleModule(0xFC0));  // six constants more
  const std::vector<uint32_t> a = WordsOf(writer.Encode(SampleModule(0)).value());
  const std::vector<uint32_t> b = WordsOf(writer.Encode(SampleModule(0xFC0)).value());
  const auto first_function = [](const std::vector<uint32_t>& words) {
    return std::find(words.begin(), words.end(), 5U << 16 | 54);  // OpFunction
  };
  EXPECT_TRUE(std::equal(first_function(a), a.end(), first_function(b), b.end()));
  const std::vector<uint32_t> plain_a = WordsOf(SampleModule(0));
  const std::vector<uint32_t> plain_b = WordsOf(SampleModule(0xFC0));
  EXPECT_FALSE(
      std::equal(first_function(plain_a), plain_a.end(), first_function(plain_b), plain_b.end()));
}

TEST(ModuleCodec, SymbolsOfATable_KeepTheirNumbers) {
  SymbolWriter first{SymbolTable()};
  first.Add(SampleModule(3));
  SymbolWriter second(TableOf(first));
  second.Add(SampleModule(0xFFF));
  const SymbolTable before = TableOf(first);
  const SymbolTable after = TableOf(second);
  ASSERT_GT(after.size(), before.size());
  for (uint32_t symbol = 0; symbol < before.size(); ++symbol) {
    EXPECT_TRUE(std::ranges::equal(before.Definition(symbol), after.Definition(symbol)));
  }
  EXPECT_EQ(second.Encode(SampleModule(3)), first.Encode(SampleModule(3)));
}

TEST(ModuleCodec, EqualDefinitionsOfAModule_AreTold) {
  // Two structs with the same member, as SPIR-V allows.
  const std::vector<uint32_t> words{0x07230203,    0x00010300, 0,  5, 0,
                                    3U << 16 | 22, 1,          32,      // %1 = OpTypeFloat
                                    3U << 16 | 30, 2,          1,       // %2 = OpTypeStruct
                                    3U << 16 | 30, 3,          1,       // %3
                                    4U << 16 | 32, 4,          2,  3};  // OpTypePointer to %3
  SymbolWriter writer{SymbolTable()};
  writer.Add(BytesOf(words));
  EXPECT_EQ(TableOf(writer).size(), 4u);
  const std::optional<Bytes> encoded = writer.Encode(BytesOf(words));
  ASSERT_TRUE(encoded.has_value());
  Bytes again(words.size() * 4);
  EXPECT_TRUE(DecodeModule(*encoded, TableOf(writer), again));
  EXPECT_EQ(again, BytesOf(words));
}

TEST(ModuleCodec, WhatIsNoSuchModule_StaysAsItIs) {
  struct Row {
    std::string_view what;
    std::vector<uint32_t> words;
  };
  const std::vector<uint32_t> header{0x07230203, 0x00010300, 0, 9, 0};
  const auto with = [&](std::vector<uint32_t> more) {
    more.insert(more.begin(), header.begin(), header.end());
    return more;
  };
  for (const Row& row : std::vector<Row>{
           {"nothing", {}},
           {"another magic", {1, 2, 3, 4, 5}},
           {"an id out of order", with({3U << 16 | 22, 2, 32})},
           {"an id before its definition", with({4U << 16 | 32, 1, 2, 2})},
           {"an instruction of no words", with({0})},
           {"an instruction that is cut", with({9U << 16 | 22, 1, 32})},
           {"a result of the function that is cut", with({2U << 16 | 54, 1, 3U << 16 | 248})},
       }) {
    SymbolWriter writer{SymbolTable()};
    writer.Add(BytesOf(row.words));
    EXPECT_FALSE(writer.Encode(BytesOf(row.words)).has_value()) << row.what;
  }
  SymbolWriter writer{SymbolTable()};
  Bytes odd = SampleModule(1);
  odd.pop_back();
  writer.Add(odd);
  EXPECT_FALSE(writer.Encode(odd).has_value());
  EXPECT_FALSE(writer.Encode(SampleModule(1)).has_value());  // whose symbols are not there
}

TEST(ModuleCodec, FullTable_TakesNoMoreModules) {
  SymbolWriter writer{SymbolTable()};
  const auto module = [](uint32_t value) {
    std::vector<uint32_t> words{0x07230203, 0x00010300, 0, 0xFFFF, 0, 3U << 16 | 22, 1, 32};
    for (uint32_t id = 2; id < 10'000; ++id) {
      words.insert(words.end(), {4U << 16 | 43, 1, id, value * 10'000 + id});
    }
    return BytesOf(words);
  };
  writer.Add(module(0));
  writer.Add(module(1));
  EXPECT_LE(writer.Table().size(), kMaxSymbolBytes);
  EXPECT_TRUE(writer.Encode(module(0)).has_value());
  EXPECT_FALSE(writer.Encode(module(1)).has_value());
}

TEST(ModuleCodec, DamagedModules_AreRefusedOrOfTheirSize) {
  SymbolWriter writer{SymbolTable()};
  writer.Add(SampleModule(77));
  const SymbolTable table = TableOf(writer);
  const Bytes module = SampleModule(77);
  const Bytes encoded = writer.Encode(module).value();
  std::mt19937 random(4);
  uint32_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<uint32_t> words = WordsOf(encoded);
    const uint32_t values[] = {0, 1, 0x80000000U, 0xFFFFFFFFU, static_cast<uint32_t>(random())};
    words[random() % words.size()] = values[random() % 5];
    Bytes out(module.size());
    refused += DecodeModule(BytesOf(words), table, out) ? 0 : 1;
  }
  EXPECT_GT(refused, 1000u);
  Bytes out(module.size());
  for (size_t size = 0; size < encoded.size(); size += 4) {
    EXPECT_FALSE(DecodeModule(ByteView(encoded).first(size), table, out)) << size;
  }
  for (const size_t size : {size_t{0}, size_t{4}, module.size() - 4, module.size() + 4}) {
    Bytes other(size);
    EXPECT_FALSE(DecodeModule(encoded, table, other)) << size;
  }
}

TEST(ModuleCodec, HostileTables_AreRefused) {
  SymbolWriter writer{SymbolTable()};
  writer.Add(SampleModule(77));
  const std::vector<uint32_t> sound = WordsOf(writer.Table());
  struct Row {
    std::string_view what;
    std::vector<uint32_t> words;
  };
  for (const Row& row : std::vector<Row>{
           {"nothing", {}},
           {"more words than there are", {9, 3U << 16 | 22, 0, 32}},
           {"more words than may be", {0xFFFFFFFF, 3U << 16 | 22, 0, 32}},
           {"a definition of no words", {3, 22, 0, 32}},
           {"a definition that is cut", {3, 4U << 16 | 22, 0, 32}},
           {"a symbol of itself", {4, 4U << 16 | 32, 0, 2, 0}},
           {"no definition", {2, 2U << 16 | 17, 1}},
       }) {
    EXPECT_FALSE(SymbolTable::Read(BytesOf(row.words)).has_value()) << row.what;
  }
  std::mt19937 random(4);
  for (int i = 0; i < 5'000; ++i) {
    std::vector<uint32_t> words = sound;
    words[random() % words.size()] = static_cast<uint32_t>(random());
    const std::optional<SymbolTable> table = SymbolTable::Read(BytesOf(words));
    if (table.has_value()) {
      Bytes out(SampleModule(77).size());
      (void)DecodeModule(writer.Encode(SampleModule(77)).value(), *table, out);
    }
  }
}

}  // namespace
}  // namespace kiln::cache
