// SPDX-License-Identifier: MIT
// Decides whether a pack is signed by a key that its reader accepts (spec/cache 10). What is signed
// is a hash over header, section table and the table of hashes; sections are hashed at opening and
// blocks when they are read, so that opening does not read the whole file.
#include "cache/pack/signing/trust.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "cache/pack/errors.h"

namespace kiln::pack {
namespace {

Error Bad(std::string what) {
  return PackError(kSignatureBad, std::move(what) + "; get the pack from whoever signs it");
}

// Sections behind HASH are covered by the section table only. A section that stood behind HASH
// would have no hash of its own, so only those that need none may.
Result<void> CheckOrder(const Tables& tables) {
  for (size_t i = tables.hashed_sections + 1; i < tables.sections.size(); ++i) {
    const SectionKind kind = tables.sections[i].kind;
    if (kind != SectionKind::kSignature && kind != SectionKind::kData) {
      return Bad(fmt::format("section {} stands behind HASH", SectionName(kind)));
    }
  }
  return {};
}

}  // namespace

Sha256Digest SignedMessage(ByteView header, ByteView section_table, ByteView hashes) {
  Sha256Hasher hasher;
  hasher.Update(header);
  hasher.Update(section_table);
  hasher.Update(hashes);
  return hasher.Finish();
}

Result<PublicKey> CheckSignature(ByteView file, const Tables& tables,
                                 std::span<const PublicKey> accepted) {
  if (!tables.signature.has_value() || tables.hashes.empty()) {
    return PackError(kSignatureMissing,
                     "section SIGN: the pack is not signed; get a signed one, or do not ask for "
                     "a signature");
  }
  const SignatureBlock& block = *tables.signature;
  if (block.algorithm != kEd25519) {
    return Bad(fmt::format("section SIGN: algorithm {} is not known", block.algorithm));
  }
  // Which key signed is told by its hash; the pack cannot bring a key of its own.
  const auto key = std::find_if(accepted.begin(), accepted.end(), [&](const PublicKey& candidate) {
    return candidate.Id() == block.key_id;
  });
  if (key == accepted.end()) {
    return Bad(fmt::format("section SIGN: signed with key {}, which is not accepted",
                           Sha256Hex(block.key_id)));
  }
  const Header& header = tables.header;
  const ByteView table =
      file.subspan(header.table_offset, tables.sections.size() * sizeof(SectionEntry));
  // The header, the table and the hashes of all sections and blocks: what is signed leads to every
  // section and block of the file.
  const Sha256Digest message =
      SignedMessage(file.first(sizeof(Header)), table, std::as_bytes(std::span(tables.hashes)));
  if (!IsSignedBy(*key, std::as_bytes(std::span(message)), block.signature)) {
    return Bad("section SIGN: the signature is not one of this pack");
  }
  KILN_TRY_VOID(CheckOrder(tables));
  if (const Result<void> sections = CheckSectionHashes(file, tables); !sections.ok()) {
    return Bad(sections.error().context);
  }
  return *key;
}

Result<void> CheckSectionHashes(ByteView file, const Tables& tables) {
  for (uint32_t i = 0; i < tables.hashed_sections; ++i) {
    const SectionEntry& section = tables.sections[i];
    if (Sha256(file.subspan(section.offset, section.stored_size)) != tables.hashes[i].sha256) {
      return PackError(kCorrupt, fmt::format("section {} does not have the SHA-256 that HASH says",
                                             SectionName(section.kind)));
    }
  }
  return {};
}

// The block must have been read from the file and not decompressed yet.
bool HasBlockHash(const Tables& tables, uint32_t block, ByteView stored) {
  return Sha256(stored) == tables.hashes[tables.hashed_sections + block].sha256;
}

}  // namespace kiln::pack
