// SPDX-License-Identifier: MIT
// Round trips of row values and what the decoders refuse.
#include "cache/record.h"

#include <random>

#include <gtest/gtest.h>

#include "compiler/base/hash/canonical.h"

namespace kiln::cache {
namespace {

Record FullRecord() {
  return {.kind = RecordKind::kOk,
          .products = {{"code.fragment", DigestOf("f")},
                       {"code.vertex", DigestOf("v")},
                       {"meta", DigestOf("m")}},
          .live_options = {"fog", "quality"},
          .layout_hash = HashBytes(AsBytes("layout")),
          .state_id = HashBytes(AsBytes("state")),
          .cpu_us = 1234,
          .limits = {{"spirv_ids", 77}, {"tokens", 5}},
          .build_id = "kiln 0.1"};
}

ModuleRecord FullModule() {
  return {.kind = RecordKind::kOk,
          .products = {{"diag", DigestOf("d")}, {"image", DigestOf("i")}},
          .semantic_id = HashBytes(AsBytes("semantic")),
          .cpu_us = 9,
          .build_id = "b"};
}

TEST(Record, Encoded_DecodesToItself) {
  const Record record = FullRecord();
  const Result<Record> decoded = DecodeRecord(EncodeRecord(record));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, record);
  EXPECT_EQ(*decoded->Find("code.vertex"), DigestOf("v"));
  EXPECT_EQ(decoded->Find("code.compute"), nullptr);
}

TEST(Record, WithoutOptionalFields_DecodesToItself) {
  const Record record{.kind = RecordKind::kSourceError, .products = {{"diag", DigestOf("d")}}};
  const Result<Record> decoded = DecodeRecord(EncodeRecord(record));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, record);
}

TEST(Record, ModuleEncoded_DecodesToItself) {
  const Result<ModuleRecord> decoded = DecodeModuleRecord(EncodeModuleRecord(FullModule()));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, FullModule());
}

TEST(Record, Mask_DecodesToItself) {
  const std::vector<std::string> names = {"fog", "lights"};
  EXPECT_EQ(*DecodeMask(EncodeMask(names)), names);
  EXPECT_TRUE(DecodeMask(EncodeMask({}))->empty());
}

TEST(Record, OtherDomain_IsRefused) {
  EXPECT_FALSE(DecodeRecord(EncodeModuleRecord(FullModule())).ok());
  EXPECT_FALSE(DecodeModuleRecord(EncodeRecord(FullRecord())).ok());
}

TEST(Record, CutAnywhere_IsRefused) {
  const Bytes bytes = EncodeRecord(FullRecord());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeRecord(ByteView(bytes).first(size)).ok()) << size;
  }
}

struct Refused {
  std::string_view name;
  Bytes bytes;
};

TEST(Record, WhatTheEncoderNeverWrites_IsRefused) {
  const auto product = [](std::string_view name) {
    return CanonicalList().Text(name).Content(DigestOf("x"));
  };
  const auto with = [](uint32_t kind, const CanonicalList& products) {
    return CanonicalWriter("kiln.record.1").U32(1, kind).List(2, products);
  };
  const CanonicalList none;
  const std::vector<Refused> cases = {
      {"unknown kind", with(4, none).U64(6, 0).Text(8, "").bytes()},
      {"unknown field", with(0, none).U64(6, 0).Text(8, "").Text(9, "").bytes()},
      {"no cpu", with(0, none).Text(8, "").bytes()},
      {"no build id", with(0, none).U64(6, 0).bytes()},
      {"empty list present", with(0, none).List(3, none).U64(6, 0).Text(8, "").bytes()},
      {"products out of order", with(0, CanonicalList().List(product("b")).List(product("a")))
                                    .U64(6, 0)
                                    .Text(8, "")
                                    .bytes()},
      {"product twice", with(0, CanonicalList().List(product("a")).List(product("a")))
                            .U64(6, 0)
                            .Text(8, "")
                            .bytes()},
      {"no UTF-8", with(0, CanonicalList().List(product("\xff"))).U64(6, 0).Text(8, "").bytes()},
  };
  EXPECT_TRUE(DecodeRecord(with(0, none).U64(6, 0).Text(8, "").bytes()).ok());
  for (const Refused& refused : cases) {
    EXPECT_FALSE(DecodeRecord(refused.bytes).ok()) << refused.name;
  }
}

TEST(Record, RandomDamage_IsRefusedOrDecodesToWhatEncodesToTheSameBytes) {
  const Bytes original = EncodeRecord(FullRecord());
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes = original;
    for (uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 + random() % 255);
    }
    if (const Result<Record> decoded = DecodeRecord(bytes); decoded.ok()) {
      EXPECT_EQ(EncodeRecord(*decoded), bytes);
    }
  }
}

TEST(Record, SameResult_IgnoresCpuTimeAndBuild) {
  Record other = FullRecord();
  other.cpu_us = 1;
  other.build_id = "another";
  EXPECT_TRUE(SameResult(Level::kSignature, EncodeRecord(FullRecord()), EncodeRecord(other)));
  other.products[0].digest = DigestOf("else");
  EXPECT_FALSE(SameResult(Level::kSignature, EncodeRecord(FullRecord()), EncodeRecord(other)));
}

TEST(Record, Item_NamesEachContentOnce) {
  Record record = FullRecord();
  record.products[1].digest = record.products[0].digest;
  const Item item = RecordItem(Level::kSignature, 0, HashBytes({}), record);
  EXPECT_EQ(item.refs.size(), 2u);
  EXPECT_EQ(item.value.sum, RowSum(item.key, item.value.bytes));
}

TEST(Record, Summary_IsThatOfTheLevel) {
  const Result<RowSummary> record = SummarizeRow(Level::kSignature, EncodeRecord(FullRecord()));
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->cost_us, 1234u);
  EXPECT_EQ(record->products.size(), 3u);
  EXPECT_EQ(SummarizeRow(Level::kModule, EncodeModuleRecord(FullModule()))->products.size(), 2u);
  EXPECT_TRUE(SummarizeRow(Level::kMask, EncodeMask({})).ok());
  EXPECT_FALSE(SummarizeRow(Level::kAlias, EncodeMask({})).ok());
  EXPECT_FALSE(SummarizeRow(Level::kMask, EncodeRecord(FullRecord())).ok());
}

}  // namespace
}  // namespace kiln::cache
