// SPDX-License-Identifier: MIT
// Arithmetic of the field that Ed25519 works in (RFC 8032). It is for public data only: checking a
// signature has no secret, so nothing here runs in constant time.
#include "cache/pack/signing/field25519.h"

#include <cstddef>
#include <cstring>

namespace kiln::pack {
namespace {

__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using)

// What wraps around at 2^255 comes back times 19.
// Numbers modulo 2^255 - 19 in five words of 51 bits. 64-bit words leave 13 bits of room above, so
// sums need no carry at once.
constexpr uint64_t kWrap = 19;
// 4 p in words that no difference of two numbers takes below zero.
constexpr uint64_t kFourLowest = ((uint64_t{1} << 51) - kWrap) * 4;
constexpr uint64_t kFour = ((uint64_t{1} << 51) - 1) * 4;

}  // namespace

// Any 32 bytes are taken, also those of numbers of p and more; the caller refuses such encodings
// where the standard does.
Field25519 Field25519::FromBytes(const Encoding& bytes) {
  std::array<uint64_t, 4> from{};
  std::memcpy(from.data(), bytes.data(), bytes.size());
  Field25519 out;
  for (uint32_t i = 0; i < out.words_.size(); ++i) {
    const uint32_t bit = i * kBits;
    const uint32_t word = bit / 64;
    const uint32_t shift = bit % 64;
    uint64_t value = from[word] >> shift;
    // The 51 bits reach into the next word. Bit 255 is the sign of x and is left out by the mask.
    if (shift > 64 - kBits && word + 1 < from.size()) {
      value |= from[word + 1] << (64 - shift);
    }
    out.words_[i] = value & kMask;
  }
  return out;
}

// One pass leaves words of 51 bits but for the lowest, which takes what wrapped around; that is
// small enough for another operation.
void Field25519::Carry() {
  uint64_t carry = 0;
  for (uint64_t& word : words_) {
    word += carry;
    carry = word >> kBits;
    word &= kMask;
  }
  words_[0] += carry * kWrap;
}

// The smallest number that stands for the value: encodings are compared as bytes.
Field25519::Encoding Field25519::Bytes() const {
  Field25519 out = *this;
  out.Carry();
  out.Carry();
  out.Carry();  // all words are below 2^51 now
  // p or more, and less than 2 p: adding 19 then carries out of bit 255.
  uint64_t carry = kWrap;
  for (const uint64_t word : out.words_) {
    carry = (word + carry) >> kBits;
  }
  out.words_[0] += carry * kWrap;
  carry = 0;
  for (uint64_t& word : out.words_) {
    word += carry;
    carry = word >> kBits;
    word &= kMask;
  }
  std::array<uint64_t, 4> into{};
  for (uint32_t i = 0; i < out.words_.size(); ++i) {
    const uint32_t bit = i * kBits;
    into[bit / 64] |= out.words_[i] << (bit % 64);
    if (bit % 64 > 64 - kBits && bit / 64 + 1 < into.size()) {
      into[bit / 64 + 1] |= out.words_[i] >> (64 - bit % 64);
    }
  }
  Encoding bytes{};
  std::memcpy(bytes.data(), into.data(), bytes.size());
  return bytes;
}

Field25519 operator+(const Field25519& a, const Field25519& b) {
  Field25519 out;
  for (size_t i = 0; i < out.words_.size(); ++i) {
    out.words_[i] = a.words_[i] + b.words_[i];
  }
  out.Carry();
  return out;
}

Field25519 operator-(const Field25519& a, const Field25519& b) {
  Field25519 out;
  for (size_t i = 0; i < out.words_.size(); ++i) {
    // Adding four times p changes nothing modulo p and keeps each word above zero.
    out.words_[i] = a.words_[i] + (i == 0 ? kFourLowest : kFour) - b.words_[i];
  }
  out.Carry();
  return out;
}

Field25519 operator*(const Field25519& a, const Field25519& b) {
  // Schoolbook multiplication. Products whose weight is 2^255 or more come back at the bottom times
  // 19. Words are below 2^54, so five products of at most 2^54 · 2^59 fit into 128 bits with room.
  std::array<Wide, 5> sums{};
  for (size_t i = 0; i < sums.size(); ++i) {
    for (size_t k = 0; k < sums.size(); ++k) {
      const uint64_t wrapped = i + k < sums.size() ? 1 : kWrap;
      sums[(i + k) % sums.size()] += Wide{a.words_[i]} * (b.words_[k] * wrapped);
    }
  }
  Field25519 out;
  Wide carry = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    carry += sums[i];
    out.words_[i] = static_cast<uint64_t>(carry) & Field25519::kMask;
    carry >>= Field25519::kBits;
  }
  out.words_[0] += static_cast<uint64_t>(carry) * kWrap;  // below 2^64: the carry is below 2^59
  out.Carry();
  return out;
}

// Square and multiply for exponents of the form 2^bits - below, all that inversion and roots need.
Field25519 Field25519::Power(uint32_t bits, uint32_t below) const {
  constexpr uint32_t kLow = 6;  // bits of the exponent that `below` decides; the others are ones
  const uint32_t low = (1U << kLow) - below;
  Field25519 out = Of(1);
  for (uint32_t i = bits; i-- > 0;) {
    out = out * out;
    if (i >= kLow || (low >> i & 1) != 0) {
      out = out * *this;
    }
  }
  return out;
}

}  // namespace kiln::pack
