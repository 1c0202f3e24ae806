// SPDX-License-Identifier: MIT
// A pack as a whole: what was put in comes out; nothing else is ever believed.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache/pack/errors.h"
#include "cache/pack/test_pack_file.h"
#include "cache/pack/unpack.h"

namespace kiln::pack {
namespace {

using testing::AlignedBytes;
using testing::MakeSample;
using testing::PackFile;
using testing::ReadEverything;
using testing::Sample;
using testing::SampleVariant;
using testing::Seal;

TEST_F(PackFile, EveryVariant_IsFoundWithItsBlobs) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Sample sample = MakeSample(seed, 1 + seed % 5, seed * 5);
    const WriteReport written =
        Write(sample, "a", {.mode = seed % 5 == 0 ? Mode::kSmall : Mode::kFast});
    EXPECT_EQ(written.artifacts, sample.contents.artifacts.size());
    const Result<std::unique_ptr<Pack>> pack = Pack::Open(Path("a"), {});
    ASSERT_TRUE(pack.ok()) << ErrorText(pack.error());
    EXPECT_TRUE((*pack)->Verify().ok());
    const Tables& tables = (*pack)->tables();
    for (const SampleVariant& variant : sample.variants) {
      const Entry& entry = sample.contents.entries[variant.entry];
      const auto program = (*pack)->FindProgram(sample.contents.programs[entry.program].name);
      ASSERT_TRUE(program.has_value());
      const auto row = (*pack)->FindEntry(*program, entry.target);
      ASSERT_TRUE(row.has_value());
      const auto found = (*pack)->FindArtifact(*row, variant.values);
      ASSERT_TRUE(found.has_value());
      const ArtifactRow& artifact = tables.artifacts[*found];
      EXPECT_EQ(artifact.live_key, variant.live_key);
      const auto expected =
          std::find_if(sample.contents.artifacts.begin(), sample.contents.artifacts.end(),
                       [&](const Artifact& a) { return a.live_key == variant.live_key; });
      EXPECT_EQ((*pack)->ReadBlob(artifact.metadata).value(),
                sample.blobs.at(expected->metadata.id));
      ASSERT_EQ(artifact.code_count, 2);
      for (uint32_t i = 0; i < 2; ++i) {  // stage order: the sample has the fragment stage first
        const CodeRow& code = tables.code[artifact.first_code + i];
        EXPECT_EQ(code.stage, i + 1);
        EXPECT_EQ((*pack)->ReadBlob(code.blob).value(),
                  sample.blobs.at(expected->code[1 - i].digest.id));
      }
    }
  }
}

TEST_F(PackFile, ContentsInAnyOrder_GiveTheSameBytes) {
  Sample sample = MakeSample(7, 3, 8);
  Write(sample, "a");
  std::mt19937 random(1);
  std::shuffle(sample.contents.artifacts.begin(), sample.contents.artifacts.end(), random);
  Write(sample, "b");
  EXPECT_EQ(ReadFile(Path("a")).value(), ReadFile(Path("b")).value());
}

TEST_F(PackFile, Pipelines_AreOncePerStateAndWarmOnesFirst) {
  const Sample sample = MakeSample(3, 4, 6);
  Write(sample, "a");
  const Result<std::unique_ptr<Pack>> pack = Pack::Open(Path("a"), {});
  const auto pipelines = (*pack)->tables().pipelines;
  std::set<Hash128> states;
  for (const PipelineRow& row : pipelines) {
    EXPECT_TRUE(states.insert(row.state_id).second);
  }
  for (const Artifact& artifact : sample.contents.artifacts) {
    EXPECT_TRUE(states.contains(artifact.state_id));
  }
  EXPECT_TRUE(std::is_sorted(
      pipelines.begin(), pipelines.end(),
      [](const PipelineRow& a, const PipelineRow& b) { return a.warm_rank < b.warm_rank; }));
}

