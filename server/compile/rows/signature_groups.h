// SPDX-License-Identifier: MIT
// Which results of a batch are known by their signature. A signature is a digest of its entry id
// and of answers, so two programs can have a result in common only if they have an entry in common:
// those are a group, and each group has a table of its own. Nearly every program is alone in its
// group, so its table goes when it is done, and what an earlier run found of it need not be looked
// at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/base/flat_map.h"

namespace kiln::compile {

// Threads: one at a time.
class SignatureGroup {
 public:
  struct Place {
    uint32_t program = 0;
    uint32_t row = 0;  // of its results
  };
  struct Member {
    Place place;
    bool is_new = false;
  };

  // Where the signature is, or that it is at `next` now.
  Member FindOrAdd(const Hash128& signature, const Place& next);
  // How many programs may look here.
  size_t programs() const { return programs_; }
  void AddProgram() { ++programs_; }

 private:
  FlatMap<Hash128, Place> places_;
  size_t programs_ = 0;
};
using SignatureGroupPtr = std::shared_ptr<SignatureGroup>;

// The groups of each program, by its entries: `entries` has those of every program, by target.
std::vector<std::vector<SignatureGroupPtr>> SignatureGroupsOf(
    std::span<const std::vector<Hash128>> entries);

}  // namespace kiln::compile
