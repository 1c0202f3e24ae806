// SPDX-License-Identifier: MIT
// A pack as a whole: what was put in comes out.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "cache/pack/errors.h"
#include "cache/pack/test_pack_file.h"
#include "cache/pack/unpack.h"

namespace kiln::pack {
namespace {

using testing::AddWarmPipelines;
using testing::MakeSample;
using testing::PackFile;
using testing::Sample;
using testing::SampleVariant;

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

}  // namespace
}  // namespace kiln::pack
