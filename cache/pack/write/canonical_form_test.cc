// SPDX-License-Identifier: MIT
// Which bytes of a pack can change, with sums that fit again, without Verify noticing: those that
// say what nobody else knows, and no others.
#include "cache/pack/write/canonical_form.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache/pack/errors.h"
#include "cache/pack/test_pack_file.h"

namespace kiln::pack {
namespace {

using testing::AlignedBytes;
using testing::HeaderIn;
using testing::MakeSample;
using testing::PackFile;
using testing::Sample;
using testing::SectionIn;
using testing::TableIn;

Sample EverySection() {
  Sample sample = MakeSample(3, 4, 6);
  testing::AddModules(sample, 24);
  Contents& contents = sample.contents;
  contents.passes = {{.name = "shadow", .depth_format = 126},
                     {.name = "forward", .samples = 4, .color_formats = {97}, .depth_format = 1}};
  contents.warm = {{.live_key = contents.artifacts[1].live_key, .priority = 2, .lane = 1},
                   {.live_key = contents.artifacts[2].live_key,
                    .pass = "shadow",
                    .priority = 7,
                    .creation_us = 900,
                    .hints = {{.set = 1, .binding = 2, .sampler_class = 3, .format = 37}}}};
  return sample;
}

// Nothing if opening refuses the file or Verify finds something: then what it was.
std::string FindingIn(const std::string& file) {
  AlignedBytes bytes(file);
  const auto pack = Pack::OpenBytes(bytes.bytes(), {});
  const Result<void> verified = pack.ok() ? (*pack)->Verify() : Result<void>(pack.error());
  if (verified.ok()) {
    return {};
  }
  EXPECT_TRUE(verified.error().reason.starts_with("PACK_")) << ErrorText(verified.error());
  return ErrorText(verified.error());
}

std::string Sealed(const std::string& file,
                   const std::function<void(std::span<std::byte>)>& change) {
  AlignedBytes bytes(file);
  change(bytes.bytes());
  testing::Seal(bytes.bytes());
  return std::string(AsText(bytes.bytes()));
}

// The same pack laid out anew, as a writer that does not compress would: `change` gets the raw
// bytes and the row of each index section.
std::string LaidOutAnew(const std::string& file,
                        const std::function<void(Bytes& raw, SectionEntry&)>& change) {
  AlignedBytes sound(file);
  const auto pack = Pack::OpenBytes(sound.bytes(), {});
  Header header = HeaderIn(sound.bytes());
  std::vector<SectionEntry> table = TableIn(sound.bytes());
  std::string out(sizeof(Header) + table.size() * sizeof(SectionEntry), '\0');
  for (SectionEntry& section : table) {
    const ByteView data = (*pack)->tables().data;
    Bytes raw = section.kind == SectionKind::kData ? Bytes(data.begin(), data.end())
                                                   : RawSection((*pack)->tables(), section.kind);
    section.codec = Codec::kRaw;
    if (section.kind != SectionKind::kData) {
      change(raw, section);
    }
    out.resize((out.size() + kSectionBytes - 1) / kSectionBytes * kSectionBytes);
    section.offset = out.size();
    section.stored_size = section.raw_size = raw.size();
    out += AsText(raw);
  }
  header.file_size = out.size();
  AlignedBytes bytes(out);
  testing::Seal(bytes.bytes(), header, table);
  return std::string(AsText(bytes.bytes()));
}

template <class Row>
std::string WithRow(const std::string& file, SectionKind kind,
                    const std::function<void(std::vector<Row>&)>& change) {
  return LaidOutAnew(file, [&](Bytes& raw, SectionEntry& section) {
    if (section.kind == kind) {
      std::vector<Row> rows = FromColumns<Row>(raw, section.rows);
      change(rows);
      raw = ToColumns(std::span<const Row>(rows));
      section.rows = rows.size();
    }
  });
}

// The fields of a section, by place in the order of columns.h, whose change Verify does not notice
// in every row: the lowest bit of the field changes.
template <class Row>
void AddUnnoticed(const std::string& file, SectionKind kind, std::set<std::string>& unnoticed) {
  AlignedBytes bytes(file);
  const uint64_t rows = SectionIn(bytes.bytes(), kind).rows;
  ASSERT_NE(rows, 0u) << SectionName(kind);
  for (const Column& column : ColumnsOf<Row>()) {
    for (const uint64_t row : {uint64_t{0}, rows / 2, rows - 1}) {
      const std::string mutant = WithRow<Row>(file, kind, [&](std::vector<Row>& all) {
        reinterpret_cast<std::byte*>(&all[row])[column.offset] ^= std::byte{1};
      });
      if (FindingIn(mutant).empty()) {
        unnoticed.insert(fmt::format("{}+{}", SectionName(kind), column.offset));
      }
    }
  }
}

class PackForm : public PackFile {
 protected:
  void SetUp() override {
    Write(EverySection(), "a");
    text_ = TextOf("a");
    ASSERT_EQ(FindingIn(text_), "");
  }

