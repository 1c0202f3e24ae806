// SPDX-License-Identifier: MIT
// Results by the values of the options that they rest on: a variant that agrees with an earlier one
// on all options which that one read has the same result. spec/architecture 10.3, spec/cache 3.3
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/base/flat_map.h"
#include "compiler/resolve/queries/decision_tree.h"
#include "compiler/resolve/values/options.h"

namespace kiln::driver {

class ResultIndex {
 public:
  // The number of a result that is that of these values.
  std::optional<uint32_t> Find(const resolve::OptionValues& values) const {
    const uint32_t known = tree_.Find(root_, values.bits);
    return known == resolve::DecisionTree::kNone ? std::nullopt : std::optional(known);
  }

  // The number of the result that read `reads` and saw `values`. Numbers are dense; equal numbers
  // are equal options with equal values. `order`: of the options, those that guard others first.
  uint32_t Add(const Bitset& reads, std::span<const uint32_t> order,
               const resolve::OptionValues& values);

  size_t size() const { return firsts_.size(); }
  size_t bytes_used() const {
    return tree_.bytes_used() + (keys_.size() + firsts_.size()) * sizeof(uint32_t);
  }

 private:
  std::span<const uint32_t> KeyOf(uint32_t result) const;

  resolve::DecisionTree tree_;
  resolve::DecisionTree::Root root_;
  std::vector<uint32_t> keys_;    // of all results: options in ascending order, each with its value
  std::vector<uint32_t> firsts_;  // by result, into keys_
  std::vector<uint32_t> key_;     // of Add
  InternIndex index_;             // by key
};

}  // namespace kiln::driver
