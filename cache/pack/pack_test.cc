// SPDX-License-Identifier: MIT
// A pack as a whole: what was put in comes out; nothing else is ever believed.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache/pack/errors.h"
#include "cache/pack/reader.h"
#include "cache/pack/sample_contents.h"
#include "cache/pack/writer.h"
#include "compiler/base/file.h"

namespace kiln::pack {
namespace {

using testing::MakeSample;
using testing::Sample;
using testing::SampleVariant;

class PackFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "kiln_pack_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name + ".kpack"; }
  Written Write(const Sample& sample, const std::string& name, Mode mode = Mode::kFast) {
    Result<Written> written = WritePack(sample.contents, sample.Source(), mode, Path(name));
    EXPECT_TRUE(written.ok()) << ErrorText(written.error());
    return *written;
  }
  std::string folder_;
};

// The file's bytes where rows may be read from.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::string_view text) : words_(text.size() / 8 + 1), size_(text.size()) {
    std::copy(text.begin(), text.end(), reinterpret_cast<char*>(words_.data()));
  }
  std::span<std::byte> bytes() { return {reinterpret_cast<std::byte*>(words_.data()), size_}; }

 private:
  std::vector<uint64_t> words_;
  size_t size_;
};

TEST_F(PackFile, EveryVariant_IsFoundWithItsBlobs) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Sample sample = MakeSample(seed, 1 + seed % 5, seed * 5);
    const Written written = Write(sample, "a", seed % 5 == 0 ? Mode::kSmall : Mode::kFast);
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
  EXPECT_EQ(WritePack(sample.contents, sample.Source(), Mode::kFast, Path("a")).error().code,
            ErrorCode::kInvalidArgument);
  sample.contents.artifacts.pop_back();
  const BlobSource liar = [](const Digest&) -> Result<Bytes> { return Bytes(3); };
  EXPECT_EQ(WritePack(sample.contents, liar, Mode::kFast, Path("a")).error().code,
            ErrorCode::kCorrupt);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_EQ(WritePack(sample.contents, sample.Source(), Mode::kFast, "/proc/none/a").error().code,
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
  EXPECT_EQ(Pack::Open(folder_, {}).error().reason, "FILE");
  EXPECT_EQ(Pack::Open(Path("missing"), {}).error().reason, "FILE");
}

// What every reader does with a pack; no answer may be wrong.
void ReadEverything(std::span<std::byte> bytes, const Sample& sample) {
  const auto pack = Pack::OpenBytes(bytes, {.allow_partial = true});
  if (!pack.ok()) {
    EXPECT_TRUE(pack.error().reason.starts_with("PACK_")) << pack.error().reason;
    return;
  }
  const Tables& tables = (*pack)->tables();
  for (uint32_t blob = 0; blob < tables.blobs.size(); ++blob) {
    const Result<Bytes> read = (*pack)->ReadBlob(blob);
    if (read.ok()) {
      EXPECT_EQ(HashBytes(*read), tables.blobs[blob].id);
    }
  }
  for (const SampleVariant& variant : sample.variants) {
    const auto program = (*pack)->FindProgram(
        sample.contents.programs[sample.contents.entries[variant.entry].program].name);
    if (program.has_value()) {
      const auto entry =
          (*pack)->FindEntry(*program, sample.contents.entries[variant.entry].target);
      if (entry.has_value() && tables.programs[*program].option_count == variant.values.size()) {
        (void)(*pack)->FindArtifact(*entry, variant.values);
      }
    }
  }
}

TEST_F(PackFile, FlippedBytes_GiveTheRightBytesOrAnError) {
  const Sample sample = MakeSample(11, 2, 6);
  Write(sample, "a");
  const std::string text = ReadFile(Path("a")).value();
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    AlignedBytes bytes(text);
    for (uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes.bytes()[random() % text.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    }
    ReadEverything(bytes.bytes(), sample);
  }
}

// Damage with sums that fit, as somebody hostile makes it.
void Seal(std::span<std::byte> bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const size_t table_bytes = size_t{header.section_count} * sizeof(SectionEntry);
  for (uint32_t i = 0; i < header.section_count; ++i) {
    std::byte* at = bytes.data() + header.table_offset + i * sizeof(SectionEntry);
    SectionEntry entry;
    std::memcpy(&entry, at, sizeof(entry));
    entry.id = HashBytes(ByteView(bytes).subspan(entry.offset, entry.stored_size));
    std::memcpy(at, &entry, sizeof(entry));
  }
  header.pack_id = HashBytes(ByteView(bytes).subspan(header.table_offset, table_bytes));
  header.checksum = Hash64(ByteView(std::as_bytes(std::span(&header, 1))).first(120));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

TEST_F(PackFile, HostileRowsWithRightSums_AreRefusedOrHarmless) {
  const Sample sample = MakeSample(13, 2, 6);
  Write(sample, "a");
  const std::string text = ReadFile(Path("a")).value();
  Header header;
  std::memcpy(&header, text.data(), sizeof(header));
  std::vector<SectionEntry> table(header.section_count);
  std::memcpy(table.data(), text.data() + header.table_offset, table.size() * sizeof(SectionEntry));
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) {
    AlignedBytes bytes(text);
    const SectionEntry& section = table[random() % (table.size() - 1)];
    if (section.stored_size < 4) {
      continue;
    }
    const size_t at = section.offset + random() % (section.stored_size / 4) * 4;
    const uint32_t values[] = {0, 1, kNone, 0x80000000U, static_cast<uint32_t>(random())};
    std::memcpy(bytes.bytes().data() + at, &values[random() % 5], 4);
    Seal(bytes.bytes());
    ReadEverything(bytes.bytes(), sample);
  }
}

TEST_F(PackFile, OfANewerKiln_IsRefusedByName) {
  Write(MakeSample(1, 1, 2), "a");
  const std::string text = ReadFile(Path("a")).value();
  AlignedBytes newer(text);
  newer.bytes()[8] = std::byte{2};
  Seal(newer.bytes());
  EXPECT_EQ(Pack::OpenBytes(newer.bytes(), {}).error().reason, kNeedsNewer);
}

}  // namespace
}  // namespace kiln::pack
