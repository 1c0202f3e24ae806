// SPDX-License-Identifier: MIT
// The one memory of modules that were written for a program and a target. A module has a number,
// and is found in two ways: by a key, the numbers of its functions and interface in the program
// that is served, which is fastest where one program has many variants; and by an id of its
// content, which survives an edit of the sources. One that is met again and again (the vertex stage
// of an uber shader) is kept as words until there is no more room. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/base/flat_map.h"
#include "compiler/driver/output_limits.h"
#include "compiler/target/capabilities.h"

namespace kiln::driver {

// A module that was written.
struct WrittenModule {
  Digest content;  // empty as long as nobody asked for it
  target::Needs needs = 0;
  ModuleSize size;
};

class ModuleCache {
 public:
  // The number of the module with this key, which has not been written if it is new. Equal numbers
  // are equal words.
  uint32_t NumberOf(std::span<const uint32_t> key);
  bool IsWritten(uint32_t number) const {
    return number < rows_.size() && rows_[number].is_written;
  }
  // Says what was written. Numbers that others give (text of WGSL) need no key.
  void SetWritten(uint32_t number, const WrittenModule& module);
  bool HasDigest(uint32_t number) const {
    return IsWritten(number) && rows_[number].module.content != Digest{};
  }
  // Requires: it was written.
  void SetDigest(uint32_t number, const Digest& content) { rows_[number].module.content = content; }
  size_t count() const { return rows_.size(); }
  // Requires: it was written.
  const WrittenModule& operator[](uint32_t number) const { return rows_[number].module; }

  // By content; null if no such module was written, or nobody asked for its digest.
  const WrittenModule* Find(const Hash128& id) const;
  // Says what content a module has that was written.
  void SetContent(const Hash128& id, uint32_t number) { by_content_.Insert(id, number); }

  // Empty if they are not kept; valid until another program is served.
  std::span<const uint32_t> WordsOf(uint32_t number) const;
  // Says that a module was written, as these words.
  void Keep(uint32_t number, std::span<const uint32_t> words);

  // Goes on with another link: keys and words are forgotten, what is found by content stays.
  void Serve();
  size_t bytes_used() const;

 private:
  struct Words {
    uint32_t first = 0, count = 0;  // of kept_
  };
  struct Row {
    WrittenModule module;
    bool is_written = false;
    uint32_t uses = 0;
    Words words{};
  };
  struct Key {
    uint32_t first = 0, count = 0;  // of key_words_
    uint32_t number = 0;
  };

  std::vector<Row> rows_;  // by number
  FlatMap<Hash128, uint32_t> by_content_;

  // Of the program that is served.
  std::vector<uint32_t> key_words_;
  std::vector<Key> keys_;
  InternIndex index_;  // of keys_
  std::vector<uint32_t> kept_;
};

}  // namespace kiln::driver
