// SPDX-License-Identifier: MIT
// Writer and hostile-safe reader of section files.
#include "compiler/base/files/section_file.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "compiler/base/threads/stop.h"

namespace kiln {
namespace {

// Written and read as it lies in memory, which on the little-endian machines of kiln is the form in
// the file.
struct Header {
  uint64_t magic;
  uint64_t total_size;
  Hash128 fingerprint;
  uint32_t section_count;
  uint32_t zero[3];
};
static_assert(sizeof(Header) == 48);
static_assert(sizeof(SectionFileView::Section) == 16);
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= kSectionAlignment, "a vector must be aligned");

constexpr size_t AlignUp(size_t offset) {
  return (offset + kSectionAlignment - 1) & ~(kSectionAlignment - 1);
}

Error Corrupt(std::string_view what) {
  return {.code = ErrorCode::kCorrupt, .context = "section file: " + std::string(what)};
}

// Copying a large file takes milliseconds, so it asks between the parts whether anybody waits.
void AppendInParts(Bytes& out, ByteView bytes) {
  InParts(bytes.size(),
          [&](size_t offset, size_t size) { Append(out, bytes.subspan(offset, size)); });
}

bool AllZero(ByteView bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// Checks one row of the section table. `expected` is where the section must start; moves it on.
Result<void> CheckSection(ByteView bytes, const SectionFileView::Section& section,
                          size_t& expected) {
  const size_t start = AlignUp(expected);
  // There is one place where a section can lie: behind the one before, aligned. Comparing with it
  // refuses overlaps, gaps and everything beyond the end in one test.
  if (section.offset != start || start > bytes.size() || section.size > bytes.size() - start) {
    return Corrupt("section lies elsewhere or is cut off");
  }
  if (!AllZero(bytes.subspan(expected, start - expected))) {
    return Corrupt("gap is not zero");
  }
  // A reader divides by the number of rows.
  const bool rows_fit = section.rows == 0 ? section.size == 0 : section.size % section.rows == 0;
  if (!rows_fit) {
    return Corrupt("section size is not that of its rows");
  }
  expected = start + section.size;
  return {};
}

}  // namespace

void SectionFileWriter::AddBytes(uint32_t kind, uint32_t rows, ByteView bytes) {
  // The order of kinds is part of the format: content decides every byte, and Find searches by
  // halves.
  KILN_CHECK(sections_.empty() || kind > sections_.back().kind, "kind {}", kind);
  KILN_CHECK(rows == 0 ? bytes.empty() : bytes.size() % rows == 0, "{} rows in {} bytes", rows,
             bytes.size());
  Bytes kept;
  kept.reserve(bytes.size());
  AppendInParts(kept, bytes);
  sections_.push_back({.kind = kind, .rows = rows, .bytes = std::move(kept)});
}

Bytes SectionFileWriter::Finish() const {
  // First the table, which says where everything lies; then one pass that writes it.
  size_t end = sizeof(Header) + sections_.size() * sizeof(SectionFileView::Section);
  std::vector<SectionFileView::Section> table;
  for (const Section& section : sections_) {
    const size_t start = AlignUp(end);
    end = start + section.bytes.size();
    KILN_CHECK(end <= 0xffffffffu, "{} bytes", end);
    table.push_back({.kind = section.kind,
                     .rows = section.rows,
                     .offset = static_cast<uint32_t>(start),
                     .size = static_cast<uint32_t>(section.bytes.size())});
  }
  const Header header{.magic = magic_,
                      .total_size = end,
                      .fingerprint = fingerprint_,
                      .section_count = static_cast<uint32_t>(sections_.size()),
                      .zero = {}};
  Bytes out;
  out.reserve(end);
  const auto put = [&out](size_t offset, ByteView bytes) {
    out.resize(offset);  // gaps are zero
    AppendInParts(out, bytes);
  };
  put(0, std::as_bytes(std::span(&header, 1)));
  put(sizeof(Header), std::as_bytes(std::span<const SectionFileView::Section>(table)));
  for (size_t i = 0; i < sections_.size(); ++i) {
    put(table[i].offset, sections_[i].bytes);
  }
  return out;
}

Result<SectionFileView> SectionFileView::Open(ByteView bytes, uint64_t magic) {
  KILN_CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % kSectionAlignment == 0);
  if (bytes.size() < sizeof(Header)) {
    return Corrupt("shorter than its header");
  }
  const auto header = ReadLittle<Header>(bytes);
  if (header.magic != magic) {
    return Corrupt("magic does not match");
  }
  if (header.total_size != bytes.size() || bytes.size() > 0xffffffffu) {
    return Corrupt("size does not match");
  }
  if (header.zero[0] != 0 || header.zero[1] != 0 || header.zero[2] != 0) {
    return Corrupt("header is not zero where it must be");
  }
  // Divided and not multiplied: a count from a hostile file must not overflow.
  if (header.section_count > (bytes.size() - sizeof(Header)) / sizeof(Section)) {
    return Corrupt("section table is cut off");
  }
  const SectionFileView view(bytes);
  size_t end = sizeof(Header) + header.section_count * sizeof(Section);
  const Section* previous = nullptr;
  // From here on sizes are checked against the bytes that there are, so what a view hands out never
  // leaves them.
  for (const Section& section : view.sections()) {
    if (previous != nullptr && section.kind <= previous->kind) {
      return Corrupt("section kinds do not ascend");
    }
    KILN_TRY_VOID(CheckSection(bytes, section, end));
    previous = &section;
  }
  // The last section ends the file, without padding: otherwise two files could hold the same.
  if (end != bytes.size()) {
    return Corrupt("bytes after the last section");
  }
  return view;
}

Hash128 SectionFileView::fingerprint() const { return ReadLittle<Header>(bytes_).fingerprint; }

std::span<const SectionFileView::Section> SectionFileView::sections() const {
  const auto count = ReadLittle<Header>(bytes_).section_count;
  return {reinterpret_cast<const Section*>(bytes_.data() + sizeof(Header)), count};
}

const SectionFileView::Section* SectionFileView::Find(uint32_t kind) const {
  const std::span<const Section> all = sections();
  const auto found = std::ranges::lower_bound(all, kind, {}, &Section::kind);
  return found != all.end() && found->kind == kind ? &*found : nullptr;
}

// The size of a row is the reader's; a table that was written with another one is corrupt for it,
// though it passed Open. `rows` is 32 bits and `row_size` is size_t, so the product is exact.
Result<ByteView> SectionFileView::RowBytes(uint32_t kind, size_t row_size) const {
  const Section* section = Find(kind);
  if (section == nullptr) {
    return Corrupt("section " + std::to_string(kind) + " is absent");
  }
  if (section->size != section->rows * row_size) {
    return Corrupt("section " + std::to_string(kind) + " has rows of another size");
  }
  return bytes_.subspan(section->offset, section->size);
}

}  // namespace kiln