// Two passes and three warm pipelines, one without a pass.
void AddWarmPipelines(Contents& contents) {
  contents.passes = {{.name = "shadow", .depth_format = 126},
                     {.name = "forward",
                      .view_mask = 3,
                      .samples = 4,
                      .color_formats = {97, kSwapchainFormat},
                      .depth_format = 130}};
  contents.warm = {{.live_key = contents.artifacts[1].live_key, .priority = 1, .lane = 1},
                   {.live_key = contents.artifacts[2].live_key,
                    .pass = "shadow",
                    .priority = 7,
                    .creation_us = 900,
                    .first_use_us = 50,
                    .hints = {{.set = 1, .binding = 2, .sampler_class = 3, .format = 37},
                              {.set = 1, .binding = 4, .sampler_class = 0, .format = 9}}},
                   {.live_key = contents.artifacts[0].live_key, .pass = "forward"}};
}

TEST_F(PackFile, WarmPipelines_AreInTheOrderOfBuildingWithPassesAndHints) {
  Sample sample = MakeSample(3, 4, 6);
  AddWarmPipelines(sample.contents);
  Write(sample, "a");
  const Result<std::unique_ptr<Pack>> pack = Pack::Open(Path("a"), {});
  ASSERT_TRUE(pack.ok()) << pack.error().context;
  const Tables& t = (*pack)->tables();
  ASSERT_EQ(t.passes.size(), 2u);
  EXPECT_EQ(t.String(t.passes[0].name), "forward");
  EXPECT_EQ(t.passes[0].samples, 4u);
  EXPECT_EQ(t.passes[0].color_count, 2u);
  EXPECT_EQ(t.passes[0].color_formats[1], kSwapchainFormat);
  ASSERT_EQ(t.warm.size(), 3u);
  const auto state = [&](const WarmRow& row) { return t.pipelines[row.pipeline].state_id; };
  EXPECT_EQ(state(t.warm[0]), sample.contents.artifacts[0].state_id);
  EXPECT_EQ(state(t.warm[1]), sample.contents.artifacts[2].state_id);
  EXPECT_EQ(state(t.warm[2]), sample.contents.artifacts[1].state_id);
  EXPECT_EQ(t.String(t.passes[t.warm[1].pass].name), "shadow");
  EXPECT_EQ(t.warm[2].pass, kNone);
  EXPECT_EQ(t.warm[1].creation_us, 900u);
  ASSERT_EQ(t.Hints(t.warm[1]).size(), 2u);
  EXPECT_EQ(t.Hints(t.warm[1])[0].format, 37u);
  EXPECT_TRUE(t.Hints(t.warm[0]).empty());
  for (const SectionEntry& section : t.sections) {  // older readers skip them
    const std::string name = SectionName(section.kind);
    if (name == "PASS" || name == "WARM" || name == "WHNT") {
      EXPECT_EQ(section.flags & kMustUnderstand, 0u) << name;
    }
  }
  // The way back gives the same bytes, whatever the order.
  Sample again = sample;
  again.contents = ContentsOf(**pack).value();
  std::reverse(again.contents.warm.begin(), again.contents.warm.end());
  std::reverse(again.contents.passes.begin(), again.contents.passes.end());
  Write(again, "b");
  EXPECT_EQ(ReadFile(Path("a")).value(), ReadFile(Path("b")).value());
}

TEST_F(PackFile, WarmPipelinesThatNameNothing_AreRefused) {
  const auto refused = [&](const std::function<void(Contents&)>& change) {
    Sample sample = MakeSample(3, 4, 6);
    AddWarmPipelines(sample.contents);
    change(sample.contents);
    const auto written = WritePack(sample.contents, sample.Source(), {}, Path("a"));
    return !written.ok() && written.error().code == ErrorCode::kInvalidArgument;
  };
  EXPECT_FALSE(refused([](Contents&) {}));
  EXPECT_TRUE(refused([](Contents& c) { c.warm[0].live_key = DigestOf("none").id; }));
  EXPECT_TRUE(refused([](Contents& c) { c.warm[1].pass = "other"; }));
  EXPECT_TRUE(refused([](Contents& c) { c.warm[1].hints.resize(256); }));
  EXPECT_TRUE(refused([](Contents& c) { c.passes[1].name = "shadow"; }));
  EXPECT_TRUE(refused([](Contents& c) { c.passes[0].color_formats.resize(9); }));
}

