// SPDX-License-Identifier: MIT
// FIPS 180-4 §6.2.2, as it is written and with the SHA extensions of x86.
#include "compiler/base/sha256_blocks.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace kiln {
namespace {

// FIPS 180-4 4.2.2: 32 bits of the fractional parts of the cube roots of the first 64 primes,
// aligned for the loads of four.
alignas(16) constexpr std::array<uint32_t, 64> kRoundConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t ReadBig(const std::byte* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return __builtin_bswap32(value);
}

// A round names its eight words by number, so that unrolled nothing is moved.
void PlainBlock(Sha256State& state, const std::byte* block) {
  // Sixteen words and not the 64 of the standard, so that all of them fit into one cache line.
  std::array<uint32_t, 16> w;  // the last sixteen words of the schedule
  for (size_t i = 0; i < 16; ++i) {
    w[i] = ReadBig(block + 4 * i);
  }
  Sha256State v = state;  // a to h; a of round i is v[-i mod 8]
#pragma GCC unroll 64
  for (size_t i = 0; i < 64; ++i) {
    // Word i takes the place of word i - 16, which nobody needs afterwards.
    if (i >= 16) {
      const uint32_t before_15 = w[(i + 1) % 16];
      const uint32_t before_2 = w[(i + 14) % 16];
      w[i % 16] += (std::rotr(before_15, 7) ^ std::rotr(before_15, 18) ^ (before_15 >> 3)) +
                   w[(i + 9) % 16] +
                   (std::rotr(before_2, 17) ^ std::rotr(before_2, 19) ^ (before_2 >> 10));
    }
    const uint32_t a = v[(64 - i) % 8];
    const uint32_t b = v[(65 - i) % 8];
    const uint32_t c = v[(66 - i) % 8];
    const uint32_t e = v[(68 - i) % 8];
    const uint32_t f = v[(69 - i) % 8];
    const uint32_t g = v[(70 - i) % 8];
    const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    // `g ^ (e & (f ^ g))` is the choice and `(a & b) | (c & (a | b))` the majority of the standard,
    // with one operation less each.
    const uint32_t t1 =
        v[(71 - i) % 8] + sum1 + (g ^ (e & (f ^ g))) + kRoundConstants[i] + w[i % 16];
    const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    v[(67 - i) % 8] += t1;
    v[(71 - i) % 8] = t1 + sum0 + ((a & b) | (c & (a | b)));
  }
  for (size_t i = 0; i < 8; ++i) {
    state[i] += v[i];
  }
}

#if defined(__x86_64__)
// The state is shuffled by instructions of SSSE3 and SSE4.1, so all three are asked for.
bool HasShaInstructions() {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0) {
    return false;
  }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

// The instructions keep the state as the halves ABEF and CDGH, and do two rounds each; w holds the
// last sixteen words of the schedule, four by four.
struct ShaLane {
  __m128i abef, cdgh;
  __m128i w[4];
  const std::byte* blocks;
};

#define KILN_SHA_TARGET __attribute__((target("sha,sse4.1,ssse3"), always_inline))

// The state is turned once before and after all blocks, not for each.
KILN_SHA_TARGET inline ShaLane LaneOf(const Sha256State& state, const std::byte* blocks) {
  const auto* const words = reinterpret_cast<const __m128i*>(state.data());
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  return {.abef = _mm_alignr_epi8(cdab, efgh, 8),
          .cdgh = _mm_blend_epi16(efgh, cdab, 0xf0),
          .w = {},
          .blocks = blocks};
}

KILN_SHA_TARGET inline void PutState(const ShaLane& lane, Sha256State& state) {
  auto* const words = reinterpret_cast<__m128i*>(state.data());
  const __m128i feba = _mm_shuffle_epi32(lane.abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(lane.cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

// The bytes of each word are turned on the way in.
KILN_SHA_TARGET inline void LoadBlock(ShaLane& lane) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  for (size_t i = 0; i < 4; ++i) {
    lane.w[i] =
        _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(lane.blocks) + i), swap);
  }
  lane.blocks += kSha256Block;
}

// Four rounds, two for each half of `sum`. The schedule stops four turns before the end: the last
// sixteen words are made by then.
KILN_SHA_TARGET inline void FourRounds(ShaLane& lane, size_t turn) {
  __m128i& now = lane.w[turn % 4];
  const __m128i sum = _mm_add_epi32(
      now, _mm_load_si128(reinterpret_cast<const __m128i*>(kRoundConstants.data()) + turn));
  lane.cdgh = _mm_sha256rnds2_epu32(lane.cdgh, lane.abef, sum);
  lane.abef = _mm_sha256rnds2_epu32(lane.abef, lane.cdgh, _mm_shuffle_epi32(sum, 0x0e));
  if (turn < 12) {
    const __m128i last = lane.w[(turn + 3) % 4];
    now = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(now, lane.w[(turn + 1) % 4]),
                                             _mm_alignr_epi8(last, lane.w[(turn + 2) % 4], 4)),
                               last);
  }
}

