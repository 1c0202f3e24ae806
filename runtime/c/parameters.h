// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/artifact/metadata.h"
#include "runtime/c/context.h"
#include "runtime/pipeline/parameter_block.h"

// Where values of a block lie. `block` views the others.
struct kiln_parameters : kiln::c::Object {
  kiln::artifact::Buffer buffer;  // push constants: with their members as main ones
  kiln::runtime::ParameterBlock block{{}};
  std::vector<kiln::runtime::ParameterHandle> handles;  // by slot
  uint32_t size = 0;
};