// The first program once more under another name, as two of a manifest with equal texts are.
Sample WithTwin(uint32_t seed) {
  Sample sample = MakeSample(seed, 3, 6);
  Contents& contents = sample.contents;
  contents.programs.push_back(contents.programs[0]);
  contents.programs.back().name = "a twin";
  const auto entries = static_cast<uint32_t>(contents.entries.size());
  const auto artifacts = contents.artifacts.size();
  for (uint32_t i = 0; i < entries; ++i) {
    if (contents.entries[i].program != 0) {
      continue;
    }
    const auto twin = static_cast<uint32_t>(contents.entries.size());
    contents.entries.push_back(contents.entries[i]);
    contents.entries.back().program = static_cast<uint32_t>(contents.programs.size() - 1);
    for (size_t a = 0; a < artifacts; ++a) {
      if (contents.artifacts[a].entry == i) {
        contents.artifacts.push_back(contents.artifacts[a]);
        contents.artifacts.back().entry = twin;
      }
    }
  }
  return sample;
}

TEST_F(PackFile, ProgramsOfTheSameContent_EachHaveTheirArtifacts) {
  for (uint32_t seed = 0; seed < 5; ++seed) {
    const Sample sample = WithTwin(seed);
    Write(sample, "a");
    const Result<std::unique_ptr<Pack>> pack = Pack::Open(Path("a"), {});
    ASSERT_TRUE(pack.ok()) << ErrorText(pack.error());
    EXPECT_TRUE((*pack)->Verify().ok());
    const Tables& tables = (*pack)->tables();
    for (const SampleVariant& variant : sample.variants) {
      const Entry& entry = sample.contents.entries[variant.entry];
      if (entry.program != 0) {
        continue;
      }
      std::set<uint32_t> rows;
      for (const std::string& name : {sample.contents.programs[0].name, std::string("a twin")}) {
        const auto row = (*pack)->FindEntry((*pack)->FindProgram(name).value(), entry.target);
        ASSERT_TRUE(row.has_value()) << name;
        const auto found = (*pack)->FindArtifact(*row, variant.values);
        ASSERT_TRUE(found.has_value()) << name;
        EXPECT_EQ(tables.artifacts[*found].entry, *row) << name;
        EXPECT_EQ(tables.artifacts[*found].live_key, variant.live_key) << name;
        EXPECT_TRUE(rows.insert(*found).second);
      }
    }
    // The way back gives the same bytes.
    Sample again = sample;
    again.contents = ContentsOf(**pack).value();
    Write(again, "b");
    EXPECT_EQ(TextOf("a"), TextOf("b"));
  }
}

TEST_F(PackFile, ArtifactOfAnEntryTwice_IsNamed) {
  Sample sample = MakeSample(2, 2, 4);
  sample.contents.artifacts.push_back(sample.contents.artifacts[0]);
  const Contents& contents = sample.contents;
  const Entry& entry = contents.entries[contents.artifacts[0].entry];
  EXPECT_EQ(WritePack(contents, sample.Source(), {}, Path("a")).error().context,
            "artifact " + contents.artifacts[0].live_key.hex() + " of program '" +
                contents.programs[entry.program].name + "' for target '" + entry.target +
                "' is there twice");
}

TEST_F(PackFile, WhatIsNotThere_IsNotFound) {
  const Sample sample = MakeSample(2, 2, 4);
  Write(sample, "a");
  const Result<std::unique_ptr<Pack>> pack = Pack::Open(Path("a"), {});
  EXPECT_FALSE((*pack)->FindProgram("program").has_value());
  EXPECT_FALSE((*pack)->FindProgram("zzz").has_value());
  EXPECT_FALSE((*pack)->FindEntry(0, "msl").has_value());
}

