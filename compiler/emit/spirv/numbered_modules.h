// SPDX-License-Identifier: MIT
// Modules that were assembled before, by what decides their words: each has a number, and one that
// is met again and again (the vertex stage of an uber shader) is kept as words until there is no
// more room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/emit/spirv/code_object.h"

namespace kiln::spirv {

// Equal numbers are equal words.
struct ModuleNumber {
  uint32_t module = 0;  // dense, in order of meeting
  bool is_new = false;
};

class NumberedModules {
 public:
  ModuleNumber NumberOf(std::span<const uint32_t> key);
  // Empty if they are not kept; until the next Keep.
  std::span<const uint32_t> WordsOf(uint32_t module) const {
    const Range<uint32_t> words = modules_[module].words;
    return std::span(kept_).subspan(words.first, words.count);
  }
  // Says that a module was written, as these words.
  void Keep(uint32_t module, std::span<const uint32_t> words);

  size_t bytes_used() const;

 private:
  struct Row {
    Range<uint32_t> key{};  // of keys_
    uint32_t uses = 0;
    Range<uint32_t> words{};  // of kept_
  };

  std::vector<uint32_t> keys_;
  std::vector<Row> modules_;  // by number
  InternIndex index_;
  std::vector<uint32_t> kept_;
};

}  // namespace kiln::spirv
