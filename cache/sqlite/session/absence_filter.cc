// SPDX-License-Identifier: MIT
// A Bloom filter over the rows of a new file: a bit that is not set proves that the key was never
// put. It knows only what this process has put since the file was empty, so it is used for such
// files alone, and given up for good when there are more rows than it is made for (spec/cache 6.4).
// False answers cost a read. The writer adds, readers ask; words are atomic, and a bit that a
// reader misses belongs to a put that it does not have to see yet.
#include "cache/sqlite/session/absence_filter.h"

#include <cstring>

namespace kiln::cache::sqlite {
namespace {

// Number `i` of the hashes of a key: four bytes of its id, mixed with level and space. Ids are
// hashes, so their bytes are as good as any. Four numbers come from one id without further hashing.
uint32_t HashOf(const Key& key, int i) {
  uint32_t part = 0;
  std::memcpy(&part, key.id.bytes.data() + 4 * i, sizeof(part));
  const uint32_t rest = key.space * 0x9E3779B1U + static_cast<uint32_t>(key.level) * 0x85EBCA77U;
  return part ^ rest;
}

}  // namespace

void AbsenceFilter::Start(File file) {
  knows_.store(false, std::memory_order_release);
  if (file == File::kHasRows) {
    return;
  }
  if (words_ == nullptr) {
    words_ = std::make_unique<Word[]>(kBits / 64);
  }
  for (uint64_t i = 0; i < kBits / 64; ++i) {
    words_[i].store(0, std::memory_order_relaxed);
  }
  rows_ = 0;
  knows_.store(true, std::memory_order_release);
}

// Before the row is written: a reader must not be told that a row is absent that it could find.
void AbsenceFilter::Add(const Key& key) {
  if (!knows_.load(std::memory_order_relaxed)) {
    return;
  }
  if (++rows_ > kMostRows) {
    knows_.store(false, std::memory_order_release);
    return;
  }
  for (int i = 0; i < kBitsOfKey; ++i) {
    const uint64_t bit = HashOf(key, i) % kBits;
    words_[bit / 64].fetch_or(uint64_t{1} << (bit % 64), std::memory_order_release);
  }
}

bool AbsenceFilter::MayHave(const Key& key) const {
  if (!knows_.load(std::memory_order_acquire)) {
    return true;
  }
  for (int i = 0; i < kBitsOfKey; ++i) {
    const uint64_t bit = HashOf(key, i) % kBits;
    if ((words_[bit / 64].load(std::memory_order_acquire) >> (bit % 64) & 1) == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace kiln::cache::sqlite
