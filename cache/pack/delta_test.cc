// SPDX-License-Identifier: MIT
// Deltas: everything is found through the base, a wrong base is never used, chains end.
#include <algorithm>
#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache/pack/chain.h"
#include "cache/pack/errors.h"
#include "cache/pack/test_pack_file.h"
#include "cache/pack/unpack.h"

namespace kiln::pack {
namespace {

using testing::AlignedBytes;
using testing::MakeKinSample;
using testing::PackFile;
using testing::ReadEverything;
using testing::Sample;

class PackDelta : public PackFile {
 protected:
  // "0" is complete; "n" is a delta of "n - 1" with one more edited program.
  void WriteChain(uint32_t links, const SigningKey* key = nullptr) {
    std::shared_ptr<const Pack> base;
    for (uint32_t link = 0; link <= links; ++link) {
      Write(MakeKinSample(1, 100, link), std::to_string(link), {.base = base.get(), .key = key});
      base = Open(std::to_string(link), {.base = base});
    }
  }
};

TEST_F(PackDelta, OfOnePercent_IsSmallAndGivesEverything) {
  for (const Mode mode : {Mode::kFast, Mode::kSmall}) {
    Write(MakeKinSample(1), "base", {.mode = mode});
    const auto base = Open("base");
    const Sample sample = MakeKinSample(1, 100, 1);
    const WriteReport delta = Write(sample, "delta", {.mode = mode, .base = base.get()});
    EXPECT_EQ(delta.in_base, delta.blobs - 1);
    // The index is complete, so what is small is the data.
    const std::string text = TextOf("delta");
    const SectionEntry data = testing::SectionIn(AsBytes(text), SectionKind::kData);
    const std::string full_text = TextOf("base");
    const SectionEntry full_data = testing::SectionIn(AsBytes(full_text), SectionKind::kData);
    EXPECT_LE(data.stored_size * 100, full_data.stored_size);
    const auto pack = Open("delta", {.base = base});
    EXPECT_EQ(pack->links(), 1u);
    ASSERT_TRUE(pack->Verify().ok());
    for (const auto& [id, bytes] : sample.blobs) {
      EXPECT_EQ(pack->ReadBlob(pack->FindBlob(id).value()).value(), bytes);
    }
  }
}

TEST_F(PackDelta, ChangedBlob_IsCompressedAfterItsKinInTheBase) {
  WriteChain(1);
  const auto pack = Open("1", {.base = Open("0")});
  ASSERT_EQ(pack->tables().blocks.size(), 1u);
  EXPECT_EQ(pack->tables().blocks[0].codec, Codec::kZstdAfterBase);
  EXPECT_LT(pack->tables().blocks[0].stored_size, 200u);
}

TEST_F(PackDelta, ChangedModule_IsWordsAfterThoseOfItsKin) {
  Sample sample = testing::MakeSample(1, 1, 0);
  testing::AddModules(sample, 200);
  Write(sample, "0");
  const auto base = Open("0");
  sample.contents.artifacts.pop_back();
  const Bytes other = testing::SampleModule(5000);  // of other constants
  sample.contents.artifacts.back().code[0].digest = sample.Add(AsText(other));
  const WriteReport written = Write(sample, "1", {.base = base.get()});
  EXPECT_EQ(written.blobs - written.in_base, 1u);
  const auto pack = Open("1", {.base = base});
  ASSERT_TRUE(pack->Verify().ok());
  ASSERT_EQ(pack->tables().blocks.size(), 1u);
  EXPECT_LT(pack->tables().blocks[0].stored_size * 10, other.size());
}

// What an edit of one program of many costs is what was edited, not the index of all.
TEST_F(PackDelta, Index_IsWhatChangedToo) {
  Write(MakeKinSample(1, 300), "0");
  const auto base = Open("0");
  Write(MakeKinSample(1, 300, 3), "1", {.base = base.get()});
  const std::string full = TextOf("0");
  const std::string delta = TextOf("1");
  const auto index_bytes = [](const std::string& text) {
    uint64_t bytes = 0;
    for (const SectionEntry& section : testing::TableIn(AsBytes(text))) {
      bytes += section.kind == SectionKind::kData ? 0 : section.stored_size;
    }
    return bytes;
  };
  EXPECT_LT(index_bytes(delta) * 20, index_bytes(full));
  for (const SectionEntry& section : testing::TableIn(AsBytes(delta))) {
    EXPECT_EQ(section.codec == Codec::kZstdAfterBase,
              section.raw_size > 100 && section.kind != SectionKind::kData)
        << SectionName(section.kind);
  }
  EXPECT_TRUE(Open("1", {.base = base})->Verify().ok());
}

TEST_F(PackDelta, WithoutItsBase_IsRefusedNamingIt) {
  WriteChain(1);
  Write(MakeKinSample(2), "other");
  const Hash128 base = Open("0")->id();
  for (const std::shared_ptr<const Pack>& wrong : {std::shared_ptr<const Pack>(), Open("other")}) {
    const auto pack = Pack::Open(Path("1"), {.base = wrong});
    ASSERT_FALSE(pack.ok());
    EXPECT_EQ(pack.error().reason, kBaseMissing);
    EXPECT_NE(pack.error().context.find(base.hex()), std::string::npos) << pack.error().context;
  }
}

TEST_F(PackDelta, Chain_IsFoundAmongFilesAndFlattened) {
  WriteChain(3);
  const std::vector<std::string> files = {Path("2"), Path("nothing"), Path("0"), Path("1"),
                                          Path("3")};
  const auto pack = OpenChain(Path("3"), files, {});
  ASSERT_TRUE(pack.ok()) << ErrorText(pack.error());
  EXPECT_EQ((*pack)->links(), 3u);
  const Result<Contents> contents = ContentsOf(**pack);
  ASSERT_TRUE(contents.ok());
  ASSERT_TRUE(WritePack(*contents, BlobsOf(**pack), {}, Path("flat")).ok());
  Write(MakeKinSample(1, 100, 3), "direct");
  EXPECT_EQ(TextOf("flat"), TextOf("direct"));
  const std::vector<std::string> without = {Path("2"), Path("1")};
  EXPECT_EQ(OpenChain(Path("3"), without, {}).error().reason, kBaseMissing);
}

TEST_F(PackDelta, ChainOfMoreThanFourLinks_IsRefusedByWriterAndReader) {
  WriteChain(4);
  const std::vector<std::string> files = {Path("0"), Path("1"), Path("2"), Path("3"), Path("4")};
  const auto fourth = OpenChain(Path("4"), files, {});
  ASSERT_TRUE(fourth.ok()) << ErrorText(fourth.error());
  const Sample sample = MakeKinSample(1, 100, 5);
  EXPECT_EQ(WritePack(sample.contents, sample.Source(), {.base = fourth->get()}, Path("5"))
                .error()
                .reason,
            kLimit);
  // One that was made all the same: the header of the first delta names the fourth as its base.
  AlignedBytes bytes(TextOf("1"));
  Header header = testing::HeaderIn(bytes.bytes());
  header.base_pack = (*fourth)->id();
  testing::Seal(bytes.bytes(), header, testing::TableIn(bytes.bytes()));
  EXPECT_EQ(
      Pack::OpenBytes(bytes.bytes(), {.base = *OpenChain(Path("4"), files, {})}).error().reason,
      kLimit);
}

TEST_F(PackDelta, PackThatIsItsOwnBase_IsRefused) {
  WriteChain(1);
  AlignedBytes bytes(TextOf("1"));
  Header header = testing::HeaderIn(bytes.bytes());
  header.base_pack = header.pack_id;  // the id is one of the table, so this can be made
  testing::Seal(bytes.bytes(), header, testing::TableIn(bytes.bytes()));
  ASSERT_TRUE(WriteFile(Path("cycle"), bytes.bytes()).ok());
  const std::vector<std::string> files = {Path("cycle")};
  EXPECT_EQ(OpenChain(Path("cycle"), files, {}).error().reason, kLimit);
  EXPECT_EQ(Pack::Open(Path("cycle"), {}).error().reason, kBaseMissing);
}

TEST_F(PackDelta, RowsThatTheBaseDoesNotHave_AreCorrupt) {
  WriteChain(1);
  const auto base = Open("0");
  struct Row {
    std::string_view what;
    std::function<void(BlobRow&)> change;
  };
  for (const Row& row : std::vector<Row>{
           {"another size", [](BlobRow& blob) { ++blob.raw_size; }},
           {"another id", [](BlobRow& blob) { blob.id.bytes[15] ^= 1; }},
       }) {
    AlignedBytes bytes(testing::WithRows<BlobRow>(
        TextOf("1"), SectionKind::kBlobs,
        [&](std::vector<BlobRow>& blobs) {
          row.change(*std::find_if(blobs.begin(), blobs.end(), [](const BlobRow& blob) {
            return (blob.flags & kInBase) != 0;
          }));
        },
        base));
    EXPECT_EQ(Pack::OpenBytes(bytes.bytes(), {.base = base}).error().reason, kCorrupt) << row.what;
  }
}

TEST_F(PackDelta, DamagedDelta_GivesTheRightBytesOrAnError) {
  WriteChain(1);
  const auto base = Open("0");
  const Sample sample = MakeKinSample(1, 100, 1);
  const std::string text = TextOf("1");
  std::mt19937 random(9);
  for (int i = 0; i < testing::Rounds(300, 20'000); ++i) {
    AlignedBytes bytes(text);
    bytes.bytes()[random() % text.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    const bool sealed = i % 2 == 0;
    if (sealed && HashBytes(bytes.bytes().first(sizeof(Header))) ==
                      HashBytes(AsBytes(text).first(sizeof(Header)))) {
      const std::vector<SectionEntry> table = testing::TableIn(AsBytes(text));
      testing::Seal(bytes.bytes(), testing::HeaderIn(AsBytes(text)), table);
    }
    ReadEverything(bytes.bytes(), sample, {.allow_partial = true, .base = base});
  }
}

TEST_F(PackDelta, Difference_IsPerProgram) {
  Write(MakeKinSample(1, 100, 0), "a");
  Write(MakeKinSample(1, 101, 2), "b");
  const PackDifference difference = Compare(*Open("a"), *Open("b"));
  std::string text;
  for (const ProgramChange& change : difference.programs) {
    text += fmt::format("{} {} +{} -{} ~{}\n", change.program, change.target, change.added,
                        change.removed, change.changed);
  }
  EXPECT_EQ(text,
            "program 1000 vk +0 -0 ~1\n"
            "program 1001 vk +0 -0 ~1\n"
            "program 1100 vk +1 -0 ~0\n");
  EXPECT_EQ(difference.new_blobs, 4u);
  EXPECT_EQ(difference.gone_blobs, 2u);
  EXPECT_EQ(difference.equal_artifacts, 98u);
  EXPECT_TRUE(Compare(*Open("a"), *Open("a")).programs.empty());
}

}  // namespace
}  // namespace kiln::pack
