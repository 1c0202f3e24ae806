// SPDX-License-Identifier: MIT
#include "compiler/driver/assembler/result_index.h"

#include <algorithm>

namespace kiln::driver {

std::span<const uint32_t> ResultIndex::KeyOf(uint32_t result) const {
  const size_t end = result + size_t{1} < firsts_.size() ? firsts_[result + 1] : keys_.size();
  return std::span(keys_).subspan(firsts_[result], end - firsts_[result]);
}

// A leaf of the tree may stand behind options that its result did not read, so a result may have
// several: what names it is the list of those that it read.
//
// A variant is found by walking the tree along its values, the options that guard others first; it
// ends at a leaf after about as many steps as the result depends on options, however many the
// program has.
uint32_t ResultIndex::Add(const Bitset& reads, std::span<const uint32_t> order,
                          const resolve::OptionValues& values) {
  if (const std::optional<uint32_t> known = Find(values)) {
    return *known;
  }
  // The options that were read, with their values, ascending by option: equal lists are equal
  // results.
  key_.clear();
  reads.ForEach([&](size_t option) {
    key_.push_back(static_cast<uint32_t>(option));
    key_.push_back(values.bits[option]);
  });
  const uint32_t result = index_.FindOrAdd(
      Hash64(std::as_bytes(std::span(key_))),
      [&](uint32_t i) { return std::ranges::equal(KeyOf(i), key_); },
      [&] {
        firsts_.push_back(static_cast<uint32_t>(keys_.size()));
        keys_.insert(keys_.end(), key_.begin(), key_.end());
        return static_cast<uint32_t>(firsts_.size() - 1);
      });
  // The tree gets a leaf even if the result was known by its list: other values of options that
  // were not read have led to it, and next time they shall lead there at once.
  tree_.Add(root_, reads, order, values.bits, result);
  return result;
}

}  // namespace kiln::driver
