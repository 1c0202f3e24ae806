// SPDX-License-Identifier: MIT
// A set of small numbers whose size is fixed when it is made. Up to 64 numbers take one word and no
// allocation. Two sets meet only if they have the same size.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/check.h"
#include "compiler/base/digest.h"

namespace kiln {

class Bitset {
 public:
  Bitset() = default;
  explicit Bitset(size_t size) : size_(size), more_(size > 64 ? (size + 63) / 64 : 0) {}

  size_t size() const { return size_; }

  void Set(size_t i) { WordOf(i) |= Bit(i); }
  void Reset(size_t i) { WordOf(i) &= ~Bit(i); }
  bool Test(size_t i) const {
    KILN_DCHECK(i < size_, "bit {} of {}", i, size_);
    return (words()[i / 64] & Bit(i)) != 0;
  }
  void Clear() {
    one_ = 0;
    std::fill(more_.begin(), more_.end(), 0);
  }

  // Union. Requires: equal sizes.
  Bitset& operator|=(const Bitset& other) {
    KILN_DCHECK(size_ == other.size_, "{} and {}", size_, other.size_);
    one_ |= other.one_;
    for (size_t i = 0; i < more_.size(); ++i) {
      more_[i] |= other.more_[i];
    }
    return *this;
  }
  Bitset& operator&=(const Bitset& other) {
    KILN_DCHECK(size_ == other.size_, "{} and {}", size_, other.size_);
    one_ &= other.one_;
    for (size_t i = 0; i < more_.size(); ++i) {
      more_[i] &= other.more_[i];
    }
    return *this;
  }

  // Union with the members of one word of words(). Requires: no more than size().
  void Unite(size_t word, uint64_t members) {
    if (members == 0) {
      return;
    }
    KILN_DCHECK(word < words().size(), "word {} of {}", word, words().size());
    (more_.empty() ? one_ : more_[word]) |= members;
  }

  // Whether every member of other is a member of this. Requires: equal sizes.
  bool Contains(const Bitset& other) const {
    KILN_DCHECK(size_ == other.size_, "{} and {}", size_, other.size_);
    if ((other.one_ & ~one_) != 0) {
      return false;
    }
    for (size_t i = 0; i < more_.size(); ++i) {
      if ((other.more_[i] & ~more_[i]) != 0) {
        return false;
      }
    }
    return true;
  }

  bool empty() const {
    for (const uint64_t word : words()) {
      if (word != 0) {
        return false;
      }
    }
    return true;
  }
  size_t Count() const {
    size_t count = 0;
    for (const uint64_t word : words()) {
      count += static_cast<size_t>(std::popcount(word));
    }
    return count;
  }

  // Calls visit(i) for every member in ascending order.
  template <class Visit>
  void ForEach(Visit visit) const {
    const std::span<const uint64_t> all = words();
    for (size_t w = 0; w < all.size(); ++w) {
      for (uint64_t rest = all[w]; rest != 0; rest &= rest - 1) {
        visit(w * 64 + static_cast<size_t>(std::countr_zero(rest)));
      }
    }
  }

  // The members, 64 to a word, lowest bit first; at least one word.
  std::span<const uint64_t> words() const {
    return more_.empty() ? std::span<const uint64_t>(&one_, 1) : std::span<const uint64_t>(more_);
  }

  friend bool operator==(const Bitset&, const Bitset&) = default;

 private:
  static uint64_t Bit(size_t i) { return uint64_t{1} << (i % 64); }
  uint64_t& WordOf(size_t i) {
    KILN_DCHECK(i < size_, "bit {} of {}", i, size_);
    return more_.empty() ? one_ : more_[i / 64];
  }

  size_t size_ = 0;
  uint64_t one_ = 0;            // all members, if size_ <= 64
  std::vector<uint64_t> more_;  // all members otherwise
};

struct BitsetHash {
  uint64_t operator()(const Bitset& set) const { return Hash64(std::as_bytes(set.words())); }
};

}  // namespace kiln
