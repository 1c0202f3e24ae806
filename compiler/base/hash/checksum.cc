// SPDX-License-Identifier: MIT
// Through the inlined headers of libxxhash, which is fastest for short inputs; long ones go to
// wide_checksum.
#include "compiler/base/hash/checksum.h"

#define XXH_INLINE_ALL
#include <array>
#include <random>

#include <xxhash.h>

#include "compiler/base/hash/wide_checksum.h"

namespace kiln {
namespace {

using Secret = std::array<uint32_t, XXH_SECRET_DEFAULT_SIZE / sizeof(uint32_t)>;

// Drawn once, from the system.
// The secret fills the whole default size, so that XXH3 uses it as it is and derives nothing.
const Secret& ProcessSecret() {
  static const Secret secret = [] {
    std::random_device random;
    Secret drawn;
    // Slow, since each word may be a call of the system; it happens once in a process.
    for (uint32_t& word : drawn) {
      word = random();
    }
    return drawn;
  }();
  return secret;
}

Hash128 Canonical(XXH128_hash_t hash) {
  // The canonical form is big-endian, so the sum is the same on every machine and may stand in
  // files.
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Hash128 result;
  static_assert(sizeof(canonical.digest) == sizeof(result.bytes));
  std::memcpy(result.bytes.data(), canonical.digest, sizeof(canonical.digest));
  return result;
}

}  // namespace

Hash128 Checksum(ByteView bytes) {
  // For short inputs the call and the choice by processor cost more than wider vectors save.
  constexpr size_t kShort = 512;
  return bytes.size() <= kShort ? Canonical(XXH3_128bits(bytes.data(), bytes.size()))
                                : WideChecksum(bytes);
}

uint64_t Checksum64(ByteView bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Hash128 ProcessHash(ByteView bytes) {
  // Only for tables in memory: the next process gives other numbers, and whoever chooses the inputs
  // cannot make them meet.
  const Secret& secret = ProcessSecret();
  return Canonical(
      XXH3_128bits_withSecret(bytes.data(), bytes.size(), secret.data(), sizeof(secret)));
}

uint64_t Hash64(ByteView bytes) {
  const Secret& secret = ProcessSecret();
  return XXH3_64bits_withSecret(bytes.data(), bytes.size(), secret.data(), sizeof(secret));
}

}  // namespace kiln
