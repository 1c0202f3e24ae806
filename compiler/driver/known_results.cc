// SPDX-License-Identifier: MIT
#include "compiler/driver/known_results.h"

namespace kiln::driver {

uint32_t KnownResults::Child(uint32_t node, uint32_t value) const {
  uint32_t child = nodes_[node].child;
  while (child != kNone && nodes_[child].value != value) {
    child = nodes_[child].next;
  }
  return child;
}

uint32_t KnownResults::AddChild(uint32_t node, uint32_t value) {
  const auto added = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({.value = value, .next = nodes_[node].child});
  nodes_[node].child = added;
  return added;
}

// A leaf stands behind every option that its result read, so what is found is right whatever the
// order was.
std::optional<uint32_t> KnownResults::Find(const resolve::OptionValues& values) const {
  if (nodes_.empty()) {
    return std::nullopt;
  }
  uint32_t node = 0;
  while (nodes_[node].option != kLeaf) {
    node = nodes_[node].option == kNone ? kNone : Child(node, values.bits[nodes_[node].option]);
    if (node == kNone) {
      return std::nullopt;
    }
  }
  return nodes_[node].child;
}

uint32_t KnownResults::Add(const Bitset& reads, std::span<const uint32_t> options,
                           const resolve::OptionValues& values) {
  if (const std::optional<uint32_t> known = Find(values)) {
    return *known;
  }
  path_.clear();
  for (const uint32_t option : options) {
    if (reads.Test(option)) {
      path_.push_back(option);
    }
  }
  if (nodes_.empty()) {
    nodes_.emplace_back();
  }
  uint32_t node = 0;
  for (const uint32_t option : path_) {
    if (nodes_[node].option == kNone) {
      nodes_[node].option = option;
    } else if (nodes_[node].option != option) {
      return count_++;  // looked at in another order: it will not be found, and nothing is lost
    }
    const uint32_t child = Child(node, values.bits[option]);
    node = child != kNone ? child : AddChild(node, values.bits[option]);
  }
  if (nodes_[node].option != kNone || path_.size() != reads.Count()) {
    return count_++;
  }
  nodes_[node].option = kLeaf;
  nodes_[node].child = count_;
  return count_++;
}

}  // namespace kiln::driver
