// SPDX-License-Identifier: MIT
#include "compiler/base/files/section_file.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr uint64_t kMagic = SectionMagic("KILNTEST");

struct Row {
  uint32_t a;
  uint16_t b;
  uint16_t c;
};

constexpr std::array<Row, 3> kRows{Row{1, 2, 3}, Row{4, 5, 6}, Row{7, 8, 9}};
constexpr std::array<uint8_t, 5> kBytes{10, 11, 12, 13, 14};

Bytes SampleFile() {
  Hash128 fingerprint;
  fingerprint.bytes.fill(0xab);
  SectionFileWriter writer(kMagic, fingerprint);
  writer.Add<Row>(2, kRows);
  writer.Add<uint8_t>(5, kBytes);
  writer.Add<uint32_t>(6, {});
  writer.Add<Row>(9, std::span(kRows).first(1));
  return writer.Finish();
}

TEST(SectionFile, WrittenRows_AreReadInPlace) {
  const Bytes file = SampleFile();
  EXPECT_EQ(AsText(ByteView(file).first(8)), "KILNTEST");
  const Result<SectionFileView> view = SectionFileView::Open(file, kMagic);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->fingerprint().hex(), std::string("abababababababababababababababab"));
  EXPECT_EQ(view->sections().size(), 4u);

  const std::span<const Row> rows = view->Rows<Row>(2).value();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].a, 7u);
  EXPECT_GE(reinterpret_cast<const std::byte*>(rows.data()), file.data());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(rows.data()) % kSectionAlignment, 0u);
  EXPECT_EQ(view->Rows<uint8_t>(5).value()[4], 14);
  EXPECT_TRUE(view->Rows<uint32_t>(6).value().empty());
  EXPECT_EQ(view->Rows<Row>(9).value()[0].b, 2);
}

TEST(SectionFile, SavedAgain_HasEqualBytes) {
  const Bytes file = SampleFile();
  const SectionFileView view = SectionFileView::Open(file, kMagic).value();
  SectionFileWriter writer(kMagic, view.fingerprint());
  for (const SectionFileView::Section& section : view.sections()) {
    writer.AddBytes(section.kind, section.rows, view.bytes().subspan(section.offset, section.size));
  }
  EXPECT_EQ(writer.Finish(), file);
}

TEST(SectionFile, AbsentSectionOrOtherRow_IsCorrupt) {
  const Bytes file = SampleFile();
  const SectionFileView view = SectionFileView::Open(file, kMagic).value();
  EXPECT_FALSE(view.Has(3));
  EXPECT_EQ(view.Rows<Row>(3).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(view.Rows<uint32_t>(2).ok()) << "rows of half the size";
  EXPECT_FALSE(SectionFileView::Open(file, SectionMagic("OTHERONE")).ok());
}

TEST(SectionFile, NoSections_IsAHeader) {
  const Bytes file = SectionFileWriter(kMagic, {}).Finish();
  EXPECT_EQ(file.size(), 48u);
  ASSERT_TRUE(SectionFileView::Open(file, kMagic).ok());
}

TEST(SectionFile, TruncatedOrExtended_IsCorrupt) {
  const Bytes file = SampleFile();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(SectionFileView::Open(ByteView(file).first(size), kMagic).ok()) << size;
  }
  Bytes longer = file;
  longer.resize(longer.size() + 16);
  EXPECT_FALSE(SectionFileView::Open(longer, kMagic).ok());
  const auto size = static_cast<uint64_t>(longer.size());
  std::memcpy(longer.data() + 8, &size, sizeof(size));
  EXPECT_FALSE(SectionFileView::Open(longer, kMagic).ok()) << "bytes after the last section";
}

TEST(SectionFile, GapNotZero_IsCorrupt) {
  Bytes file = SampleFile();
  const SectionFileView::Section bytes_section = SectionFileView::Open(file, kMagic)->sections()[1];
  file[bytes_section.offset + bytes_section.size] = std::byte{1};
  EXPECT_FALSE(SectionFileView::Open(file, kMagic).ok());
}

// Whatever opens can be read to the last byte of every section, and has the one form of its
// content.
void ReadAll(ByteView file) {
  const Result<SectionFileView> view = SectionFileView::Open(file, kMagic);
  if (!view.ok()) {
    return;
  }
  SectionFileWriter writer(kMagic, view->fingerprint());
  for (const SectionFileView::Section& section : view->sections()) {
    static_cast<void>(view->Rows<Row>(section.kind));
    writer.AddBytes(section.kind, section.rows, file.subspan(section.offset, section.size));
  }
  EXPECT_TRUE(std::ranges::equal(writer.Finish(), file));
}

TEST(SectionFile, RandomDamage_IsRefusedOrHarmless) {
  std::mt19937 random(5);
  const Bytes file = SampleFile();
  for (int round = 0; round < 20000; ++round) {
    Bytes damaged = file;
    const int flips = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < flips; ++i) {
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    }
    ReadAll(damaged);
  }
}

TEST(SectionFile, RandomBytesAfterAGoodHeader_AreRefusedOrHarmless) {
  std::mt19937 random(6);
  for (int round = 0; round < 5000; ++round) {
    Bytes file(48 + random() % 200);
    for (size_t i = 48; i < file.size(); ++i) {
      file[i] = static_cast<std::byte>(random() % 4);
    }
    const uint64_t size = file.size();
    const uint32_t count = random() % 4;
    std::memcpy(file.data(), &kMagic, 8);
    std::memcpy(file.data() + 8, &size, 8);
    std::memcpy(file.data() + 32, &count, 4);
    ReadAll(file);
  }
}

}  // namespace
}  // namespace kiln
