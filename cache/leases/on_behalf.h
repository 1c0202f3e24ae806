// SPDX-License-Identifier: MIT
// For whom a thread works right now. What it puts counts for that principal in the store below,
// which sees items and no callers.
//
// Threads: a scope belongs to the thread that made it.
#pragma once

#include <string>
#include <string_view>

#include "cache/leases/actor.h"

namespace kiln::cache {

// As long as it lives, its thread works for the principal. Scopes nest: the innermost decides.
class OnBehalfOf {
 public:
  // Named as in cache/leases/actor.h; no name is the owner's.
  explicit OnBehalfOf(std::string_view principal)
      : principal_(OwnerName(principal)), outer_(innermost_) {
    innermost_ = this;
  }
  ~OnBehalfOf() { innermost_ = outer_; }
  OnBehalfOf(const OnBehalfOf&) = delete;
  OnBehalfOf& operator=(const OnBehalfOf&) = delete;

  // Outside of a scope it is the owner, who works for nobody else.
  static std::string Principal() {
    return innermost_ == nullptr ? std::string(OwnerName({})) : innermost_->principal_;
  }

 private:
  const std::string principal_;
  OnBehalfOf* const outer_;
  inline static constinit thread_local OnBehalfOf* innermost_ = nullptr;
};

}  // namespace kiln::cache
