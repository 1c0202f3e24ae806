// SPDX-License-Identifier: MIT
// Tables of a pack are stored column by column, each as differences to a row before
// (spec/cache 10.4). Zstd finds little in rows and much in such columns. Reading them back is most
// of the work of opening a pack, hence the care for its loops.
#include "cache/pack/columns.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "compiler/base/check.h"

namespace kiln::pack {
namespace {

// Two artifacts in turn, whose vertex code is mostly the same: what lies two rows back is nearer.
constexpr uint16_t kCodeLag = 2;

#define KILN_FIELD(row, field, lag) \
  Column { offsetof(row, field), sizeof(row::field), lag }

// The order of fields is that of the format (spec/cache 10.4), and the last number is the distance
// of the row that a difference is taken to: 0 stores the value itself. Fields that grow from row to
// row become small equal numbers, which compress to almost nothing; ids do not compress either way.
constexpr std::array kPrograms{
    KILN_FIELD(ProgramRow, name, 1),         KILN_FIELD(ProgramRow, pipeline, 0),
    KILN_FIELD(ProgramRow, first_option, 1), KILN_FIELD(ProgramRow, option_count, 0),
    KILN_FIELD(ProgramRow, first_entry, 1),  KILN_FIELD(ProgramRow, entry_count, 0)};
constexpr std::array kOptions{
    KILN_FIELD(OptionRow, name, 1),         KILN_FIELD(OptionRow, type, 0),
    KILN_FIELD(OptionRow, default_bits, 0), KILN_FIELD(OptionRow, first_value, 1),
    KILN_FIELD(OptionRow, value_count, 0),  KILN_FIELD(OptionRow, instance, 0)};
constexpr std::array kEntries{KILN_FIELD(EntryRow, id, 0), KILN_FIELD(EntryRow, program, 1),
                              KILN_FIELD(EntryRow, target, 0), KILN_FIELD(EntryRow, first_live, 1),
                              KILN_FIELD(EntryRow, live_count, 0)};
constexpr std::array kLayouts{KILN_FIELD(LayoutRow, hash, 0)};
constexpr std::array kArtifacts{
    KILN_FIELD(ArtifactRow, live_key, 0),   KILN_FIELD(ArtifactRow, layout, 0),
    KILN_FIELD(ArtifactRow, pipeline, 1),   KILN_FIELD(ArtifactRow, first_code, 1),
    KILN_FIELD(ArtifactRow, metadata, 1),   KILN_FIELD(ArtifactRow, entry, 1),
    KILN_FIELD(ArtifactRow, code_count, 0), KILN_FIELD(ArtifactRow, flags, 0)};
constexpr std::array kCode{KILN_FIELD(CodeRow, stage, 0), KILN_FIELD(CodeRow, blob, kCodeLag)};
constexpr std::array kPipelines{KILN_FIELD(PipelineRow, state_id, 0),
                                KILN_FIELD(PipelineRow, artifact, 1),
                                KILN_FIELD(PipelineRow, warm_rank, 1)};
constexpr std::array kPasses{
    KILN_FIELD(PassRow, name, 0),          KILN_FIELD(PassRow, view_mask, 0),
    KILN_FIELD(PassRow, samples, 0),       KILN_FIELD(PassRow, color_count, 0),
    KILN_FIELD(PassRow, color_formats, 0), KILN_FIELD(PassRow, depth_format, 0)};
constexpr std::array kWarm{KILN_FIELD(WarmRow, pipeline, 1),    KILN_FIELD(WarmRow, pass, 0),
                           KILN_FIELD(WarmRow, hints, 0),       KILN_FIELD(WarmRow, priority, 0),
                           KILN_FIELD(WarmRow, lane, 0),        KILN_FIELD(WarmRow, creation_us, 0),
                           KILN_FIELD(WarmRow, first_use_us, 0)};
constexpr std::array kHints{KILN_FIELD(HintRow, set, 0), KILN_FIELD(HintRow, binding, 0),
                            KILN_FIELD(HintRow, sampler_class, 0), KILN_FIELD(HintRow, format, 0)};
constexpr std::array kCacheRows{KILN_FIELD(CacheRow, key, 0), KILN_FIELD(CacheRow, level, 0),
                                KILN_FIELD(CacheRow, space, 0), KILN_FIELD(CacheRow, offset, 1),
                                KILN_FIELD(CacheRow, size, 0)};
constexpr std::array kBlobs{KILN_FIELD(BlobRow, id, 0),    KILN_FIELD(BlobRow, raw_size, 0),
                            KILN_FIELD(BlobRow, block, 1), KILN_FIELD(BlobRow, offset, 0),
                            KILN_FIELD(BlobRow, size, 0),  KILN_FIELD(BlobRow, flags, 0)};
constexpr std::array kBlocks{
    KILN_FIELD(BlockRow, offset, 0),      KILN_FIELD(BlockRow, stored_size, 0),
    KILN_FIELD(BlockRow, raw_size, 0),    KILN_FIELD(BlockRow, sum, 0),
    KILN_FIELD(BlockRow, codec, 0),       KILN_FIELD(BlockRow, prefix, 1),
    KILN_FIELD(BlockRow, symbol_bytes, 0)};

#undef KILN_FIELD

// Some rows of a table, which are not typed here: [begin, end) of those at `data`.
template <class Byte>
struct RowRange {
  Byte* data = nullptr;
  size_t row_size = 0;
  size_t begin = 0;
  size_t end = 0;

  Byte* Field(size_t row, const Column& column) const {
    return data + row * row_size + column.offset;
  }
};

// One field of the rows; `out` is that of all rows. T: uint32_t or uint64_t for differences. i is a
// row of the whole table, so that the row `lag` before it may lie in another range; ranges must
// come in ascending order.
template <class T>
void TakeDifferences(const RowRange<const std::byte>& rows, const Column& column, std::byte* out) {
  for (size_t i = rows.begin; i < rows.end; ++i) {
    T value;
    std::memcpy(&value, rows.Field(i, column), sizeof(T));
    T before = 0;
    if (i >= column.lag) {
      std::memcpy(&before, rows.Field(i - column.lag, column), sizeof(T));
    }
    // Unsigned arithmetic wraps, so every value has a difference and every difference leads back,
    // whatever a file says.
    value -= before;
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

template <class T>
void AddDifferences(const RowRange<std::byte>& rows, const Column& column, const std::byte* in) {
  for (size_t i = rows.begin; i < rows.end; ++i) {
    T value;
    std::memcpy(&value, in + i * sizeof(T), sizeof(T));
    if (i >= column.lag) {
      T before;
      std::memcpy(&before, rows.Field(i - column.lag, column), sizeof(T));
      value += before;
    }
    std::memcpy(rows.Field(i, column), &value, sizeof(T));
  }
}

// For columns without differences.
template <size_t kWidth>
void CopyOut(const RowRange<const std::byte>& rows, const Column& column, std::byte* out) {
  for (size_t i = rows.begin; i < rows.end; ++i) {
    std::memcpy(out + i * kWidth, rows.Field(i, column), kWidth);
  }
}

template <size_t kWidth>
void CopyIn(const RowRange<std::byte>& rows, const Column& column, const std::byte* in) {
  for (size_t i = rows.begin; i < rows.end; ++i) {
    std::memcpy(rows.Field(i, column), in + i * kWidth, kWidth);
  }
}

// Calls back with the width of a column as a constant: a copy of so many bytes is then one
// instruction or two, where the width as a variable costs a call for each row.
template <class Use>
void WithWidth(uint16_t width, const Use& use) {
  switch (width) {
    case 1:
      return use(std::integral_constant<size_t, 1>());
    case 2:
      return use(std::integral_constant<size_t, 2>());
    case 4:
      return use(std::integral_constant<size_t, 4>());
    case 8:
      return use(std::integral_constant<size_t, 8>());
    case 16:
      return use(std::integral_constant<size_t, 16>());
    case 32:
      return use(std::integral_constant<size_t, 32>());
    default:
      KILN_UNREACHABLE();
  }
}

// Only columns of four and eight bytes have differences; the others are ids and small numbers.
void TakeColumn(const RowRange<const std::byte>& rows, const Column& column, std::byte* out) {
  if (column.lag != 0) {
    column.width == 8 ? TakeDifferences<uint64_t>(rows, column, out)
                      : TakeDifferences<uint32_t>(rows, column, out);
    return;
  }
  WithWidth(column.width, [&]<size_t kWidth>(std::integral_constant<size_t, kWidth>) {
    CopyOut<kWidth>(rows, column, out);
  });
}

void PutColumn(const RowRange<std::byte>& rows, const Column& column, const std::byte* in) {
  if (column.lag != 0) {
    column.width == 8 ? AddDifferences<uint64_t>(rows, column, in)
                      : AddDifferences<uint32_t>(rows, column, in);
    return;
  }
  WithWidth(column.width, [&]<size_t kWidth>(std::integral_constant<size_t, kWidth>) {
    CopyIn<kWidth>(rows, column, in);
  });
}

// Calls back with ranges of rows that stay in the first cache while all their columns are copied:
// column by column over a whole table, each of its lines would come from memory once per column.
template <class Use>
void EachRange(size_t rows, const Use& use) {
  constexpr size_t kRangeRows = 256;
  for (size_t begin = 0; begin < rows; begin += kRangeRows) {
    use(begin, std::min(rows, begin + kRangeRows));
  }
}

// Where something lies follows from what is before it, if nothing lies between; what is stored is
// the gap, nearly always 0. A hostile gap wraps around and is found by the checks of the rows.
template <class Row>
void ToGaps(std::vector<Row>&) {}
template <class Row>
void FromGaps(std::vector<Row>&) {}

uint32_t EndBefore(const std::vector<BlobRow>& rows, size_t i) {
  return i != 0 && rows[i].block != kNone && rows[i - 1].block == rows[i].block
             ? rows[i - 1].offset + rows[i - 1].size
             : 0;
}

template <>
void ToGaps(std::vector<BlobRow>& rows) {
  // From the back, since each gap needs the offset of the row before it as it was.
  for (size_t i = rows.size(); i-- > 0;) {
    rows[i].offset -= EndBefore(rows, i);
  }
}

template <>
void FromGaps(std::vector<BlobRow>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].offset += EndBefore(rows, i);
  }
}

template <>
void ToGaps(std::vector<BlockRow>& rows) {
  for (size_t i = rows.size(); i-- > 1;) {
    rows[i].offset -= rows[i - 1].offset + rows[i - 1].stored_size;
  }
}

template <>
void FromGaps(std::vector<BlockRow>& rows) {
  for (size_t i = 1; i < rows.size(); ++i) {
    rows[i].offset += rows[i - 1].offset + rows[i - 1].stored_size;
  }
}

}  // namespace

template <class Row>
uint64_t StoredRowBytes() {
  uint64_t bytes = 0;
  for (const Column& column : ColumnsOf<Row>()) {
    bytes += column.width;
  }
  return bytes;
}

// A copy of the rows is made, since gaps replace offsets in place and the caller keeps its rows.
template <class Row>
Bytes ToColumns(std::span<const Row> rows) {
  std::vector<Row> copy(rows.begin(), rows.end());
  ToGaps(copy);
  Bytes out(copy.size() * StoredRowBytes<Row>());
  EachRange(copy.size(), [&](size_t begin, size_t end) {
    size_t at = 0;
    for (const Column& column : ColumnsOf<Row>()) {
      TakeColumn({.data = reinterpret_cast<const std::byte*>(copy.data()),
                  .row_size = sizeof(Row),
                  .begin = begin,
                  .end = end},
                 column, out.data() + at);
      at += copy.size() * column.width;
    }
  });
  return out;
}

// The number of rows is one that the caller has bounded by the size of the section.
template <class Row>
std::vector<Row> FromColumns(ByteView columns, uint64_t rows) {
  // The reader has compared the sizes; a mismatch here is a bug of kiln.
  KILN_CHECK(columns.size() == rows * StoredRowBytes<Row>());
  std::vector<Row> out(rows);
  EachRange(out.size(), [&](size_t begin, size_t end) {
    size_t at = 0;
    for (const Column& column : ColumnsOf<Row>()) {
      PutColumn({.data = reinterpret_cast<std::byte*>(out.data()),
                 .row_size = sizeof(Row),
                 .begin = begin,
                 .end = end},
                column, columns.data() + at);
      at += out.size() * column.width;
    }
  });
  FromGaps(out);
  return out;
}

// The templates are defined here only, so every row type of the format is named once more below. A
// type that is missing does not link.
#define KILN_ROWS(Row, columns)                        \
  template <>                                          \
  std::span<const Column> ColumnsOf<Row>() {           \
    return columns;                                    \
  }                                                    \
  template uint64_t StoredRowBytes<Row>();             \
  template Bytes ToColumns<Row>(std::span<const Row>); \
  template std::vector<Row> FromColumns<Row>(ByteView, uint64_t);

KILN_ROWS(ProgramRow, kPrograms)
KILN_ROWS(OptionRow, kOptions)
KILN_ROWS(EntryRow, kEntries)
KILN_ROWS(LayoutRow, kLayouts)
KILN_ROWS(ArtifactRow, kArtifacts)
KILN_ROWS(CodeRow, kCode)
KILN_ROWS(PipelineRow, kPipelines)
KILN_ROWS(PassRow, kPasses)
KILN_ROWS(WarmRow, kWarm)
KILN_ROWS(HintRow, kHints)
KILN_ROWS(CacheRow, kCacheRows)
KILN_ROWS(BlobRow, kBlobs)
KILN_ROWS(BlockRow, kBlocks)

#undef KILN_ROWS

}  // namespace kiln::pack
