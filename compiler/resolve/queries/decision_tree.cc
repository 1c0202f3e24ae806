// SPDX-License-Identifier: MIT
#include "compiler/resolve/queries/decision_tree.h"

#include "compiler/base/check.h"

namespace kiln::resolve {

// Children are a list, newest first: an option has few values, and the variant before had mostly
// the same.
uint32_t DecisionTree::Follow(uint32_t node, uint32_t value) {
  uint32_t child = nodes_[node].child;
  while (child != kNone && nodes_[child].value != value) {
    child = nodes_[child].next;
  }
  if (child == kNone) {
    child = static_cast<uint32_t>(nodes_.size());
    // New nodes go to the front of the list: the variants that follow probably have the same value.
    nodes_.push_back({.value = value, .next = nodes_[node].child});
    nodes_[node].child = child;
  }
  return child;
}

// Follows what is there, also past options that this case never read, and asks for what is left.
void DecisionTree::Add(Root& root, const Bitset& reads, std::span<const uint32_t> order,
                       std::span<const uint32_t> values, uint32_t number) {
  // A tree gets its root with its first case, so what nobody asks for costs nothing.
  if (root.node == kNone) {
    root.node = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  Bitset left = reads;
  uint32_t node = root.node;
  while (nodes_[node].option != kNone) {
    const uint32_t option = nodes_[node].option;
    // A leaf here would mean that the case was found already, so nobody had to compute it.
    KILN_CHECK(option != kLeaf, "what is added is known");
    left.Reset(option);
    node = Follow(node, values[option]);
  }
  const auto ask = [&](uint32_t option) {
    nodes_[node].option = option;
    node = Follow(node, values[option]);
  };
  // In the order in which the evaluation looked at options, so that trees of similar units ask the
  // same first.
  for (const uint32_t option : order) {
    if (left.Test(option)) {
      left.Reset(option);
      ask(option);
    }
  }
  // What was read without being in the order comes last, by number, so the tree is the same in
  // every run.
  left.ForEach([&](size_t option) { ask(static_cast<uint32_t>(option)); });
  // The number takes the place of the first child, which a leaf has none of.
  nodes_[node].option = kLeaf;
  nodes_[node].child = number;
}

}  // namespace kiln::resolve
