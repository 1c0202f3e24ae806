// SPDX-License-Identifier: MIT
// The bytes of a pack file (.kpack): header, section table, index sections of rows of fixed size,
// bulk data last. Little-endian, no pointers: rows are used where the file is mapped.
// Spec: cache §10.2 to §10.4
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "compiler/base/digest.h"

namespace kiln::pack {

inline constexpr std::array<uint8_t, 8> kMagic{0x89, 0x4B, 0x49, 0x4C, 0x4E, 0x50, 0x4B, 0x0A};
inline constexpr uint16_t kMajor = 2;
inline constexpr uint16_t kMinor = 0;
inline constexpr uint32_t kNone = 0xFFFFFFFF;
inline constexpr uint64_t kPageBytes = 4096;                   // alignment of mappable sections
inline constexpr uint64_t kBlockBytes = uint64_t{1} << 20;     // raw; a larger blob has its own
inline constexpr uint64_t kMaxBlobBytes = uint64_t{64} << 20;  // raw
inline constexpr uint32_t kMaxEntries = 1'000'000;             // artifacts (daemon §10)
inline constexpr uint64_t kMaxFileBytes = uint64_t{64} << 30;  // daemon §10
inline constexpr uint32_t kMaxSections = 64;
inline constexpr uint32_t kMaxLinks = 4;  // bases below a delta
inline constexpr uint32_t kMaxDictionaries = 64;
inline constexpr uint64_t kMaxDictionaryBytes = uint64_t{1} << 20;

enum PackFlags : uint32_t { kDelta = 1, kSigned = 2, kCacheExport = 4 };
enum SectionFlags : uint32_t { kMustUnderstand = 1, kMappable = 2 };
enum BlobFlags : uint32_t { kInBase = 1 };

enum class Codec : uint32_t { kRaw = 0, kZstd = 1, kZstdAfterBase = 3 };

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
  kDictionaries = FourCharacters("DICT"),  // u32 count, u32 ends, bytes: as STRS
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
  uint64_t zero = 0;
};

// type: as in cache §2.3 (0 flag, 1 uint, 2 sint, 3 float, 4 enum).
struct OptionRow {
  uint32_t name = 0;  // string
  uint32_t type = 0;
  uint32_t default_bits = 0;  // enum: index of the value
  uint32_t first_value = 0;   // string; values of an enum follow each other
  uint32_t value_count = 0;
  uint32_t instance = 0;  // scope: 0 global, 1 instance
  uint64_t zero = 0;
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

struct ArtifactRow {
  Hash128 live_key;  // rows ascend by it
  Hash128 layout_hash;
  Hash128 state_id;
  uint32_t first_code = kNone;
  uint32_t metadata = kNone;  // blob
  uint32_t entry = 0;
  uint16_t code_count = 0;
  uint16_t flags = 0;
};

struct CodeRow {
  uint32_t stage = 0;  // 0: a module of all stages
  uint32_t blob = 0;
};

// One per distinct state id, those to build first in front.
struct PipelineRow {
  Hash128 state_id;
  uint32_t artifact = 0;
  uint32_t entry = 0;
  uint32_t warm_rank = kNone;
  uint32_t flags = 0;
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
  uint64_t zero = 0;
};

struct HintRow {
  uint8_t set = 0;
  uint8_t binding = 0;
  uint16_t sampler_class = 0;
  uint32_t format = 0;
  uint64_t zero = 0;
};

// A row of the cache; rows ascend by (space, level, key). Its value lies in CVAL, the content that
// it names among the blobs.
struct CacheRow {
  Hash128 key;
  uint32_t level = 0;  // cache::Level
  uint32_t space = 0;
  uint64_t offset = 0;
  uint32_t size = 0;
  uint32_t zero = 0;
};

// In the base pack: the base's row of the same id says where; block is kNone and offset 0.
struct BlobRow {
  Hash128 id;  // rows ascend by it
  uint32_t raw_size = 0;
  uint32_t block = 0;
  uint32_t offset = 0;  // in the raw block
  uint32_t flags = 0;
};

struct BlockRow {
  uint64_t offset = 0;  // in BDAT
  uint32_t stored_size = 0;
  uint32_t raw_size = 0;
  Hash128 sum;  // XXH3-128 of the stored bytes
  Codec codec = Codec::kRaw;
  uint32_t dictionary = kNone;  // of DICT; for kZstdAfterBase a block of the base
  uint64_t zero = 0;
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

static_assert(sizeof(Header) == 128 && sizeof(SectionEntry) == 72 && sizeof(ProgramRow) == 32);
static_assert(sizeof(OptionRow) == 32 && sizeof(EntryRow) == 32 && sizeof(LiveHead) == 8);
static_assert(sizeof(ArtifactRow) == 64 && sizeof(CodeRow) == 8 && sizeof(PipelineRow) == 32);
static_assert(sizeof(PassRow) == 48 && sizeof(WarmRow) == 32 && sizeof(HintRow) == 16);
static_assert(sizeof(BlobRow) == 32 && sizeof(BlockRow) == 48 && sizeof(CacheRow) == 40);
static_assert(sizeof(HashRow) == 32 && sizeof(SignatureBlock) == 100);

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
