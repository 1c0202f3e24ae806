// SPDX-License-Identifier: MIT
// Content ids and keys: SHA-256, cut to its first 128 bits, so that nobody finds two inputs with
// one id. Sums that guard against accidents only are in checksum.h. See spec/cache 2.1.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/base/bytes.h"

namespace kiln {

struct Hash128 {
  std::array<uint8_t, 16> bytes{};

  // 32 lower-case hex digits.
  std::string hex() const;
  bool zero() const { return *this == Hash128{}; }

  friend bool operator==(const Hash128&, const Hash128&) = default;
  // That of the hex text.
  friend std::strong_ordering operator<=>(const Hash128& a, const Hash128& b) {
    return std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) <=> 0;
  }
};

// 32 hex digits of either case; nullopt for anything else.
std::optional<Hash128> ParseHash128(std::string_view hex);

// Identity of a byte string. Id and size always travel together.
struct Digest {
  Hash128 id;
  uint64_t size = 0;

  friend bool operator==(const Digest&, const Digest&) = default;
  friend std::strong_ordering operator<=>(const Digest& a, const Digest& b) {
    const std::strong_ordering order = a.id <=> b.id;
    return std::is_neq(order) ? order : a.size <=> b.size;
  }
};

Hash128 HashBytes(ByteView bytes);
Digest DigestOf(ByteView bytes);
inline Digest DigestOf(std::string_view text) { return DigestOf(AsBytes(text)); }

// For in-memory tables only: it differs from process to process. Never stored.
uint64_t Hash64(ByteView bytes);
inline uint64_t Hash64(std::string_view text) { return Hash64(AsBytes(text)); }

// For hash tables keyed by something that is a hash already: its first eight bytes.
struct Hash128Hash {
  size_t operator()(const Hash128& hash) const {
    size_t value;
    std::memcpy(&value, hash.bytes.data(), sizeof(value));
    return value;
  }
};

// Streaming form of HashBytes: any split of the input gives the same hash.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void Update(ByteView bytes);
  void Update(std::string_view text) { Update(AsBytes(text)); }
  // Hash of what was given so far; more may follow.
  Digest Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln
