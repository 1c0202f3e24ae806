// SPDX-License-Identifier: MIT
// Packs that somebody cut, changed or made up: what is read is right, or an error that says what is
// wrong.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "cache/pack/errors.h"
#include "cache/pack/test_pack_file.h"

namespace kiln::pack {
namespace {

using testing::AddWarmPipelines;
using testing::AlignedBytes;
using testing::MakeSample;
using testing::PackFile;
using testing::ReadEverything;
using testing::Sample;
using testing::Seal;

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
