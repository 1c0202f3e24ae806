// SPDX-License-Identifier: MIT
// What blobs of a family share, what that saves, and what `kiln pack stats` says of it.
#include "cache/pack/write/family.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "cache/pack/test_pack_file.h"
#include "cache/pack/write/cost.h"

namespace kiln::pack {
namespace {

using testing::MakeSample;
using testing::PackFile;
using testing::Sample;

class PackFamily : public PackFile {};

TEST_F(PackFamily, VariantsOfModules_TakeAFractionOfWhatZstdMakesOfThem) {
  Sample sample = MakeSample(1, 1, 0);
  testing::AddModules(sample, 400);
  uint64_t raw = 0;
  for (const auto& [id, bytes] : sample.blobs) {
    raw += bytes.size();
  }
  Write(sample, "a");
  const SectionEntry data = testing::SectionIn(AsBytes(TextOf("a")), SectionKind::kData);
  EXPECT_GT(raw, 1'000'000u);
  EXPECT_LT(data.stored_size * 50, raw);
  EXPECT_TRUE(Open("a")->Verify().ok());
}

// Noise beside modules: blocks that do not become smaller, with and without modules in them.
TEST_F(PackFamily, WhatDoesNotCompress_IsStoredAsItIs) {
  Sample sample = MakeSample(1, 1, 0);
  testing::AddModules(sample, 40);
  std::mt19937 random(1);
  uint64_t raw = 0;
  for (Artifact& artifact : sample.contents.artifacts) {
    std::string noise(20'000, ' ');
    std::generate(noise.begin(), noise.end(), [&] { return static_cast<char>(random()); });
    raw += noise.size();
    artifact.code.push_back({.stage = artifact.code.front().stage, .digest = sample.Add(noise)});
    raw += noise.size();
    noise[5] = static_cast<char>(noise[5] ^ 1);
    std::reverse(noise.begin(), noise.end());
    artifact.metadata = sample.Add(noise);
  }
  const WriteReport written = Write(sample, "a");
  EXPECT_GT(written.file_bytes, raw);
  EXPECT_LT(written.file_bytes, raw + raw / 10);
  const auto pack = Open("a");
  EXPECT_TRUE(pack->Verify().ok());
  EXPECT_TRUE(std::any_of(pack->tables().blocks.begin(), pack->tables().blocks.end(),
                          [](const BlockRow& row) { return row.codec == Codec::kRaw; }));
}

TEST_F(PackFamily, ArtifactsInTheirOrder_LieSideBySide) {
  Sample sample = MakeSample(1, 1, 0);
  testing::AddModules(sample, 40);
  Write(sample, "a");
  const auto pack = Open("a");
  const Tables& t = pack->tables();
  uint32_t last = 0;
  for (const ArtifactRow& row : t.artifacts) {
    const auto from =
        std::find_if(sample.contents.artifacts.begin(), sample.contents.artifacts.end(),
                     [&](const Artifact& a) { return a.live_key == row.live_key; });
    EXPECT_GE(from->order, from->entry == 0 ? last : 0);
    last = from->order;
  }
  for (size_t i = 1; i < t.artifacts_by_key.size(); ++i) {
    EXPECT_LT(t.artifacts[t.artifacts_by_key[i - 1]].live_key,
              t.artifacts[t.artifacts_by_key[i]].live_key);
  }
}

// A blob takes its block and what that has as prefix, however large the pack is.
TEST_F(PackFamily, OneBlob_TakesTwoBlocksOfBoundedSize) {
  Sample sample = MakeSample(1, 1, 0);
  testing::AddModules(sample, 1500);
  Write(sample, "a");
  const auto pack = Open("a");
  EXPECT_GT(pack->tables().blocks.size(), 20u);
  for (const BlockRow& row : pack->tables().blocks) {
    EXPECT_LE(row.raw_size, (192U << 10) + row.symbol_bytes);
    if (row.codec == Codec::kZstdAfterBlock) {
      EXPECT_EQ(pack->tables().blocks[row.prefix].codec, Codec::kZstd);
    }
  }
}

TEST_F(PackFamily, Costs_AddUpToTheFile) {
  Sample sample = MakeSample(3, 3, 2);
  testing::AddModules(sample, 300);
  const SigningKey key = SigningKey::Generate().value();
  Write(sample, "a", {.key = &key});
  const auto pack = Open("a");
  const Tables& tables = pack->tables();
  const PackCost cost = CostOf(tables);
  const uint64_t stored = cost.index_bytes + cost.signature_bytes + cost.data_bytes;
  EXPECT_LE(stored, tables.header.file_size);  // sections begin at multiples of 8
  EXPECT_LE(tables.header.file_size - stored, 8 * tables.sections.size());
  EXPECT_EQ(cost.first.stored_bytes + cost.after_first.stored_bytes + cost.raw.stored_bytes,
            cost.data_bytes);
  EXPECT_EQ(cost.first.blocks + cost.after_first.blocks + cost.raw.blocks, tables.blocks.size());
  // Shares are rounded down, one byte for each blob at most.
  const uint64_t shares = cost.modules.stored_bytes + cost.others.stored_bytes + cost.symbol_bytes;
  EXPECT_LE(shares, cost.data_bytes);
  EXPECT_LE(cost.data_bytes - shares, tables.blobs.size() + tables.blocks.size());
  BlobCost programs;
  uint64_t artifacts = 0;
  for (const ProgramCost& program : cost.programs) {
    programs.blobs += program.blobs.blobs;
    programs.raw_bytes += program.blobs.raw_bytes;
    programs.stored_bytes += program.blobs.stored_bytes;
    artifacts += program.artifacts;
  }
  EXPECT_EQ(programs.blobs, tables.blobs.size());
  EXPECT_EQ(programs.raw_bytes, cost.modules.raw_bytes + cost.others.raw_bytes);
  EXPECT_EQ(programs.stored_bytes, cost.modules.stored_bytes + cost.others.stored_bytes);
  EXPECT_EQ(artifacts, tables.artifacts.size());
  EXPECT_EQ(cost.modules.blobs, 300u);
}

TEST_F(PackFamily, CostsOfADelta_AreThoseOfWhatItHas) {
  const Sample sample = testing::MakeKinSample(1, 40, 0);
  Write(sample, "0");
  const auto base = Open("0");
  Write(testing::MakeKinSample(1, 40, 2), "1", {.base = base.get()});
  const auto pack = Open("1", {.base = base});
  const PackCost cost = CostOf(pack->tables());
  EXPECT_EQ(cost.others.blobs, 2u);
  EXPECT_EQ(cost.in_base, pack->tables().blobs.size() - 2);
  EXPECT_EQ(cost.after_base.stored_bytes, cost.data_bytes);
}

}  // namespace
}  // namespace kiln::pack
