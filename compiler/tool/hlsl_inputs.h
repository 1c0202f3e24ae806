// SPDX-License-Identifier: MIT
// What HLSL needs besides the sources: settings, macros, and the files that may be included.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/driver/frontends.h"
#include "compiler/source/source_file.h"

namespace kiln::tool {

// As written on the command line.
struct HlslArguments {
  std::vector<std::string> include_roots;  // -I DIR
  std::vector<std::string> defines;        // --define NAME[=VALUE]
  std::vector<std::string> settings;       // --hlsl NAME=VALUE
};

// Settings without files. Errors: kInvalidArgument, naming what is accepted.
Result<driver::SourceInputs> ReadSettings(const HlslArguments& arguments);

// Reads the files that the includes of `sources` ask for, and no others, into `inputs`. What is not
// there is left to the front end, which says where it was looked for. Errors: of a file that is
// there and cannot be read, or is too large to be a source; kResourceExhausted for more than a
// module may include.
Result<void> ReadIncludes(std::span<const SourceFile> sources, driver::SourceInputs& inputs);

}  // namespace kiln::tool
