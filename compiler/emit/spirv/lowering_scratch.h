// SPDX-License-Identifier: MIT
// The memory that lowering one region after the other uses again; private to this folder. It shows
// in nothing that comes out.
#pragma once

#include <vector>

#include "compiler/emit/spirv/code_object.h"
#include "compiler/emit/spirv/place_cache.h"

namespace kiln::spirv {

struct LoweringScratch {
  // The reserved name of a local; without meaning unless it is of the region of `epoch`.
  struct OwnName {
    uint32_t epoch = 0;
    Ref id{};
  };

  PlaceCache cache;
  std::vector<Ref> values;  // by InstId
  std::vector<Ref> steps;
  std::vector<Ref> parts;          // of a composite
  std::vector<Ref> arguments;      // of a call
  std::vector<SymbolId> symbols;   // of a composite of constants
  std::vector<OwnName> own_names;  // by LocalId
  uint32_t epoch = 0;
  std::vector<Ref> marked;    // own ids that are decorated NonUniform
  std::vector<bool> relaxed;  // by InstId; empty if nothing of the region is relaxed
  std::vector<Ref> marked_relaxed;

  void Clear() {
    cache.Clear();
    steps.clear();
    if (++epoch == 0) {
      own_names.clear();
      epoch = 1;
    }
    marked.clear();
    relaxed.clear();
    marked_relaxed.clear();
  }
};

}  // namespace kiln::spirv
