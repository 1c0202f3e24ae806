// SPDX-License-Identifier: MIT
// XXH3 through the inlined headers of libxxhash, which is fastest for short inputs; long ones go to
// wide_hash.
#include "compiler/base/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/base/check.h"
#include "compiler/base/wide_hash.h"

namespace kiln {
namespace {

Hash128 Canonical(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Hash128 result;
  static_assert(sizeof(canonical.digest) == sizeof(result.bytes));
  std::memcpy(result.bytes.data(), canonical.digest, sizeof(canonical.digest));
  return result;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

}  // namespace

std::string Hash128::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(32);
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<Hash128> ParseHash128(std::string_view hex) {
  if (hex.size() != 32) {
    return std::nullopt;
  }
  Hash128 hash;
  for (size_t i = 0; i < 16; ++i) {
    const int high = HexValue(hex[2 * i]);
    const int low = HexValue(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    hash.bytes[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return hash;
}

Hash128 HashBytes(ByteView bytes) {
  constexpr size_t kShort = 512;
  return bytes.size() <= kShort ? Canonical(XXH3_128bits(bytes.data(), bytes.size()))
                                : HashWide(bytes);
}

Digest DigestOf(ByteView bytes) { return {.id = HashBytes(bytes), .size = bytes.size()}; }

uint64_t Hash64(ByteView bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

struct Hasher::State {
  XXH3_state_t xxh;  // holds its own 64-byte alignment, which operator new respects
  uint64_t size = 0;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  KILN_CHECK(XXH3_128bits_reset(&state_->xxh) == XXH_OK);
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::Update(ByteView bytes) {
  KILN_CHECK(XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size()) == XXH_OK);
  state_->size += bytes.size();
}

Digest Hasher::Finish() const {
  return {.id = Canonical(XXH3_128bits_digest(&state_->xxh)), .size = state_->size};
}

}  // namespace kiln
