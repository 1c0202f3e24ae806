// SPDX-License-Identifier: MIT
// Discovers the distinct results of a space that has too many points to list: a point is built, and
// the options that it read say which others are served by it. What differs in one of them is left
// to look at, piece by piece, until nothing is left or too many results were found.
// See spec/daemon 6.5.3, 6.6
//
// Threads: safe from any thread; one mutex guards the counter and the pieces.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/base/mutex.h"
#include "server/compile/build_trace.h"
#include "server/project/space.h"

namespace kiln::compile {

class Exploration {
 public:
  // What is left to look at: points that agree with `held`, and the first of them.
  struct Node {
    project::Counter::Held held;
    std::vector<uint32_t> values;
  };

  // Requires: the counter is the space's and All was exact; the program that the space is of
  // outlives the exploration. results: distinct ones that may be found; bound: how many there may
  // be at most.
  Exploration(project::Space space, project::Counter counter, uint64_t results, uint64_t bound);

  // A point to build; nothing if none is left, or if none is known before others are built.
  std::optional<Node> Take();
  std::vector<resolve::OptionSetting> SettingsOf(const Node& node) const {
    return space_.SettingsOf(node.values);
  }

  // What building a node for all targets read and made.
  class Reading {
   public:
    void Add(const BuildTrace& trace);

   private:
    friend class Exploration;
    std::vector<std::string> live_;
    Hasher results_;
  };
  // A node was built: how many variants it serves. What it does not serve is left to look at. Asks
  // CheckStop (compiler/base/threads/stop); after Stopped the exploration is over.
  uint64_t Expand(const Node& node, Reading read);
  // A node was taken and cannot be built.
  void Abandon();

  // More results than are allowed were found, or what is left to look at takes too much memory:
  // nothing is taken any more.
  bool Over();
  // Nothing is left and nothing is being built.
  bool Done();

  uint64_t results() const { return results_; }
  uint64_t bound() const { return bound_; }
  // kResourceExhausted, LIMIT_VARIANTS: what to say when it is over.
  Error TooMany();

 private:
  bool OverLocked() const KILN_REQUIRES(mutex_) { return given_up_ || found_.size() > results_; }

  const project::Space space_;
  const std::vector<std::string> axes_;  // names, sorted
  const std::vector<std::vector<uint32_t>> axis_values_;
  const uint64_t results_;
  const uint64_t bound_;
  Mutex mutex_;
  project::Counter counter_ KILN_GUARDED_BY(mutex_);
  std::deque<Node> left_ KILN_GUARDED_BY(mutex_);
  uint64_t bytes_ KILN_GUARDED_BY(mutex_) = 0;  // of all nodes that there were, and their points
  bool given_up_ KILN_GUARDED_BY(mutex_) = false;
  uint64_t taken_ KILN_GUARDED_BY(mutex_) = 0;  // that were not given back
  std::unordered_set<Hash128, Hash128Hash> found_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::compile
