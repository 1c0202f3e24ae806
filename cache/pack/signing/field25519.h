// SPDX-License-Identifier: MIT
// Numbers modulo p = 2^255 - 19, for Ed25519. Five words of 51 bits; words may be a little larger
// between operations, and Bytes brings a number into its one form.
#pragma once

#include <array>
#include <cstdint>

namespace kiln::pack {

class Field25519 {
 public:
  using Encoding = std::array<uint8_t, 32>;  // little-endian

  constexpr Field25519() = default;
  static Field25519 Of(uint64_t small) {
    Field25519 out;
    out.words_[0] = small;
    return out;
  }
  // The lower 255 bits.
  static Field25519 FromBytes(const Encoding& bytes);

  Encoding Bytes() const;
  bool IsZero() const { return Bytes() == Encoding{}; }
  bool IsOdd() const { return (Bytes()[0] & 1) != 0; }

  // The power whose exponent is 2^bits - below. Requires: bits > 6, 0 < below <= 64.
  Field25519 Power(uint32_t bits, uint32_t below) const;
  Field25519 Inverse() const { return Power(255, 21); }  // of zero: zero

  friend Field25519 operator+(const Field25519& a, const Field25519& b);
  friend Field25519 operator-(const Field25519& a, const Field25519& b);
  friend Field25519 operator*(const Field25519& a, const Field25519& b);
  friend bool operator==(const Field25519& a, const Field25519& b) {
    return a.Bytes() == b.Bytes();
  }

 private:
  static constexpr uint32_t kBits = 51;
  static constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;

  void Carry();

  std::array<uint64_t, 5> words_{};
};

}  // namespace kiln::pack
