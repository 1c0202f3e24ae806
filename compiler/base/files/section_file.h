// SPDX-License-Identifier: MIT
// A file of flat tables that is used where it lies: no pointers, no fix-ups, no parsing.
//
//   0   u64  magic            what kind of file
//   8   u64  total size       bytes of the whole file
//   16  16 B fingerprint      who can read the tables; a mismatch is a cache miss
//   32  u32  section count
//   36  12 B zero
//   48  count x { u32 kind, u32 rows, u32 offset, u32 size }     kinds ascend strictly
//   …   sections in that order, each at the next multiple of 16; gaps are zero
//
// Every byte is determined by the content, and a reader accepts nothing else. A file is smaller
// than 4 GiB. Sections a reader does not know are kept and can be skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln {

inline constexpr size_t kSectionAlignment = 16;

// Eight characters as the magic of a file, first character first in the file.
constexpr uint64_t SectionMagic(const char (&text)[9]) {
  uint64_t magic = 0;
  for (int i = 7; i >= 0; --i) {
    magic = magic << 8 | static_cast<uint8_t>(text[i]);
  }
  return magic;
}

template <class Row>
concept SectionRow = std::is_trivially_copyable_v<Row> && alignof(Row) <= kSectionAlignment;

class SectionFileWriter {
 public:
  SectionFileWriter(uint64_t magic, const Hash128& fingerprint)
      : magic_(magic), fingerprint_(fingerprint) {}

  // Requires: kinds ascend from call to call. The rows are copied.
  template <SectionRow Row>
  void Add(uint32_t kind, std::span<const Row> rows) {
    static_assert(std::has_unique_object_representations_v<Row> || std::is_floating_point_v<Row>,
                  "every byte of a row must be initialised");
    AddBytes(kind, static_cast<uint32_t>(rows.size()), std::as_bytes(rows));
  }
  // Bytes of `rows` rows of equal size.
  void AddBytes(uint32_t kind, uint32_t rows, ByteView bytes);

  // The file; its memory is aligned to 16.
  Bytes Finish() const;

 private:
  struct Section {
    uint32_t kind;
    uint32_t rows;
    Bytes bytes;
  };

  uint64_t magic_;
  Hash128 fingerprint_;
  std::vector<Section> sections_;
};

// A checked view of a file; the bytes must outlive it.
class SectionFileView {
 public:
  struct Section {
    uint32_t kind = 0;
    uint32_t rows = 0;
    uint32_t offset = 0;
    uint32_t size = 0;
  };

  // Every byte may be hostile. Requires: bytes.data() is aligned to 16.
  // Errors: kCorrupt for anything that SectionFileWriter does not write.
  static Result<SectionFileView> Open(ByteView bytes, uint64_t magic);

  Hash128 fingerprint() const;
  std::span<const Section> sections() const;
  ByteView bytes() const { return bytes_; }

  bool Has(uint32_t kind) const { return Find(kind) != nullptr; }

  // Errors: kCorrupt if the section is absent or its size is not that of its rows.
  template <SectionRow Row>
  Result<std::span<const Row>> Rows(uint32_t kind) const {
    KILN_TRY(const ByteView found, RowBytes(kind, sizeof(Row)));
    return std::span<const Row>(reinterpret_cast<const Row*>(found.data()),
                                found.size() / sizeof(Row));
  }

 private:
  explicit SectionFileView(ByteView bytes) : bytes_(bytes) {}
  const Section* Find(uint32_t kind) const;
  Result<ByteView> RowBytes(uint32_t kind, size_t row_size) const;

  ByteView bytes_;
};

}  // namespace kiln
