// SPDX-License-Identifier: MIT
// FIPS 180-4 §5.1.1 and §6.2: padding, and blocks as they come.
#include "compiler/base/sha256.h"

#include <algorithm>
#include <cstring>

#include "compiler/base/threads/stop.h"

namespace kiln {
namespace {

// Works whole blocks of a message into the state, as long as anybody waits for it.
void Work(Sha256State& state, ByteView blocks) {
  static_assert(kPartBytes % kSha256Block == 0);
  InParts(blocks.size(), [&](size_t offset, size_t size) {
    Sha256Blocks(state, blocks.data() + offset, size / kSha256Block);
  });
}

// Works the last bytes of a message into the state: less than a block, and what marks the end.
// Works on copies: a hasher may be asked for the digest of what it has and take more afterwards.
Sha256Digest Finished(Sha256State state, ByteView rest, uint64_t size) {
  std::array<std::byte, 2 * kSha256Block> end{};
  std::copy(rest.begin(), rest.end(), end.begin());
  // The bit behind the message is set, so that messages which differ by zeros at the end differ.
  end[rest.size()] = std::byte{0x80};
  const uint64_t bits = __builtin_bswap64(size * 8);
  // The mark and the length of eight bytes must fit behind the rest, else they need a block of
  // their own.
  const size_t blocks = rest.size() + 1 + sizeof(bits) <= kSha256Block ? 1 : 2;
  std::memcpy(end.data() + blocks * kSha256Block - sizeof(bits), &bits, sizeof(bits));
  Sha256Blocks(state, end.data(), blocks);
  Sha256Digest digest;
  for (size_t i = 0; i < state.size(); ++i) {
    const uint32_t word = __builtin_bswap32(state[i]);
    std::memcpy(digest.data() + 4 * i, &word, sizeof(word));
  }
  return digest;
}

}  // namespace

void Sha256Hasher::Update(ByteView bytes) {
  const size_t filled = size_ % kSha256Block;
  size_ += bytes.size();
  // First fill up the block that an earlier call began; only then whole blocks can be worked where
  // they lie, without being copied.
  if (filled != 0) {
    const size_t taken = std::min(kSha256Block - filled, bytes.size());
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<ptrdiff_t>(filled));
    bytes = bytes.subspan(taken);
    if (filled + taken < kSha256Block) {
      return;
    }
    Sha256Blocks(state_, pending_.data(), 1);
  }
  const size_t whole = bytes.size() / kSha256Block;
  Work(state_, bytes.first(whole * kSha256Block));
  const ByteView rest = bytes.subspan(whole * kSha256Block);
  std::copy(rest.begin(), rest.end(), pending_.begin());
}

Sha256Digest Sha256Hasher::Finish() const {
  return Finished(state_, ByteView(pending_).first(size_ % kSha256Block), size_);
}

Sha256Digest Sha256(ByteView bytes) {
  Sha256State state = kSha256Start;
  const size_t whole = bytes.size() / kSha256Block;
  Work(state, bytes.first(whole * kSha256Block));
  return Finished(state, bytes.subspan(whole * kSha256Block), bytes.size());
}

std::string Sha256Hex(const Sha256Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace kiln