  std::string text_;
};

TEST_F(PackForm, SamePackWithoutCompression_IsSound) {
  EXPECT_EQ(FindingIn(LaidOutAnew(text_, [](Bytes&, SectionEntry&) {})), "");
}

TEST_F(PackForm, EveryByteOfTheHeader_IsNoticedExceptWhoBuiltIt) {
  for (size_t at = 0; at < sizeof(Header); ++at) {
    const bool sealed = (at >= offsetof(Header, pack_id) && at < offsetof(Header, base_pack)) ||
                        at >= offsetof(Header, checksum);
    const bool unknown = at >= offsetof(Header, build) && at < offsetof(Header, flags);
    if (sealed) {
      continue;  // made to fit
    }
    AlignedBytes bytes(text_);
    Header header = HeaderIn(bytes.bytes());
    reinterpret_cast<std::byte*>(&header)[at] ^= std::byte{1};
    const std::vector<SectionEntry> table = TableIn(bytes.bytes());
    if (at < offsetof(Header, table_offset) || at >= offsetof(Header, pack_id)) {
      testing::Seal(bytes.bytes(), header, table);
      EXPECT_EQ(FindingIn(std::string(AsText(bytes.bytes()))).empty(), unknown) << at;
    }  // else the table would lie over something else
  }
}

TEST_F(PackForm, EveryByteOfTheSectionTable_IsNoticed) {
  const size_t sections = TableIn(AsBytes(text_)).size();
  for (size_t i = 0; i < sections; ++i) {
    for (size_t at = 0; at < sizeof(SectionEntry); ++at) {
      const bool sealed = (at >= offsetof(SectionEntry, id) && at < offsetof(SectionEntry, rows)) ||
                          at >= offsetof(SectionEntry, checksum);
      if (sealed) {
        continue;
      }
      const std::string mutant = Sealed(text_, [&](std::span<std::byte> bytes) {
        bytes[sizeof(Header) + i * sizeof(SectionEntry) + at] ^= std::byte{1};
      });
      EXPECT_NE(FindingIn(mutant), "") << i << " " << at;
    }
  }
}

TEST_F(PackForm, BytesBetweenSections_AreNoticed) {
  const std::vector<SectionEntry> table = TableIn(AsBytes(text_));
  size_t padded = 0;
  uint64_t end = sizeof(Header) + table.size() * sizeof(SectionEntry);
  for (const SectionEntry& section : table) {
    for (uint64_t at = end; at < section.offset; ++at, ++padded) {
      const std::string mutant =
          Sealed(text_, [&](std::span<std::byte> bytes) { bytes[at] = std::byte{1}; });
      EXPECT_NE(FindingIn(mutant), "") << at;
    }
    end = section.offset + section.stored_size;
  }
  EXPECT_NE(padded, 0u);
}

TEST_F(PackForm, FieldsOfRows_AreNoticedUnlessNobodyElseKnowsThem) {
  std::set<std::string> unnoticed;
  AddUnnoticed<ProgramRow>(text_, SectionKind::kPrograms, unnoticed);
  AddUnnoticed<OptionRow>(text_, SectionKind::kOptions, unnoticed);
  AddUnnoticed<EntryRow>(text_, SectionKind::kEntries, unnoticed);
  AddUnnoticed<LayoutRow>(text_, SectionKind::kLayouts, unnoticed);
  AddUnnoticed<ArtifactRow>(text_, SectionKind::kArtifacts, unnoticed);
  AddUnnoticed<CodeRow>(text_, SectionKind::kCode, unnoticed);
  AddUnnoticed<PipelineRow>(text_, SectionKind::kPipelines, unnoticed);
  AddUnnoticed<PassRow>(text_, SectionKind::kPasses, unnoticed);
  AddUnnoticed<WarmRow>(text_, SectionKind::kWarm, unnoticed);
  AddUnnoticed<HintRow>(text_, SectionKind::kHints, unnoticed);
  AddUnnoticed<BlobRow>(text_, SectionKind::kBlobs, unnoticed);
  AddUnnoticed<BlockRow>(text_, SectionKind::kBlocks, unnoticed);
  const auto field = [](SectionKind kind, size_t offset) {
    return fmt::format("{}+{}", SectionName(kind), offset);
  };
  using K = SectionKind;
  // Ranges of other rows, places, sizes and what is reserved.
  for (const std::string& known : {field(K::kPrograms, offsetof(ProgramRow, name)),
                                   field(K::kPrograms, offsetof(ProgramRow, first_option)),
                                   field(K::kPrograms, offsetof(ProgramRow, option_count)),
                                   field(K::kPrograms, offsetof(ProgramRow, first_entry)),
                                   field(K::kPrograms, offsetof(ProgramRow, entry_count)),
                                   field(K::kOptions, offsetof(OptionRow, first_value)),
                                   field(K::kOptions, offsetof(OptionRow, value_count)),
                                   field(K::kEntries, offsetof(EntryRow, program)),
                                   field(K::kEntries, offsetof(EntryRow, first_live)),
                                   field(K::kEntries, offsetof(EntryRow, live_count)),
                                   field(K::kArtifacts, offsetof(ArtifactRow, code_count)),
                                   field(K::kArtifacts, offsetof(ArtifactRow, flags)),
                                   field(K::kWarm, offsetof(WarmRow, hints)),
                                   field(K::kBlobs, offsetof(BlobRow, id)),
                                   field(K::kBlobs, offsetof(BlobRow, raw_size)),
                                   field(K::kBlobs, offsetof(BlobRow, block)),
                                   field(K::kBlobs, offsetof(BlobRow, offset)),
                                   field(K::kBlobs, offsetof(BlobRow, size)),
                                   field(K::kBlobs, offsetof(BlobRow, flags)),
                                   field(K::kBlocks, offsetof(BlockRow, offset)),
                                   field(K::kBlocks, offsetof(BlockRow, stored_size)),
                                   field(K::kBlocks, offsetof(BlockRow, raw_size)),
                                   field(K::kBlocks, offsetof(BlockRow, sum)),
                                   field(K::kBlocks, offsetof(BlockRow, codec)),
                                   field(K::kBlocks, offsetof(BlockRow, symbol_bytes))}) {
    EXPECT_FALSE(unnoticed.contains(known)) << known << " may change unnoticed";
  }
  // Consistent contents of another pack: to find them would be to refuse that.
  for (const std::string& unknowable :
       {field(K::kEntries, offsetof(EntryRow, id)), field(K::kLayouts, offsetof(LayoutRow, hash)),
        field(K::kArtifacts, offsetof(ArtifactRow, live_key)),
        field(K::kPipelines, offsetof(PipelineRow, state_id)),
        field(K::kHints, offsetof(HintRow, format))}) {
    EXPECT_TRUE(unnoticed.contains(unknowable)) << unknowable;
  }
}

TEST_F(PackForm, WhatNothingNames_IsNoticed) {
  const auto append = [&](SectionKind kind, const std::function<void(Bytes&, SectionEntry&)>& add) {
    return LaidOutAnew(text_, [&](Bytes& raw, SectionEntry& section) {
      if (section.kind == kind) {
        add(raw, section);
      }
    });
  };
  // Text behind the last string.
  EXPECT_NE(FindingIn(append(SectionKind::kStrings,
                             [](Bytes& raw, SectionEntry&) { Append(raw, AsBytes("more")); })),
            "");
  // A mask that belongs to no entry.
  EXPECT_NE(FindingIn(append(SectionKind::kLive,
                             [](Bytes& raw, SectionEntry& section) {
                               const size_t row = raw.size() / section.rows;
                               const Bytes last(raw.end() - static_cast<ptrdiff_t>(row), raw.end());
                               Append(raw, last);
                               ++section.rows;
                             })),
            "");
  // The head of a mask has reserved bytes, and bits of options that there are not.
  for (const size_t at : {offsetof(LiveHead, entry), offsetof(LiveHead, zero), size_t{15}}) {
    EXPECT_NE(FindingIn(append(SectionKind::kLive,
                               [&](Bytes& raw, SectionEntry&) { raw[at] ^= std::byte{0x80}; })),
              "")
        << at;
  }
  EXPECT_NE(FindingIn(WithRow<LayoutRow>(text_, SectionKind::kLayouts,
                                         [](auto& rows) { rows.push_back({}); })),
            "");
  EXPECT_NE(FindingIn(WithRow<CodeRow>(text_, SectionKind::kCode,
                                       [](auto& rows) { rows.push_back(rows.back()); })),
            "");
  EXPECT_NE(FindingIn(WithRow<HintRow>(text_, SectionKind::kHints,
                                       [](auto& rows) { rows.push_back(rows.back()); })),
            "");
}

TEST_F(PackForm, RowsInAnotherOrder_AreNoticed) {
  EXPECT_NE(FindingIn(WithRow<ArtifactRow>(text_, SectionKind::kArtifacts,
                                           [](auto& rows) { std::swap(rows[0], rows[1]); })),
            "");
  EXPECT_NE(FindingIn(WithRow<PipelineRow>(text_, SectionKind::kPipelines,
                                           [](auto& rows) { std::swap(rows[0], rows.back()); })),
            "");
}

// Artifacts name blobs by row: with two rows exchanged it is a pack of other artifacts, which only
// a signature tells from the one that was meant.
TEST_F(PackForm, BlobsThatChangePlaces_AreAnotherPack) {
  EXPECT_EQ(FindingIn(WithRow<BlobRow>(text_, SectionKind::kBlobs,
                                       [](auto& rows) { std::swap(rows[0], rows[1]); })),
            "");
}

// Contents are as large as what they name, however many rows name the same.
TEST_F(PackForm, RowsThatShareWhatTheyName_AreNoticed) {
  EXPECT_NE(FindingIn(WithRow<ProgramRow>(text_, SectionKind::kPrograms,
                                          [](std::vector<ProgramRow>& rows) {
                                            rows.back().first_option = rows.front().first_option;
                                          })),
            "");
  EXPECT_NE(FindingIn(WithRow<ArtifactRow>(text_, SectionKind::kArtifacts,
                                           [](std::vector<ArtifactRow>& rows) {
                                             for (ArtifactRow& row : rows) {
                                               row.first_code = 0;
                                               row.code_count = 2;
                                             }
                                           })),
            "");
}

TEST_F(PackForm, Deltas_AreSound) {
  const std::shared_ptr<const Pack> base = Open("a");
  Sample changed = EverySection();
  testing::AddModules(changed, 0);
  changed.contents.artifacts.pop_back();
  changed.contents.warm.clear();
  Write(changed, "b", {.base = base.get()});
  const auto delta = Open("b", {.base = base});
  const Result<void> verified = delta->Verify();
  EXPECT_TRUE(verified.ok()) << ErrorText(verified.error());
}

}  // namespace
}  // namespace kiln::pack
