// SPDX-License-Identifier: MIT
// glslang's reader of HLSL: an independent compiler for what both know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::hlsl {

struct ReadByGlslang {
  std::vector<uint32_t> words;  // empty if it refuses the text
  std::string log;
};

// The compute entry point `main`. One process-wide set of tables is made by the first call.
ReadByGlslang CompileWithGlslang(const std::string& text);

}  // namespace kiln::hlsl
