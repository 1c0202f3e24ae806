// SPDX-License-Identifier: MIT
// SHA-256. Content ids and keys are its first half (digest.h); what has room for all of it, as
// signed packs and tokens, takes all. Source: FIPS 180-4.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "compiler/base/bytes.h"
#include "compiler/base/sha256_blocks.h"

namespace kiln {

using Sha256Digest = std::array<uint8_t, 32>;

inline constexpr Sha256State kSha256Start{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

Sha256Digest Sha256(ByteView bytes);

std::string Sha256Hex(const Sha256Digest& digest);

// Streaming form: any split of the input gives the same digest.
class Sha256Hasher {
 public:
  void Update(ByteView bytes);
  // Digest of what was given so far; more may follow.
  Sha256Digest Finish() const;

 private:
  Sha256State state_ = kSha256Start;
  std::array<std::byte, kSha256Block> pending_{};
  uint64_t size_ = 0;  // bytes given; the last size_ % 64 are pending
};

}  // namespace kiln
