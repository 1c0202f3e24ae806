// SPDX-License-Identifier: MIT
// HASH and SIGN: what a writer adds to a signed pack and what a reader that asks for a signature
// checks when it opens one. See spec/cache 10.4, 10.7
//
//   signature = Ed25519 over SHA-256(header, section table, HASH)
//   HASH      = SHA-256 of every section before it and of every block
// The table's row of SIGN has a zero id, because a signature cannot cover its own sum.
#pragma once

#include <span>
#include <vector>

#include "cache/pack/signature.h"
#include "cache/pack/tables.h"

namespace kiln::pack {

Sha256Digest SignedMessage(ByteView header, ByteView section_table, ByteView hashes);

// The key of `accepted` that signed the pack. Checks the index sections, too; blocks have their
// row of HASH. Errors: PACK_SIGNATURE_MISSING, PACK_SIGNATURE_BAD.
Result<PublicKey> CheckSignature(ByteView file, const Tables& tables,
                                 std::span<const PublicKey> accepted);

// Whether every section before HASH has its SHA-256; true without HASH.
// Errors: PACK_CORRUPT naming the section.
Result<void> CheckSectionHashes(ByteView file, const Tables& tables);

// Requires: tables.hashes is not empty.
bool HasBlockHash(const Tables& tables, uint32_t block, ByteView stored);

}  // namespace kiln::pack
