// SPDX-License-Identifier: MIT
#include "cache/pack/columns.h"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

namespace kiln::pack {
namespace {

// Rows of any numbers, hostile ones included, come back as they were.
template <class Row>
void ExpectSameRows(uint32_t seed) {
  std::mt19937 random(seed);
  for (const size_t count : {0, 1, 2, 3, 50}) {
    std::vector<Row> rows(count);
    for (const Column& column : ColumnsOf<Row>()) {
      for (Row& row : rows) {
        for (uint16_t i = 0; i < column.width; ++i) {
          reinterpret_cast<std::byte*>(&row)[column.offset + i] = static_cast<std::byte>(random());
        }
      }
    }
    const Bytes columns = ToColumns(std::span<const Row>(rows));
    ASSERT_EQ(columns.size(), count * StoredRowBytes<Row>());
    const std::vector<Row> again = FromColumns<Row>(columns, count);
    ASSERT_EQ(again.size(), rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      for (const Column& column : ColumnsOf<Row>()) {
        EXPECT_EQ(
            std::memcmp(reinterpret_cast<const std::byte*>(&again[i]) + column.offset,
                        reinterpret_cast<const std::byte*>(&rows[i]) + column.offset, column.width),
            0)
            << column.offset;
      }
    }
  }
}

TEST(Columns, AnyRows_ComeBackAsTheyWere) {
  ExpectSameRows<ProgramRow>(1);
  ExpectSameRows<OptionRow>(2);
  ExpectSameRows<EntryRow>(3);
  ExpectSameRows<LayoutRow>(4);
  ExpectSameRows<ArtifactRow>(5);
  ExpectSameRows<CodeRow>(6);
  ExpectSameRows<PipelineRow>(7);
  ExpectSameRows<PassRow>(8);
  ExpectSameRows<WarmRow>(9);
  ExpectSameRows<HintRow>(10);
  ExpectSameRows<CacheRow>(11);
  ExpectSameRows<BlobRow>(12);
  ExpectSameRows<BlockRow>(13);
}

// What follows from the row before is 0, so that zstd has nothing to say about it.
TEST(Columns, BlobsSideBySide_HaveNoGaps) {
  const std::vector<BlobRow> rows{{.block = 3, .offset = 0, .size = 10},
                                  {.block = 3, .offset = 10, .size = 6},
                                  {.block = kNone},
                                  {.block = 4, .offset = 4, .size = 1}};
  const Bytes columns = ToColumns(std::span<const BlobRow>(rows));
  size_t at = 0;
  for (const Column& column : ColumnsOf<BlobRow>()) {
    if (column.offset == offsetof(BlobRow, offset)) {
      break;
    }
    at += rows.size() * column.width;
  }
  std::vector<uint32_t> gaps(rows.size());
  std::memcpy(gaps.data(), columns.data() + at, gaps.size() * 4);
  EXPECT_EQ(gaps, (std::vector<uint32_t>{0, 0, 0, 4}));
}

}  // namespace
}  // namespace kiln::pack
