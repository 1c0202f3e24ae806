// SPDX-License-Identifier: MIT
// Random generic modules that verify, by the grammar of kinds.def: seed -> module. They mean
// nothing; they have every kind of row in every legal place.
#pragma once

#include <cstdint>

#include "compiler/ir/builder.h"

namespace kiln::ir {

struct RandomModuleSize {
  uint32_t functions = 3;
  uint32_t statements = 12;  // of one block
  uint32_t depth = 4;        // of blocks
  bool typed = false;        // a typed module
};

// The same module for the same seed, on every machine.
Module MakeRandomModule(uint32_t seed, const RandomModuleSize& size = {});

}  // namespace kiln::ir
