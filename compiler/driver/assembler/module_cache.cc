// SPDX-License-Identifier: MIT
#include "compiler/driver/assembler/module_cache.h"

#include <algorithm>

namespace kiln::driver {
namespace {

// A module is kept when it is written for the third time: most modules of a batch are met once, and
// keeping those would fill the memory with what nobody asks for again.
constexpr uint32_t kUsesBeforeKept = 2;
// 256 KiB. The modules worth keeping are the few that most variants share, such as the vertex stage
// of an uber shader.
constexpr uint32_t kKeptWords = 1u << 16;

}  // namespace

// The key is kept in full and compared in full, so two modules never share a number by accident.
uint32_t ModuleCache::NumberOf(std::span<const uint32_t> key) {
  const uint32_t row = index_.FindOrAdd(
      Hash64(std::as_bytes(key)),
      [&](uint32_t i) {
        return std::ranges::equal(std::span(key_words_).subspan(keys_[i].first, keys_[i].count),
                                  key);
      },
      [&] {
        keys_.push_back({.first = static_cast<uint32_t>(key_words_.size()),
                         .count = static_cast<uint32_t>(key.size()),
                         .number = static_cast<uint32_t>(rows_.size())});
        rows_.emplace_back();
        key_words_.insert(key_words_.end(), key.begin(), key.end());
        return static_cast<uint32_t>(keys_.size() - 1);
      });
  return keys_[row].number;
}

void ModuleCache::SetWritten(uint32_t number, const WrittenModule& module) {
  rows_.resize(std::max(rows_.size(), number + size_t{1}));
  rows_[number].module = module;
  rows_[number].is_written = true;
}

const WrittenModule* ModuleCache::Find(const Hash128& id) const {
  const uint32_t* number = by_content_.Find(id);
  return number == nullptr ? nullptr : &rows_[*number].module;
}

std::span<const uint32_t> ModuleCache::WordsOf(uint32_t number) const {
  const Words& words = rows_[number].words;
  return std::span(kept_).subspan(words.first, words.count);
}

void ModuleCache::Keep(uint32_t number, std::span<const uint32_t> words) {
  Row& row = rows_[number];
  // Memory that is full stays as it is; modules that came later are written each time.
  if (++row.uses > kUsesBeforeKept && kept_.size() + words.size() <= kKeptWords) {
    // All of it at once, so that words which were handed out never move.
    kept_.reserve(kKeptWords);
    row.words = {static_cast<uint32_t>(kept_.size()), static_cast<uint32_t>(words.size())};
    kept_.insert(kept_.end(), words.begin(), words.end());
  }
}

// Functions of another link have other numbers, so no key means what it did. The rows stay, as
// content finds them; their words go, as only a key asks for those.
void ModuleCache::Serve() {
  key_words_.clear();
  keys_.clear();
  index_ = {};
  kept_.clear();
  for (Row& row : rows_) {
    row.words = {};
  }
}

size_t ModuleCache::bytes_used() const {
  return rows_.size() * sizeof(Row) + by_content_.size() * (sizeof(Hash128) + sizeof(uint32_t)) +
         key_words_.size() * sizeof(uint32_t) +
         keys_.size() * (sizeof(Key) + 2 * sizeof(uint64_t)) + kept_.capacity() * sizeof(uint32_t);
}

}  // namespace kiln::driver
