// SPDX-License-Identifier: MIT
// libFuzzer: any bytes as a pack. The sums of header, table and sections are made to fit, so that
// what is behind them is reached. Whatever opens gives right bytes or a PACK_ error. The same bytes
// as a table of symbols and a module: it is of the size that was asked for, or refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "cache/decorators/memory_store.h"
#include "cache/module_codec.h"
#include "cache/pack/reader.h"
#include "cache/pack/unpack.h"
#include "cache/pack/write/cache_export.h"
#include "compiler/base/check.h"
#include "compiler/base/hash/checksum.h"

namespace kiln::pack {
namespace {

// The bytes where rows may be read from, with sums that fit.
std::vector<uint64_t> Sealed(const uint8_t* data, size_t size) {
  std::vector<uint64_t> words(size / 8 + 1);
  std::memcpy(words.data(), data, size);
  if (size < sizeof(Header)) {
    return words;
  }
  auto* bytes = reinterpret_cast<std::byte*>(words.data());
  Header header;
  std::memcpy(&header, bytes, sizeof(header));
  header.magic = kMagic;
  header.major = kMajor;
  header.header_size = sizeof(Header);
  header.entry_size = sizeof(SectionEntry);
  header.table_offset = sizeof(Header);
  header.section_count %= kMaxSections;
  const size_t table_bytes = header.section_count * sizeof(SectionEntry);
  if (sizeof(Header) + table_bytes <= size) {
    for (size_t at = sizeof(Header); at < sizeof(Header) + table_bytes;
         at += sizeof(SectionEntry)) {
      SectionEntry entry;
      std::memcpy(&entry, bytes + at, sizeof(entry));
      if (entry.offset <= size && entry.stored_size <= size - entry.offset) {
        const ByteView stored(bytes + entry.offset, entry.stored_size);
        entry.id = HashBytes(stored);
        entry.checksum = Checksum64(stored);
      }
      std::memcpy(bytes + at, &entry, sizeof(entry));
    }
    header.pack_id = HashBytes(ByteView(bytes + sizeof(Header), table_bytes));
  }
  const ByteView view = std::as_bytes(std::span(&header, 1));
  header.checksum = Checksum64(view.first(offsetof(Header, checksum)));
  std::memcpy(bytes, &header, sizeof(header));
  return words;
}

void Read(ByteView bytes) {
  const Result<std::unique_ptr<Pack>> pack = Pack::OpenBytes(bytes, {.allow_partial = true});
  if (!pack.ok()) {
    KILN_CHECK(pack.error().reason.starts_with("PACK_"));
    return;
  }
  const Tables& tables = (*pack)->tables();
  for (uint32_t blob = 0; blob < tables.blobs.size(); ++blob) {
    const Result<Bytes> read = (*pack)->ReadBlob(blob);
    KILN_CHECK(read.ok() ? HashBytes(*read) == tables.blobs[blob].id
                         : read.error().reason.starts_with("PACK_"));
  }
  (void)ContentsOf(**pack);
  (void)(*pack)->Verify();
  // A store takes what verifies, and hands out nothing else.
  cache::MemoryStore store(nullptr, nullptr, {});
  const Result<ImportReport> imported = ImportCache(**pack, store);
  KILN_CHECK(imported.ok() || !imported.error().context.empty());
}

void DecodeAsModule(ByteView bytes) {
  const std::optional<cache::SymbolTable> symbols = cache::SymbolTable::Read(bytes);
  if (!symbols.has_value()) {
    return;
  }
  const size_t table = (1 + size_t{ReadLittle<uint32_t>(bytes)}) * sizeof(uint32_t);
  const ByteView encoded = bytes.subspan(table, (bytes.size() - table) / 4 * 4);
  Bytes module(encoded.size());
  (void)cache::DecodeModule(encoded, *symbols, module);
  Bytes larger(2 * encoded.size());
  (void)cache::DecodeModule(encoded, *symbols, larger);
}

}  // namespace
}  // namespace kiln::pack

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint64_t> raw(size / 8 + 1);
  std::memcpy(raw.data(), data, size);
  kiln::pack::Read(kiln::ByteView(reinterpret_cast<const std::byte*>(raw.data()), size));
  kiln::pack::DecodeAsModule(kiln::ByteView(reinterpret_cast<const std::byte*>(raw.data()), size));
  const std::vector<uint64_t> sealed = kiln::pack::Sealed(data, size);
  kiln::pack::Read(kiln::ByteView(reinterpret_cast<const std::byte*>(sealed.data()), size));
  return 0;
}
