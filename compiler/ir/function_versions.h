// SPDX-License-Identifier: MIT
// Versions of functions: what one declaration becomes more than once. A version has a DeclId of its
// own, behind those of the program, so that whoever calls, mentions or emits functions tells them
// apart without knowing why they differ.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/ir/ids.h"

namespace kiln::ir {

class FunctionVersions {
 public:
  // For programs of so many declarations; before the first version.
  void Begin(uint32_t decl_count);
  bool IsVersion(DeclId id) const { return id.valid() && id.value >= first_; }

  // The version of a declared function that these words make; equal words are one version.
  DeclId Of(DeclId function, std::span<const uint32_t> words);
  // The declaration of a version; any other id is its own.
  DeclId FunctionOf(DeclId id) const { return IsVersion(id) ? Row(id).function : id; }
  std::span<const uint32_t> WordsOf(DeclId version) const;

 private:
  struct Version {
    DeclId function{};
    uint32_t first = 0;
    uint32_t count = 0;
  };
  const Version& Row(DeclId id) const { return versions_[id.value - first_]; }

  uint32_t first_ = kNoRow;  // nobody has versions yet
  std::vector<Version> versions_;
  std::vector<uint32_t> words_;
  InternIndex index_;
};

}  // namespace kiln::ir
