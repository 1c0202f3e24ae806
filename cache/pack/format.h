// SPDX-License-Identifier: MIT
// The bytes of a pack file (.kpack): header, section table, compressed index sections, bulk data
// last. Little-endian, no pointers. An index section of rows is stored column by column
// (columns.h); the structs below are its rows in memory. README.md draws the whole.
// See spec/cache 10.2 to 10.4
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "compiler/base/digest.h"

namespace kiln::pack {

inline constexpr std::array<uint8_t, 8> kMagic{0x89, 0x4B, 0x49, 0x4C, 0x4E, 0x50, 0x4B, 0x0A};
inline constexpr uint16_t kMajor = 3;
inline constexpr uint16_t kMinor = 0;
inline constexpr uint32_t kNone = 0xFFFFFFFF;
inline constexpr uint64_t kSectionBytes = 8;                   // alignment of sections
inline constexpr uint64_t kBlockBytes = uint64_t{1} << 20;     // raw; a larger blob has its own
inline constexpr uint64_t kMaxBlobBytes = uint64_t{64} << 20;  // raw
inline constexpr uint32_t kMaxModules = 1'024;                 // of one artifact
inline constexpr uint32_t kMaxEntries = 1'000'000;             // artifacts (spec/daemon 10)
inline constexpr uint64_t kMaxFileBytes = uint64_t{64} << 30;  // spec/daemon 10
inline constexpr uint32_t kMaxSections = 64;
inline constexpr uint32_t kMaxLinks = 4;                        // bases below a delta
inline constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 30;   // of one section, raw
inline constexpr uint64_t kMaxPrefixBytes = uint64_t{1} << 20;  // of a block that is a prefix, raw

enum PackFlags : uint32_t { kDelta = 1, kSigned = 2, kCacheExport = 4 };
enum SectionFlags : uint32_t { kMustUnderstand = 1, kMappable = 2 };  // mappable: not compressed
// kModule: SPIR-V with symbols in the place of ids (cache/module_codec.h).
enum BlobFlags : uint32_t { kInBase = 1, kModule = 2 };

// kZstdAfterBlock: with the raw bytes of an earlier block of the pack as prefix. kZstdAfterBase:
// with those of a block of the base pack, or, for a section, of the base's section of that kind.
enum class Codec : uint32_t { kRaw = 0, kZstd = 1, kZstdAfterBlock = 2, kZstdAfterBase = 3 };

constexpr uint32_t FourCharacters(const char (&text)[5]) {
  uint32_t code = 0;
  for (int i = 3; i >= 0; --i) {
    code = code << 8 | static_cast<uint8_t>(text[i]);
  }
  return code;
}

// In file order.
enum class SectionKind : uint32_t {
  kInfo = FourCharacters("INFO"),
  kStrings = FourCharacters("STRS"),
  kPrograms = FourCharacters("PROG"),
  kOptions = FourCharacters("OPTN"),
  kEntries = FourCharacters("ENTR"),
  kLive = FourCharacters("LIVE"),
  kLayouts = FourCharacters("LAYT"),
  kArtifacts = FourCharacters("ARTF"),
  kCode = FourCharacters("CODE"),
  kPipelines = FourCharacters("PSOS"),
  kPasses = FourCharacters("PASS"),  // these three only if there is something to say
  kWarm = FourCharacters("WARM"),
  kHints = FourCharacters("WHNT"),
  kCacheRows = FourCharacters("CROW"),    // of a cache export
  kCacheValues = FourCharacters("CVAL"),  // bytes of their values
  kBlobs = FourCharacters("BIDX"),
  kBlocks = FourCharacters("BLKS"),
  kHashes = FourCharacters("HASH"),
  kSignature = FourCharacters("SIGN"),
  kData = FourCharacters("BDAT"),
};

struct Header {
  std::array<uint8_t, 8> magic = kMagic;
  uint16_t major = kMajor;
  uint16_t minor = kMinor;
  uint32_t header_size = 128;
  uint64_t file_size = 0;
  uint32_t section_count = 0;
  uint32_t entry_size = 72;
  uint64_t table_offset = 128;
  Hash128 pack_id;    // content id of the section table
  Hash128 base_pack;  // zero: complete in itself
  Hash128 build;      // fingerprint of the compiler
  uint32_t flags = 0;
  std::array<uint8_t, 28> zero{};
  uint64_t checksum = 0;  // XXH3-64 of the bytes before
};

struct SectionEntry {
  SectionKind kind = SectionKind::kInfo;
  uint32_t flags = 0;
  uint64_t offset = 0;
  uint64_t stored_size = 0;
  uint64_t raw_size = 0;
  Codec codec = Codec::kRaw;
  uint32_t zero = 0;
  Hash128 id;  // content id of the stored bytes; zero for SIGN, whose bytes depend on this table
  uint64_t rows = 0;
  uint64_t checksum = 0;  // XXH3-64 of the stored bytes, for opening; zero for SIGN and BDAT
};

struct ProgramRow {
  uint32_t name = 0;      // string
  uint32_t pipeline = 0;  // string
  uint32_t first_option = 0;
  uint32_t option_count = 0;
  uint32_t first_entry = 0;
  uint32_t entry_count = 0;
};

// type: as in spec/cache 2.3 (0 flag, 1 uint, 2 sint, 3 float, 4 enum).
struct OptionRow {
  uint32_t name = 0;  // string
  uint32_t type = 0;
  uint32_t default_bits = 0;  // enum: index of the value
  uint32_t first_value = 0;   // string; values of an enum follow each other
  uint32_t value_count = 0;
  uint32_t instance = 0;  // scope: 0 global, 1 instance
};

struct EntryRow {
  Hash128 id;  // entry id
  uint32_t program = 0;
  uint32_t target = 0;      // string
  uint32_t first_live = 0;  // masks
  uint32_t live_count = 0;
};

// A row of LIVE is this and then u64[w]: bit i is option i of the program.
struct LiveHead {
  uint32_t entry = 0;
  uint32_t zero = 0;
};

// A layout hash; each once.
struct LayoutRow {
  Hash128 hash;
};

// By entry, then in the order in which the contents have them (Artifact::order). Whoever opens the
// pack sorts them by key.
struct ArtifactRow {
  Hash128 live_key;
  uint32_t layout = 0;    // row of LAYT
  uint32_t pipeline = 0;  // row of PSOS, which has the state id
  uint32_t first_code = kNone;
  uint32_t metadata = kNone;  // blob
  uint32_t entry = 0;
  uint16_t code_count = 0;
  uint16_t flags = 0;
};

// Artifacts with the same code share their rows.
struct CodeRow {
  uint32_t stage = 0;  // 0: a module of all stages
  uint32_t blob = 0;
};

// One per distinct state id, those to build first in front.
struct PipelineRow {
  Hash128 state_id;
  uint32_t artifact = 0;  // the first one with that state
  uint32_t warm_rank = kNone;
};

inline constexpr uint32_t kSwapchainFormat = 0xFFFFFFFF;
inline constexpr uint32_t kMaxColorFormats = 8;

// Rows ascend by name.
struct PassRow {
  uint32_t name = 0;  // string
  uint32_t view_mask = 0;
  uint16_t samples = 1;
  uint16_t color_count = 0;
  std::array<uint32_t, kMaxColorFormats> color_formats{};
  uint32_t depth_format = 0;
};

// In the order of building: by lane, priority, pipeline.
struct WarmRow {
  uint32_t pipeline = 0;
  uint32_t pass = kNone;
  uint32_t hints = 0;  // first row << 8 | count
  uint16_t priority = 0;
  uint16_t lane = 0;
  uint32_t creation_us = 0;
  uint32_t first_use_us = 0;
};

struct HintRow {
  uint8_t set = 0;
  uint8_t binding = 0;
  uint16_t sampler_class = 0;
  uint32_t format = 0;
};

// A row of the cache; rows ascend by (space, level, key). Its value lies in CVAL, the content that
// it names among the blobs.
struct CacheRow {
  Hash128 key;
  uint32_t level = 0;  // cache::Level
  uint32_t space = 0;
  uint64_t offset = 0;
  uint32_t size = 0;
  uint32_t zero = 0;  // not stored
};

// In the order of the data; whoever opens the pack sorts them by id. In the base pack: the base's
// row of the same id says where; block is kNone, offset and size are 0.
struct BlobRow {
  Hash128 id;
  uint32_t raw_size = 0;
  uint32_t block = 0;
  uint32_t offset = 0;  // in the raw block
  uint32_t size = 0;    // there; raw_size unless it is kModule
  uint32_t flags = 0;
};

struct BlockRow {
  uint64_t offset = 0;  // in BDAT
  uint32_t stored_size = 0;
  uint32_t raw_size = 0;
  uint64_t sum = 0;  // XXH3-64 of the stored bytes
  Codec codec = Codec::kRaw;
  uint32_t prefix = kNone;    // block: of this pack, of the base for kZstdAfterBase
  uint32_t symbol_bytes = 0;  // at its begin: a table of symbols for its modules and for those of
                              // the blocks that have it as prefix
  uint32_t zero = 0;          // not stored
};

// Row i is the SHA-256 of the stored bytes of section i of the table, for every section before
// HASH; then of every block in the order of BLKS.
struct HashRow {
  std::array<uint8_t, 32> sha256{};
};

inline constexpr uint32_t kEd25519 = 1;

// The message that is signed is SHA-256(header, section table, HASH).
struct SignatureBlock {
  uint32_t algorithm = kEd25519;
  std::array<uint8_t, 32> key_id{};  // SHA-256 of the 32 bytes of the public key
  std::array<uint8_t, 64> signature{};
};

static_assert(sizeof(Header) == 128 && sizeof(SectionEntry) == 72);
static_assert(sizeof(SignatureBlock) == 100);

// "BIDX"
inline std::string SectionName(SectionKind kind) {
  std::string name(4, ' ');
  for (size_t i = 0; i < 4; ++i) {
    const char c = static_cast<char>(static_cast<uint32_t>(kind) >> (8 * i));
    name[i] = c >= ' ' && c <= '~' ? c : '?';
  }
  return name;
}

}  // namespace kiln::pack
