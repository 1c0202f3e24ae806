// SPDX-License-Identifier: MIT
// FIPS 180-4 §4.1.3, §5.1.2 and §6.4. The constants are what the standard says they are: the first
// 64 bits of the fractional parts of square and cube roots of primes, so they are computed and not
// listed.
#include "compiler/base/hash/sha512.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kiln {
namespace {

__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using)

constexpr size_t kBlock = 128;
constexpr size_t kRounds = 80;
constexpr size_t kLengthBytes = 16;

constexpr std::array<uint32_t, kRounds> Primes() {
  std::array<uint32_t, kRounds> primes{};
  size_t count = 0;
  for (uint32_t n = 2; count < kRounds; ++n) {
    bool prime = true;
    // Each number is divided by the primes below its root only.
    for (size_t i = 0; i < count && primes[i] * primes[i] <= n; ++i) {
      prime = prime && n % primes[i] != 0;
    }
    if (prime) {
      primes[count++] = n;
    }
  }
  return primes;
}

// A number of 256 bits, lowest word first: room for the cube of a root with 64 bits behind the
// point.
using Product = std::array<uint64_t, 4>;

constexpr Product Times(const Product& a, uint64_t high, uint64_t low) {
  Product out{};
  const uint64_t factor[] = {low, high};
  for (size_t k = 0; k < 2; ++k) {
    Wide carry = 0;
    for (size_t i = 0; i + k < out.size(); ++i) {
      // Product and both summands fit: (2^64 - 1)^2 + 2 (2^64 - 1) is 2^128 - 1.
      carry += Wide{a[i]} * factor[k] + out[i + k];
      out[i + k] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
  }
  return out;
}

constexpr bool Above(const Product& a, const Product& b) {
  // From the highest word down; the first that differs decides.
  for (size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) {
      return a[i] > b[i];
    }
  }
  return false;
}

// The largest r with r^power <= prime * 2^(64 power), without its whole part: the fraction's 64
// bits.
// Bit by bit from the top: a bit stays if the power is not above the goal with it. Everything is
// integers, so the constants are exact on every machine.
constexpr uint64_t RootFraction(uint32_t prime, size_t power) {
  Product goal{};
  goal[power] = prime;
  uint64_t high = 0;
  uint64_t low = 0;
  // A root has up to 69 bits here, and its cube fits into the 256 of a product.
  for (int bit = 69; bit >= 0; --bit) {  // roots of primes up to 409 are below 2^5
    const uint64_t next_high = high | (bit >= 64 ? uint64_t{1} << (bit - 64) : 0);
    const uint64_t next_low = low | (bit < 64 ? uint64_t{1} << bit : 0);
    Product value{1, 0, 0, 0};
    for (size_t i = 0; i < power; ++i) {
      value = Times(value, next_high, next_low);
    }
    if (!Above(value, goal)) {
      high = next_high;
      low = next_low;
    }
  }
  return low;
}

using State = std::array<uint64_t, 8>;

struct Constants {
  std::array<uint64_t, kRounds> round{};
  State start{};
};

// Made anew for each digest, by some hundred thousand multiplications: the one caller is the check
// of a signature, which asks once.
Constants MakeConstants() {
  constexpr std::array<uint32_t, kRounds> kPrimes = Primes();
  Constants constants;
  for (size_t i = 0; i < kRounds; ++i) {
    constants.round[i] = RootFraction(kPrimes[i], 3);
  }
  for (size_t i = 0; i < constants.start.size(); ++i) {
    constants.start[i] = RootFraction(kPrimes[i], 2);
  }
  return constants;
}

uint64_t Choose(uint64_t x, uint64_t y, uint64_t z) { return (x & y) ^ (~x & z); }
uint64_t Majority(uint64_t x, uint64_t y, uint64_t z) { return (x & y) ^ (x & z) ^ (y & z); }
uint64_t Turned(uint64_t x, int a, int b, int c) {
  return std::rotr(x, a) ^ std::rotr(x, b) ^ std::rotr(x, c);
}
uint64_t Shifted(uint64_t x, int a, int b, int shift) {
  return std::rotr(x, a) ^ std::rotr(x, b) ^ (x >> shift);
}

// As the standard writes it, without the tricks of sha256_blocks.cc.
void TakeBlock(const Constants& constants, State& state, const std::byte* block) {
  std::array<uint64_t, kRounds> words{};
  for (size_t i = 0; i < kRounds; ++i) {
    if (i < 16) {
      words[i] = __builtin_bswap64(ReadLittle<uint64_t>({block, kBlock}, 8 * i));
    } else {
      words[i] = Shifted(words[i - 2], 19, 61, 6) + words[i - 7] + Shifted(words[i - 15], 1, 8, 7) +
                 words[i - 16];
    }
  }
  // The names of FIPS 180-4, so that the code can be compared with the text line by line.
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < kRounds; ++i) {
    const uint64_t first =
        h + Turned(e, 14, 18, 41) + Choose(e, f, g) + constants.round[i] + words[i];
    const uint64_t second = Turned(a, 28, 34, 39) + Majority(a, b, c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const State add = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) {
    state[i] += add[i];
  }
}

}  // namespace

Sha512Digest Sha512(std::initializer_list<ByteView> parts) {
  const Constants constants = MakeConstants();
  State state = constants.start;
  std::array<std::byte, kBlock> block{};
  uint64_t size = 0;
  for (ByteView part : parts) {
    // Byte by byte, since the inputs are short: keys and what is signed.
    for (const std::byte byte : part) {
      block[size++ % kBlock] = byte;
      if (size % kBlock == 0) {
        TakeBlock(constants, state, block.data());
      }
    }
  }
  const size_t filled = size % kBlock;
  std::fill(block.begin() + static_cast<ptrdiff_t>(filled), block.end(), std::byte{0});
  block[filled] = std::byte{0x80};
  // The length of 16 bytes does not fit behind the mark, so it gets a block of its own. Its upper
  // eight bytes stay zero: no input has 2^61 bytes.
  if (filled >= kBlock - kLengthBytes) {
    TakeBlock(constants, state, block.data());
    block.fill(std::byte{0});
  }
  const uint64_t bits = __builtin_bswap64(size * 8);
  std::memcpy(block.data() + kBlock - sizeof(bits), &bits, sizeof(bits));
  TakeBlock(constants, state, block.data());
  Sha512Digest digest;
  for (size_t i = 0; i < state.size(); ++i) {
    const uint64_t word = __builtin_bswap64(state[i]);
    std::memcpy(digest.data() + 8 * i, &word, sizeof(word));
  }
  return digest;
}

}  // namespace kiln