// One block of each lane, turn and turn about, so that one lane works while the other waits. The
// sum of before and after is what makes the step of a block irreversible.
template <class... Lane>
KILN_SHA_TARGET inline void OneBlock(Lane&... lanes) {
  (LoadBlock(lanes), ...);
  const __m128i before[] = {lanes.abef..., lanes.cdgh...};
#pragma GCC unroll 16
  for (size_t turn = 0; turn < 16; ++turn) {
    (FourRounds(lanes, turn), ...);
  }
  size_t i = 0;
  ((lanes.abef = _mm_add_epi32(lanes.abef, before[i++])), ...);
  ((lanes.cdgh = _mm_add_epi32(lanes.cdgh, before[i++])), ...);
}

__attribute__((target("sha,sse4.1,ssse3"))) void ShaBlocks(Sha256State& state,
                                                           const std::byte* blocks, size_t count) {
  ShaLane lane = LaneOf(state, blocks);
  for (; count != 0; --count) {
    OneBlock(lane);
  }
  PutState(lane, state);
}

__attribute__((target("sha,sse4.1,ssse3"))) void ShaBlocksOfTwo(Sha256State& first,
                                                                const std::byte* first_blocks,
                                                                Sha256State& second,
                                                                const std::byte* second_blocks,
                                                                size_t count) {
  ShaLane one = LaneOf(first, first_blocks);
  ShaLane two = LaneOf(second, second_blocks);
  for (; count != 0; --count) {
    OneBlock(one, two);
  }
  PutState(one, first);
  PutState(two, second);
}
#undef KILN_SHA_TARGET

// Asked once, at the first block.
bool UsesInstructions() {
  static const bool has_instructions = HasShaInstructions();
  return has_instructions;
}
#endif

}  // namespace

void Sha256BlocksPlain(Sha256State& state, const std::byte* blocks, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    PlainBlock(state, blocks + i * kSha256Block);
  }
}

// Both ways give the same bytes, and the plain one stays callable for the test that compares them.
void Sha256Blocks(Sha256State& state, const std::byte* blocks, size_t count) {
#if defined(__x86_64__)
  if (UsesInstructions()) {
    ShaBlocks(state, blocks, count);
    return;
  }
#endif
  Sha256BlocksPlain(state, blocks, count);
}

void Sha256BlocksOfTwo(Sha256State& first, const std::byte* first_blocks, Sha256State& second,
                       const std::byte* second_blocks, size_t count) {
#if defined(__x86_64__)
  if (UsesInstructions()) {
    ShaBlocksOfTwo(first, first_blocks, second, second_blocks, count);
    return;
  }
#endif
  Sha256BlocksPlain(first, first_blocks, count);
  Sha256BlocksPlain(second, second_blocks, count);
}

}  // namespace kiln
