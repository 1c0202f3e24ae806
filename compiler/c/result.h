// SPDX-License-Identifier: MIT
// What came of a compile, as C has it.
#pragma once

#include <vector>

#include <kiln/compiler.h>

#include "compiler/embed/compile.h"

struct kiln_compiler_result {
  kiln::embed::CompileResult compiled;
  std::vector<kiln::embed::Option> options;  // it was compiled with
  bool spirv = true;                         // else WGSL
};
