// SPDX-License-Identifier: MIT
// Parts of the walk that need not be walked again: what a part came to is remembered by the values
// of the options that it read, in front of the answer trees, which ask every query anew. A part
// that had an effect (a message, a name that may clash with another) happens in every variant.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/queries/decision_tree.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

// A part that depends on more options rarely comes again, and the answer trees know it anyway.
inline constexpr size_t kPartOptions = 8;

// What `compute()` came to for these option values, or comes to now, and what it read. Valid until
// the next call with the same memo.
template <class T, class Compute>
const typename OptionCache<T>::Leaf& FindOrCompute(OptionCache<T>& memo, DecisionTree::Root& root,
                                                   bool remembers, VariantEvaluator& answers,
                                                   const std::vector<Diagnostic>& diagnostics,
                                                   Compute compute) {
  if (const auto* known = answers.Recall(memo, root)) {
    return *known;
  }
  const size_t before = diagnostics.size();
  answers.BeginReads();
  typename OptionCache<T>::Leaf leaf{.result = compute()};
  const bool plain = remembers && diagnostics.size() == before && !answers.HadEffect();
  leaf.reads = answers.EndReads();
  return plain && leaf.reads.Count() <= kPartOptions ? answers.Keep(memo, root, std::move(leaf))
                                                     : memo.Lend(std::move(leaf));
}

}  // namespace kiln::resolve
