// SPDX-License-Identifier: MIT
// For tests: packs in a folder of the test's own, their bytes for damaging, and sums that fit
// again.
#pragma once

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cache/pack/reader.h"
#include "cache/pack/sample_contents.h"
#include "cache/pack/sections.h"
#include "cache/pack/write/writer.h"
#include "compiler/base/files/file.h"
#include "compiler/base/hash/checksum.h"
#include "compiler/base/test_directory.h"

namespace kiln::pack::testing {

// How often: the short number, or with KILN_FULL in the environment the full one.
inline int Rounds(int short_form, int full_form) {
  return std::getenv("KILN_FULL") != nullptr ? full_form : short_form;
}

class PackFile : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder + "/" + name + ".kpack"; }
  std::string TextOf(const std::string& name) const { return ReadFile(Path(name)).value(); }
  WriteReport Write(const Sample& sample, const std::string& name,
                    const WriteOptions& options = {}) {
    Result<WriteReport> written = WritePack(sample.contents, sample.Source(), options, Path(name));
    EXPECT_TRUE(written.ok()) << ErrorText(written.error());
    return *written;
  }
  std::shared_ptr<const Pack> Open(const std::string& name, const ReadOptions& options = {}) {
    Result<std::unique_ptr<Pack>> pack = Pack::Open(Path(name), options);
    EXPECT_TRUE(pack.ok()) << ErrorText(pack.error());
    return std::move(pack).value();
  }
  TestDirectory directory;
  std::string folder = directory.path();
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

inline Header HeaderIn(ByteView bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header;
}

inline std::vector<SectionEntry> TableIn(ByteView bytes) {
  const Header header = HeaderIn(bytes);
  std::vector<SectionEntry> table(header.section_count);
  std::memcpy(table.data(), bytes.data() + header.table_offset,
              table.size() * sizeof(SectionEntry));
  return table;
}

inline SectionEntry SectionIn(ByteView bytes, SectionKind kind) {
  for (const SectionEntry& section : TableIn(bytes)) {
    if (section.kind == kind) {
      return section;
    }
  }
  ADD_FAILURE() << "no section " << SectionName(kind);
  return {};
}

// Makes the sums fit after damage, as somebody hostile does: `header` and, if given, `table`
// replace those of the file.
inline void Seal(std::span<std::byte> bytes, Header header, std::vector<SectionEntry> table) {
  for (SectionEntry& entry : table) {
    if (entry.kind != SectionKind::kSignature && entry.offset + entry.stored_size <= bytes.size()) {
      const ByteView stored = ByteView(bytes).subspan(entry.offset, entry.stored_size);
      entry.id = HashBytes(stored);
      entry.checksum = entry.kind == SectionKind::kData ? 0 : Checksum64(stored);
    }
  }
  const ByteView rows = std::as_bytes(std::span(table));
  std::memcpy(bytes.data() + header.table_offset, rows.data(), rows.size());
  header.pack_id = HashBytes(rows);
  header.checksum = Checksum64(ByteView(std::as_bytes(std::span(&header, 1))).first(120));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

inline void Seal(std::span<std::byte> bytes) { Seal(bytes, HeaderIn(bytes), TableIn(bytes)); }

// The file with other raw bytes of an index section, which are not compressed, at its end. `base`:
// of a delta.
inline std::string WithSection(std::string_view file, SectionKind kind,
                               const std::function<void(Bytes& raw, SectionEntry&)>& change,
                               const std::shared_ptr<const Pack>& base = nullptr) {
  AlignedBytes sound(file);
  const auto pack = Pack::OpenBytes(sound.bytes(), {.base = base});
  if (!pack.ok()) {
    ADD_FAILURE() << ErrorText(pack.error());
    return std::string(file);
  }
  Header header = HeaderIn(sound.bytes());
  std::vector<SectionEntry> table = TableIn(sound.bytes());
  std::string out(file);
  out.resize((out.size() + kSectionBytes - 1) / kSectionBytes * kSectionBytes);
  for (SectionEntry& section : table) {
    if (section.kind == kind) {
      Bytes raw = RawSection((*pack)->tables(), kind);
      section.offset = out.size();
      section.codec = Codec::kRaw;
      change(raw, section);
      section.stored_size = raw.size();
      section.raw_size = raw.size();
      out += AsText(raw);
    }
  }
  header.file_size = out.size();
  AlignedBytes bytes(out);
  Seal(bytes.bytes(), header, table);
  return std::string(AsText(bytes.bytes()));
}

// The same with rows of the section changed.
template <class Row>
std::string WithRows(std::string_view file, SectionKind kind,
                     const std::function<void(std::vector<Row>&)>& change,
                     const std::shared_ptr<const Pack>& base = nullptr) {
  return WithSection(
      file, kind,
      [&](Bytes& raw, SectionEntry& section) {
        std::vector<Row> rows = FromColumns<Row>(raw, section.rows);
        change(rows);
        raw = ToColumns(std::span<const Row>(rows));
        section.rows = rows.size();
      },
      base);
}

// What every reader does with a pack; no answer may be wrong.
inline void ReadEverything(std::span<std::byte> bytes, const Sample& sample,
                           const ReadOptions& options = {.allow_partial = true}) {
  const auto pack = Pack::OpenBytes(bytes, options);
  if (!pack.ok()) {
    EXPECT_TRUE(pack.error().reason.starts_with("PACK_")) << pack.error().reason;
    return;
  }
  const Tables& tables = (*pack)->tables();
  for (uint32_t blob = 0; blob < tables.blobs.size(); ++blob) {
    const Result<Bytes> read = (*pack)->ReadBlob(blob);
    if (read.ok()) {
      EXPECT_EQ(HashBytes(*read), tables.blobs[blob].id);
    } else {
      EXPECT_TRUE(read.error().reason.starts_with("PACK_")) << ErrorText(read.error());
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

}  // namespace kiln::pack::testing
