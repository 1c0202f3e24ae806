// SPDX-License-Identifier: MIT
// Results by the values of the options that they rest on: a variant that agrees with an earlier one
// on all options which that one read has the same result. A tree: a node is an option, an edge one
// of its values, a leaf a result; options stand in the order in which building looked at them.
// Spec: architecture.md 10.3, cache.md 3.3
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/resolve/options.h"

namespace kiln::driver {

class KnownResults {
 public:
  // The number of a result that is that of these values.
  std::optional<uint32_t> Find(const resolve::OptionValues& values) const;

  // The number of the result that read `reads`, looked at in the order of `options`, and saw
  // `values`. Numbers are dense.
  uint32_t Add(const Bitset& reads, std::span<const uint32_t> options,
               const resolve::OptionValues& values);

  size_t size() const { return count_; }
  size_t bytes_used() const { return nodes_.size() * sizeof(Node); }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr uint32_t kLeaf = 0xfffffffeu;
  struct Node {
    uint32_t option = kNone;  // kNone: nobody was here; kLeaf: a result
    uint32_t value = 0;       // on the way here
    uint32_t next = kNone;    // the other values of the parent's option
    uint32_t child = kNone;   // the first; of a leaf: the number of the result
  };

  uint32_t Child(uint32_t node, uint32_t value) const;
  uint32_t AddChild(uint32_t node, uint32_t value);

  std::vector<Node> nodes_;
  std::vector<uint32_t> path_;  // of Add
  uint32_t count_ = 0;
};

}  // namespace kiln::driver