TEST_F(PackFile, WrongContents_AreNamedAndLeaveNoFile) {
  Sample sample = MakeSample(2, 2, 4);
  sample.contents.artifacts.push_back(sample.contents.artifacts[0]);
  EXPECT_EQ(WritePack(sample.contents, sample.Source(), {}, Path("a")).error().code,
            ErrorCode::kInvalidArgument);
  sample.contents.artifacts.pop_back();
  const BlobSource liar = [](const Digest&) -> Result<Bytes> { return Bytes(3); };
  EXPECT_EQ(WritePack(sample.contents, liar, {}, Path("a")).error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(WritePack(sample.contents, sample.Source(), {}, "/proc/none/a").error().code,
            ErrorCode::kNotFound);
}

TEST_F(PackFile, CutAnywhere_IsTruncatedOrPartial) {
  const Sample sample = MakeSample(5, 2, 5);
  Write(sample, "a");
  const std::string text = ReadFile(Path("a")).value();
  for (size_t size = 0; size < text.size(); size += size < 200 ? 1 : 997) {
    AlignedBytes cut(std::string_view(text).substr(0, size));
    const auto pack = Pack::OpenBytes(cut.bytes(), {});
    ASSERT_FALSE(pack.ok()) << size;
    EXPECT_EQ(pack.error().reason, kTruncated) << size << ": " << pack.error().context;
  }
  AlignedBytes cut(std::string_view(text).substr(0, text.size() - 1));
  const auto partial = Pack::OpenBytes(cut.bytes(), {.allow_partial = true});
  ASSERT_TRUE(partial.ok()) << ErrorText(partial.error());
  EXPECT_EQ((*partial)->Verify().error().reason, kBlockMissing);
  AlignedBytes more(text + "x");
  EXPECT_EQ(Pack::OpenBytes(more.bytes(), {}).error().reason, kCorrupt);
}

TEST_F(PackFile, OtherFiles_AreNotPacks) {
  for (const std::string& text : {std::string("#!/bin/sh\n"), std::string(4096, '\0')}) {
    AlignedBytes bytes(text);
    EXPECT_EQ(Pack::OpenBytes(bytes.bytes(), {}).error().reason, kNotAPack);
  }
  EXPECT_EQ(Pack::Open(folder, {}).error().reason, "FILE");
  EXPECT_EQ(Pack::Open(Path("missing"), {}).error().reason, "FILE");
}

TEST_F(PackFile, FlippedBytes_GiveTheRightBytesOrAnError) {
  const Sample sample = MakeSample(11, 2, 6);
  Write(sample, "a");
  const std::string text = ReadFile(Path("a")).value();
  std::mt19937 random(3);
  for (int i = 0; i < testing::Rounds(3000, 100'000); ++i) {
    AlignedBytes bytes(text);
    for (uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes.bytes()[random() % text.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    }
    ReadEverything(bytes.bytes(), sample);
  }
}

// Damage with sums that fit, as somebody hostile makes it, of rows before they are compressed.
TEST_F(PackFile, HostileRowsWithRightSums_AreRefusedOrHarmless) {
  Sample sample = MakeSample(13, 2, 6);
  AddWarmPipelines(sample.contents);
  testing::AddModules(sample, 24);
  Write(sample, "a");
  const std::string text = TextOf("a");
  const std::vector<SectionEntry> table = testing::TableIn(AsBytes(text));
  std::mt19937 random(5);
  for (int i = 0; i < testing::Rounds(2000, 100'000); ++i) {
    const SectionEntry& section = table[random() % (table.size() - 1)];
    if (section.raw_size < 4) {
      continue;
    }
    AlignedBytes bytes(
        testing::WithSection(text, section.kind, [&](Bytes& raw, const SectionEntry&) {
          const size_t at = random() % (raw.size() / 4) * 4;
          const uint32_t values[] = {0, 1, kNone, 0x80000000U, static_cast<uint32_t>(random())};
          std::memcpy(raw.data() + at, &values[random() % 5], 4);
        }));
    ReadEverything(bytes.bytes(), sample);
  }
}

// The same of stored bytes: what zstd is given, and blocks.
TEST_F(PackFile, HostileStoredBytesWithRightSums_AreRefusedOrHarmless) {
  Sample sample = MakeSample(13, 2, 6);
  testing::AddModules(sample, 24);
  Write(sample, "a");
  const std::string text = TextOf("a");
  const std::vector<SectionEntry> table = testing::TableIn(AsBytes(text));
  std::mt19937 random(6);
  for (int i = 0; i < testing::Rounds(2000, 100'000); ++i) {
    AlignedBytes bytes(text);
    const SectionEntry& section = table[random() % table.size()];
    if (section.stored_size == 0) {
      continue;
    }
    bytes.bytes()[section.offset + random() % section.stored_size] =
        static_cast<std::byte>(random());
    Seal(bytes.bytes());
    ReadEverything(bytes.bytes(), sample);
  }
}

TEST_F(PackFile, OfANewerKiln_IsRefusedByName) {
  Write(MakeSample(1, 1, 2), "a");
  const std::string text = ReadFile(Path("a")).value();
  AlignedBytes newer(text);
  newer.bytes()[8] = std::byte{kMajor + 1};
  Seal(newer.bytes());
  EXPECT_EQ(Pack::OpenBytes(newer.bytes(), {}).error().reason, kNeedsNewer);
}

TEST_F(PackFile, OfAnOlderKiln_SaysWhatToDo) {
  Write(MakeSample(1, 1, 2), "a");
  const std::string text = ReadFile(Path("a")).value();
  AlignedBytes older(text);
  // 1: whose ids were no digests that resist; 2: whose blocks had trained dictionaries.
  for (const uint8_t major : {1, 2}) {
    older.bytes()[8] = std::byte{major};
    Seal(older.bytes());
    const Error error = Pack::OpenBytes(older.bytes(), {}).error();
    EXPECT_EQ(error.reason, kTooOld);
    EXPECT_NE(error.context.find("build the pack again"), std::string::npos) << error.context;
  }
}

TEST_F(PackFile, SectionWithAnotherId_IsFoundByVerify) {
  Write(MakeSample(1, 1, 2), "a");
  AlignedBytes bytes(ReadFile(Path("a")).value());
  Header header = testing::HeaderIn(bytes.bytes());
  std::vector<SectionEntry> table = testing::TableIn(bytes.bytes());
  table[0].id.bytes[0] ^= 1;  // its checksum is right, and so is the pack's id of such a table
  const ByteView rows = std::as_bytes(std::span(table));
  std::memcpy(bytes.bytes().data() + header.table_offset, rows.data(), rows.size());
  header.pack_id = HashBytes(rows);
  header.checksum = Checksum64(ByteView(std::as_bytes(std::span(&header, 1))).first(120));
  std::memcpy(bytes.bytes().data(), &header, sizeof(header));
  const auto pack = Pack::OpenBytes(bytes.bytes(), {});
  ASSERT_TRUE(pack.ok()) << pack.error().context;
  const Result<void> verified = (*pack)->Verify();
  ASSERT_FALSE(verified.ok());
  EXPECT_EQ(verified.error().reason, kCorrupt);
}

TEST_F(PackFile, SectionsOfANewerWriter_AreSkippedUnlessTheyMatter) {
  struct Row {
    uint32_t flags;
    Codec codec;
    std::string_view error;
  };
  const Sample sample = MakeSample(4, 2, 4);
  Write(sample, "a");
  const std::string text = TextOf("a");
  for (const Row& row : {Row{0, Codec::kRaw, ""}, Row{0, Codec::kZstd, ""},
                         Row{kMustUnderstand, Codec::kRaw, kNeedsNewer},
                         Row{kMustUnderstand, Codec::kZstd, kNeedsNewer}}) {
    AlignedBytes bytes(text);
    std::vector<SectionEntry> table = testing::TableIn(bytes.bytes());
    for (SectionEntry& section : table) {
      if (section.kind == SectionKind::kInfo) {  // nothing hangs on it
        section.kind = SectionKind{FourCharacters("NEWS")};
        section.flags = row.flags;
        section.codec = row.codec;
      }
    }
    Seal(bytes.bytes(), testing::HeaderIn(bytes.bytes()), table);
    const auto pack = Pack::OpenBytes(bytes.bytes(), {});
    EXPECT_EQ(pack.ok() ? "" : pack.error().reason, row.error);
    if (!pack.ok()) {
      EXPECT_NE(pack.error().context.find("NEWS"), std::string::npos) << pack.error().context;
    }
  }
}

TEST_F(PackFile, SectionThatIsThereTwice_IsCorrupt) {
  Write(MakeSample(4, 2, 4), "a");
  AlignedBytes bytes(TextOf("a"));
  std::vector<SectionEntry> table = testing::TableIn(bytes.bytes());
  table[0] = table[1];
  Seal(bytes.bytes(), testing::HeaderIn(bytes.bytes()), table);
  EXPECT_EQ(Pack::OpenBytes(bytes.bytes(), {}).error().reason, kCorrupt);
}

TEST_F(PackFile, Sections_LieInTheOrderOfTheSpec) {
  const SigningKey key = SigningKey::Generate().value();
  Write(testing::MakeKinSample(1), "a", {.key = &key});
  const std::string text = TextOf("a");
  std::string order;
  for (const SectionEntry& section : testing::TableIn(AsBytes(text))) {
    order += SectionName(section.kind) + " ";
    EXPECT_EQ(section.offset % kSectionBytes, 0u);
  }
  EXPECT_EQ(order, "INFO STRS PROG OPTN ENTR LIVE LAYT ARTF CODE PSOS BIDX BLKS HASH SIGN BDAT ");
}

TEST_F(PackFile, OpenedAndWrittenAgain_HasTheSameBytes) {
  for (const Mode mode : {Mode::kFast, Mode::kSmall}) {
    Write(testing::MakeKinSample(1), "a", {.mode = mode});
    const auto pack = Open("a");
    const Result<Contents> contents = ContentsOf(*pack);
    ASSERT_TRUE(contents.ok());
    ASSERT_TRUE(WritePack(*contents, BlobsOf(*pack), {.mode = mode}, Path("b")).ok());
    EXPECT_EQ(TextOf("a"), TextOf("b"));
  }
}

TEST_F(PackFile, BlobOfALargerBlock_MayNotGrowAHundredfold) {
  Sample sample = MakeSample(1, 1, 0);
  // Zeros compress a thousandfold: they are stored as they are.
  sample.contents.artifacts[0].metadata = sample.Add(std::string(3 << 20, '\0'));
  EXPECT_GT(Write(sample, "a").file_bytes, uint64_t{3} << 20);
  EXPECT_TRUE(Open("a")->Verify().ok());
}

struct HostileBlock {
  std::string_view what;
  std::function<void(std::vector<BlockRow>&)> change;
  std::string_view error;
};

TEST_F(PackFile, HostileBlocks_AreRefusedBeforeAnythingIsAllocated) {
  Sample sample = testing::MakeKinSample(1);
  testing::AddModules(sample, 400);
  Write(sample, "a");
  const std::string text = TextOf("a");
  const auto sound = Open("a")->tables().blocks;
  // The one with a table of symbols, and those that have it as prefix.
  const auto first = static_cast<uint32_t>(
      std::find_if(sound.begin(), sound.end(),
                   [](const BlockRow& row) { return row.symbol_bytes != 0; }) -
      sound.begin());
  ASSERT_LT(first + 2, sound.size());
  ASSERT_EQ(sound[first + 2].codec, Codec::kZstdAfterBlock);
  for (const HostileBlock& row : std::vector<HostileBlock>{
           {"claims 4 GiB", [&](auto& b) { b[first].raw_size = 0xFFFFFFFF; }, kLimit},
           {"claims what its ratio does not allow",
            [&](auto& b) { b[first + 1].raw_size = 60U << 20; }, kLimit},
           {"a codec of tomorrow", [&](auto& b) { b[first].codec = Codec{9}; }, kNeedsNewer},
           {"a prefix behind it", [&](auto& b) { b[first + 1].prefix = first + 2; }, kCorrupt},
           {"itself as prefix", [&](auto& b) { b[first + 1].prefix = first + 1; }, kCorrupt},
           {"no prefix", [&](auto& b) { b[first + 1].prefix = kNone; }, kCorrupt},
           {"a prefix that has one", [&](auto& b) { b[first + 2].prefix = first + 1; }, kCorrupt},
           {"a prefix of 2 MiB", [&](auto& b) { b[first].raw_size = 2U << 20; }, kCorrupt},
           {"a prefix that it does not use", [&](auto& b) { b[first + 1].codec = Codec::kZstd; },
            kCorrupt},
           {"a base where there is none",
            [&](auto& b) { b[first + 1].codec = Codec::kZstdAfterBase; }, kCorrupt},
           {"beyond the data", [&](auto& b) { b[first].offset = uint64_t{1} << 40; }, kCorrupt},
           {"more symbols than bytes",
            [&](auto& b) { b[first].symbol_bytes = b[first].raw_size + 4; }, kCorrupt},
           {"more symbols than may be",
            [&](auto& b) { b[first].symbol_bytes = cache::kMaxSymbolBytes + 4; }, kCorrupt},
           {"a table cut short", [&](auto& b) { b[first].symbol_bytes = 8; }, kCorrupt},
           {"modules without a table", [&](auto& b) { b[first].symbol_bytes = 0; }, kCorrupt},
           {"raw of another size",
            [&](auto& b) {
              b[first].codec = Codec::kRaw;
              b[first].prefix = kNone;
            },
            kCorrupt},
       }) {
    AlignedBytes bytes(testing::WithRows<BlockRow>(text, SectionKind::kBlocks, row.change));
    const auto pack = Pack::OpenBytes(bytes.bytes(), {});
    const Result<void> read = pack.ok() ? (*pack)->Verify() : Result<void>(pack.error());
    ASSERT_FALSE(read.ok()) << row.what;
    EXPECT_EQ(read.error().reason, row.error) << row.what << ": " << read.error().context;
  }
}

TEST_F(PackFile, HostileBlobs_AreRefusedBeforeAnythingIsAllocated) {
  Sample sample = MakeSample(1, 1, 2);
  testing::AddModules(sample, 400);
  Write(sample, "a");
  const std::string text = TextOf("a");
  const auto sound = Open("a")->tables().blobs;
  const auto module = static_cast<size_t>(
      std::find_if(sound.begin(), sound.end(),
                   [](const BlobRow& row) { return (row.flags & kModule) != 0; }) -
      sound.begin());
  const auto other = static_cast<size_t>(
      std::find_if(sound.begin(), sound.end(), [](const BlobRow& row) { return row.flags == 0; }) -
      sound.begin());
  ASSERT_TRUE(module < sound.size() && other < sound.size());
  struct Row {
    std::string_view what;
    std::function<void(std::vector<BlobRow>&)> change;
    std::string_view error;
  };
  for (const Row& row : std::vector<Row>{
           {"a module of 4 GiB", [&](auto& b) { b[module].raw_size = 0xFFFFFFFC; }, kLimit},
           {"a module that grew a hundredfold", [&](auto& b) { b[module].raw_size = 2U << 20; },
            kLimit},
           {"a module of another size", [&](auto& b) { b[module].raw_size += 4; }, kCorrupt},
           {"a module that is none", [&](auto& b) { b[module].flags = 0; }, kCorrupt},
           {"raw bytes of another size", [&](auto& b) { ++b[other].raw_size; }, kCorrupt},
           {"beyond its block", [&](auto& b) { b[module].size = 1U << 30; }, kCorrupt},
           {"a block that is not there", [&](auto& b) { b[module].block = 1U << 30; }, kCorrupt},
           {"in a base where there is none", [&](auto& b) { b[other].flags = kInBase; }, kCorrupt},
           {"an id that is there twice", [&](auto& b) { b[module].id = b[other].id; }, kCorrupt},
       }) {
    AlignedBytes bytes(testing::WithRows<BlobRow>(text, SectionKind::kBlobs, row.change));
    const auto pack = Pack::OpenBytes(bytes.bytes(), {});
    const Result<void> read = pack.ok() ? (*pack)->Verify() : Result<void>(pack.error());
    ASSERT_FALSE(read.ok()) << row.what;
    EXPECT_EQ(read.error().reason, row.error) << row.what << ": " << read.error().context;
  }
}

// Rows that many share would be looked at as often as somebody chose.
TEST_F(PackFile, RowsThatAreNotOnesOwn_AreRefusedAtOnce) {
  Write(MakeSample(2, 3, 2), "a");
  const std::string text = TextOf("a");
  ASSERT_TRUE(Pack::OpenBytes(AlignedBytes(text).bytes(), {}).ok());
  AlignedBytes options(testing::WithRows<ProgramRow>(
      text, SectionKind::kPrograms, [](std::vector<ProgramRow>& rows) {
        ASSERT_GE(rows.size(), 2u);
        ASSERT_NE(rows[0].option_count, 0u);
        for (ProgramRow& row : rows) {
          row.first_option = 0;
          row.option_count = rows[0].option_count * static_cast<uint32_t>(rows.size());
        }
      }));
  const auto shared = Pack::OpenBytes(options.bytes(), {});
  ASSERT_FALSE(shared.ok());
  EXPECT_EQ(shared.error().reason, kCorrupt);
  EXPECT_NE(shared.error().context.find("programs have more"), std::string::npos)
      << shared.error().context;
  AlignedBytes modules(testing::WithRows<ArtifactRow>(
      text, SectionKind::kArtifacts,
      [](std::vector<ArtifactRow>& rows) { rows[0].code_count = kMaxModules + 1; }));
  const auto many = Pack::OpenBytes(modules.bytes(), {});
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().reason, kCorrupt);
}

// Two artifacts of one entry have one key, or those of two stand in another order than these:
// nobody could say which is meant.
TEST_F(PackFile, KeysThatAreThereTwice_AreRefused) {
  Write(MakeSample(2, 3, 6), "a");
  const auto opens = [&](uint32_t first, uint32_t second) {
    AlignedBytes bytes(testing::WithRows<ArtifactRow>(TextOf("a"), SectionKind::kArtifacts,
                                                      [&](std::vector<ArtifactRow>& rows) {
                                                        rows[1].live_key = rows[0].live_key;
                                                        rows[0].entry = first;
                                                        rows[1].entry = second;
                                                      }));
    return Pack::OpenBytes(bytes.bytes(), {}).ok();
  };
  EXPECT_TRUE(opens(0, 1));
  EXPECT_FALSE(opens(0, 0));
  EXPECT_FALSE(opens(1, 0));
}

TEST_F(PackFile, HostileSections_AreRefusedBeforeAnythingIsAllocated) {
  Write(MakeSample(1, 2, 4), "a");
  const std::string text = TextOf("a");
  struct Row {
    std::string_view what;
    std::function<void(SectionEntry&)> change;
    std::string_view error;
  };
  for (const Row& row : std::vector<Row>{
           {"claims 2 GiB", [](SectionEntry& s) { s.raw_size = uint64_t{2} << 30; }, kLimit},
           {"claims what its ratio does not allow", [](SectionEntry& s) { s.raw_size = 32 << 20; },
            kLimit},
           {"another size", [](SectionEntry& s) { ++s.raw_size; }, kCorrupt},
           {"other rows", [](SectionEntry& s) { ++s.rows; }, kCorrupt},
           {"a base where there is none", [](SectionEntry& s) { s.codec = Codec::kZstdAfterBase; },
            kCorrupt},
           {"a block as prefix", [](SectionEntry& s) { s.codec = Codec::kZstdAfterBlock; },
            kNeedsNewer},
           {"a codec of tomorrow", [](SectionEntry& s) { s.codec = Codec{9}; }, kNeedsNewer},
           {"raw of another size", [](SectionEntry& s) { s.codec = Codec::kRaw; }, kCorrupt},
           {"an odd place", [](SectionEntry& s) { ++s.offset; }, kCorrupt},
       }) {
    AlignedBytes bytes(text);
    std::vector<SectionEntry> table = testing::TableIn(bytes.bytes());
    for (SectionEntry& section : table) {
      if (section.kind == SectionKind::kBlobs) {
        ASSERT_EQ(section.codec, Codec::kZstd);
        row.change(section);
      }
    }
    Seal(bytes.bytes(), testing::HeaderIn(bytes.bytes()), table);
    const auto pack = Pack::OpenBytes(bytes.bytes(), {});
    ASSERT_FALSE(pack.ok()) << row.what;
    EXPECT_EQ(pack.error().reason, row.error) << row.what << ": " << pack.error().context;
  }
}

TEST_F(PackFile, EveryByteInTurn_GivesTheRightBytesOrAnError) {
  Sample sample = MakeSample(17, 1, 2);
  testing::AddModules(sample, 3);
  Write(sample, "a");
  const std::string text = TextOf("a");
  for (size_t at = 0; at < text.size(); ++at) {
    AlignedBytes bytes(text);
    bytes.bytes()[at] ^= std::byte{0xFF};
    ReadEverything(bytes.bytes(), sample);
  }
}

}  // namespace
}  // namespace kiln::pack
