// SPDX-License-Identifier: MIT
// Numbers by the values of the options that they rest on: whatever agrees with an earlier case on
// every option that the earlier case read is that case again, so nothing need be asked. A node is
// an option, an edge one of its values, a leaf a number. A leaf stands behind every option that its
// case read, so what is found is right in any order of the options; a good order has what guards
// others first, so that one leaf serves many. Many trees share one memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "compiler/base/bitset.h"

namespace kiln::resolve {

class DecisionTree {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;
  struct Root {
    uint32_t node = kNone;
  };

  // The number for these values, by OptionId, or kNone.
  uint32_t Find(Root root, std::span<const uint32_t> values) const {
    if (root.node == kNone) {
      return kNone;
    }
    const Node* const nodes = nodes_.data();
    const Node* node = nodes + root.node;
    while (node->option < kLeaf) {
      const uint32_t value = values[node->option];
      uint32_t child = node->child;
      while (child != kNone && nodes[child].value != value) {
        child = nodes[child].next;
      }
      if (child == kNone) {
        return kNone;
      }
      node = nodes + child;
    }
    return node->child;
  }

  // Requires: Find finds nothing. `reads` are the options that `number` rests on; `order` may miss
  // some of them.
  void Add(Root& root, const Bitset& reads, std::span<const uint32_t> order,
           std::span<const uint32_t> values, uint32_t number);

  size_t bytes_used() const { return nodes_.size() * sizeof(Node); }

 private:
  static constexpr uint32_t kLeaf = 0xfffffffeu;
  struct Node {
    uint32_t option = kNone;  // kNone: nobody was here; kLeaf: a number; both have no children
    uint32_t value = 0;       // on the way here
    uint32_t next = kNone;    // the other values of the parent's option
    uint32_t child = kNone;   // the first; of a leaf: the number
  };

  uint32_t Follow(uint32_t node, uint32_t value);

  std::vector<Node> nodes_;
};

// Results by the values of the options that they rest on, for many subjects, one root each.
template <class T>
class OptionCache {
 public:
  struct Leaf {
    T result{};
    Bitset reads{};
    bool kept = false;
  };

  // Null: nobody has learned what these values lead to. Valid as long as the memo.
  const Leaf* Find(DecisionTree::Root root, std::span<const uint32_t> values) const {
    const uint32_t number = tree_.Find(root, values);
    return number == DecisionTree::kNone ? nullptr : &leaves_[number];
  }

  // Requires: Find finds nothing.
  const Leaf& Keep(DecisionTree::Root& root, std::span<const uint32_t> order,
                   std::span<const uint32_t> values, Leaf leaf) {
    tree_.Add(root, leaf.reads, order, values, static_cast<uint32_t>(leaves_.size()));
    leaf.kept = true;
    return leaves_.emplace_back(std::move(leaf));
  }
  // The same without keeping it. Valid until the next one.
  const Leaf& Lend(Leaf leaf) {
    lent_ = std::move(leaf);
    return lent_;
  }

  size_t bytes_used() const { return tree_.bytes_used() + leaves_.size() * sizeof(Leaf); }

 private:
  DecisionTree tree_;
  std::deque<Leaf> leaves_;  // stable addresses
  Leaf lent_;
};

}  // namespace kiln::resolve
