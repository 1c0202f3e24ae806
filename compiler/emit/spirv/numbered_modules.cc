// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/numbered_modules.h"

#include <algorithm>

namespace kiln::spirv {
namespace {

// A module is kept when it is written for the third time: most modules of a batch are met once, and
// keeping those would fill the memory with what nobody asks for again.
constexpr uint32_t kUsesBeforeKept = 2;
// 256 KiB. The modules worth keeping are the few that most variants share, such as the vertex stage
// of an uber shader.
constexpr uint32_t kKeptWords = 1u << 16;

}  // namespace

// The key is kept in full and compared in full, so two modules never share a number by accident.
ModuleNumber NumberedModules::NumberOf(std::span<const uint32_t> key) {
  const auto known = static_cast<uint32_t>(modules_.size());
  const uint32_t module = index_.FindOrAdd(
      Hash64(std::as_bytes(key)),
      [&](uint32_t i) {
        const Range<uint32_t> range = modules_[i].key;
        return std::ranges::equal(std::span(keys_).subspan(range.first, range.count), key);
      },
      [&] {
        modules_.push_back(
            {.key = {static_cast<uint32_t>(keys_.size()), static_cast<uint32_t>(key.size())}});
        keys_.insert(keys_.end(), key.begin(), key.end());
        return known;
      });
  return {.module = module, .is_new = module == known};
}

void NumberedModules::Keep(uint32_t module, std::span<const uint32_t> words) {
  Row& row = modules_[module];
  // Memory that is full stays as it is; modules that came later are written each time.
  if (++row.uses > kUsesBeforeKept && kept_.size() + words.size() <= kKeptWords) {
    row.words = {static_cast<uint32_t>(kept_.size()), static_cast<uint32_t>(words.size())};
    kept_.insert(kept_.end(), words.begin(), words.end());
  }
}

size_t NumberedModules::bytes_used() const {
  return keys_.size() * sizeof(uint32_t) + modules_.size() * (sizeof(Row) + 2 * sizeof(uint64_t)) +
         kept_.size() * sizeof(uint32_t);
}

}  // namespace kiln::spirv
