// SPDX-License-Identifier: MIT
// SHA-256, for bytes that cross a trust boundary (signed packs, REAPI). Everything else is named by
// digest.h. Source: FIPS 180-4.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "compiler/base/bytes.h"

namespace kiln {

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(ByteView bytes);

std::string Sha256Hex(const Sha256Digest& digest);

// Streaming form: any split of the input gives the same digest.
class Sha256Hasher {
 public:
  void Update(ByteView bytes);
  // Digest of what was given so far; more may follow.
  Sha256Digest Finish() const;

 private:
  void Block(const std::byte* block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_{};
  uint64_t size_ = 0;  // bytes given; the last size_ % 64 are pending
};

}  // namespace kiln
