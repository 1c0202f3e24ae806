// SPDX-License-Identifier: MIT
// Two lanes, each of which works on one message; a lane whose message is done takes the next one. A
// message is two stretches of blocks: those that lie in the content, and the one or two that end
// it. Each step works as many blocks as both lanes have in their stretches. The longest message
// begins, so that it is seldom left alone at the end. Costs what the longest message costs, or a
// little more than half of all.
#include "compiler/base/hash/digests_of.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/sha256.h"
#include "compiler/base/threads/stop.h"

namespace kiln {
namespace {

class Lane {
 public:
  // Takes a message. Its content must outlive the work.
  void Begin(ByteView content, Digest& digest) {
    state_ = kSha256Start;
    digest_ = &digest;
    digest.size = content.size();
    const size_t whole = content.size() / kSha256Block * kSha256Block;
    at_ = content.data();
    blocks_ = whole / kSha256Block;
    const ByteView rest = content.subspan(whole);
    // FIPS 180-4 5.1.1: a bit behind the message, zeros, and the number of its bits at the end of
    // the last block.
    end_ = {};
    std::ranges::copy(rest, end_.begin());
    end_[rest.size()] = std::byte{0x80};
    const uint64_t bits = __builtin_bswap64(uint64_t{content.size()} * 8);
    end_blocks_ = rest.size() + 1 + sizeof(bits) <= kSha256Block ? 1 : 2;
    std::memcpy(end_.data() + end_blocks_ * kSha256Block - sizeof(bits), &bits, sizeof(bits));
    Step(0);
  }

  bool IsBusy() const { return digest_ != nullptr; }
  size_t blocks() const { return blocks_; }  // of the stretch
  Sha256State& state() { return state_; }
  const std::byte* at() const { return at_; }

  // So many blocks of the stretch are worked into the state.
  void Step(size_t blocks) {
    at_ += blocks * kSha256Block;
    blocks_ -= blocks;
    if (blocks_ != 0) {
      return;
    }
    if (end_blocks_ != 0) {
      at_ = end_.data();
      blocks_ = std::exchange(end_blocks_, 0);
      return;
    }
    Finish();
  }

 private:
  // The first half of the digest is the id (digest.cc).
  void Finish() {
    for (size_t i = 0; i * sizeof(uint32_t) < digest_->id.bytes.size(); ++i) {
      const uint32_t word = __builtin_bswap32(state_[i]);
      std::memcpy(digest_->id.bytes.data() + i * sizeof(word), &word, sizeof(word));
    }
    digest_ = nullptr;
  }

  Sha256State state_{};
  const std::byte* at_ = nullptr;
  size_t blocks_ = 0;
  size_t end_blocks_ = 0;  // that are not begun
  std::array<std::byte, 2 * kSha256Block> end_{};
  Digest* digest_ = nullptr;  // null: no message
};

constexpr size_t kMostBlocks = kPartBytes / kSha256Block;  // of a step

}  // namespace

void DigestsOf(std::span<const ByteView> contents, std::span<Digest> digests) {
  KILN_CHECK(contents.size() == digests.size());
  if (contents.size() == 1) {
    digests[0] = DigestOf(contents[0]);
    return;
  }
  std::vector<size_t> order(contents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, std::greater(), [&](size_t i) { return contents[i].size(); });
  size_t next = 0;
  Lane first;
  Lane second;
  const auto take = [&](Lane& lane) {
    if (!lane.IsBusy() && next < order.size()) {
      const size_t i = order[next++];
      lane.Begin(contents[i], digests[i]);
    }
    return lane.IsBusy();
  };
  size_t blocks = 0;  // since somebody was asked whether they are wanted
  while (take(first) | take(second)) {
    size_t step = 0;
    if (first.IsBusy() && second.IsBusy()) {
      step = std::min({first.blocks(), second.blocks(), kMostBlocks});
      Sha256BlocksOfTwo(first.state(), first.at(), second.state(), second.at(), step);
      first.Step(step);
      second.Step(step);
    } else {
      Lane& only = first.IsBusy() ? first : second;
      step = std::min(only.blocks(), kMostBlocks);
      Sha256Blocks(only.state(), only.at(), step);
      only.Step(step);
    }
    blocks += step;
    if (blocks >= kMostBlocks) {
      blocks = 0;
      CheckStop();
    }
  }
}

}  // namespace kiln
