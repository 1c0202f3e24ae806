// SPDX-License-Identifier: MIT
// Which rows are not there, without asking the file: a cold build asks for every result that it is
// about to make, and nearly all of these questions are in vain. A Bloom filter over the keys of
// rows that were put since the file was empty: "not there" is certain, "may be there" is to be
// looked up. Of a file that had rows when it was opened nothing is known, and so after kMostRows.
//
// Four bits of a key among 16 for each: of keys that are not there one in 400 is looked up. Keys
// are digests, so their bytes are the hash.
//
// Threads: MayHave from any thread; Start and Add from the one that writes. A row is added before
// its transaction commits, so nobody who knows of it is told that it is not there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cache/store.h"

namespace kiln::cache::sqlite {

class AbsenceFilter {
 public:
  static constexpr uint64_t kMostRows = uint64_t{1} << 19;

  enum class File : uint8_t { kHasRows, kIsEmpty };
  // A file was opened.
  void Start(File file);
  void Add(const Key& key);
  // False: there is no such row. Requires: it is no content, and no alias.
  bool MayHave(const Key& key) const;

 private:
  static constexpr uint64_t kBits = kMostRows * 16;
  static constexpr int kBitsOfKey = 4;
  using Word = std::atomic<uint64_t>;

  std::unique_ptr<Word[]> words_;  // made with the first empty file, and then kept
  std::atomic<bool> knows_{false};
  uint64_t rows_ = 0;
};

}  // namespace kiln::cache::sqlite
