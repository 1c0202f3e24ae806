// SPDX-License-Identifier: MIT
#include "compiler/base/digest.h"

#include "compiler/base/sha256.h"

namespace kiln {
namespace {

// An id is the first half of SHA-256 (spec/cache 2.1): 128 bits are enough against accidents and
// against whoever looks for two inputs that meet, and half as long in keys and file names.
Hash128 Cut(const Sha256Digest& digest) {
  Hash128 result;
  std::memcpy(result.bytes.data(), digest.data(), result.bytes.size());
  return result;
}

// Both cases are read; only the small letters are written, so that an id has one spelling.
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

// Small letters, two for each byte, from the first byte on.
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

// Exactly 32 digits; nothing else stands for an id.
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

// The id of bytes that are all there at once.
Hash128 HashBytes(ByteView bytes) { return Cut(Sha256(bytes)); }

// The size is part of what is compared: a cut file differs without being hashed.
Digest DigestOf(ByteView bytes) { return {.id = HashBytes(bytes), .size = bytes.size()}; }

// Behind a pointer, so that the header of ids, which everybody includes, does not need that of the
// algorithm.
struct Hasher::State {
  Sha256Hasher sha256;
  uint64_t size = 0;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
// Written here, where the state is a complete type.
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

// Bytes in any pieces: the result depends on what they are together.
void Hasher::Update(ByteView bytes) {
  state_->sha256.Update(bytes);
  state_->size += bytes.size();
}

// May be asked more than once, and Update may follow.
Digest Hasher::Finish() const { return {.id = Cut(state_->sha256.Finish()), .size = state_->size}; }

}  // namespace kiln
