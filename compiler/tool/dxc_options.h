// SPDX-License-Identifier: MIT
// A command line in DXC's spelling -> what kiln is asked for. Options may begin with '/' as well.
#pragma once

#include <span>
#include <string>

#include "compiler/base/result.h"
#include "compiler/driver/frontends.h"
#include "compiler/ir/module.h"
#include "compiler/resolve/program.h"
#include "compiler/target/target.h"

namespace kiln::tool {

struct DxcRequest {
  std::string file;
  std::string output;  // of -Fo; empty: the module is printed
  ir::Stage stage = ir::Stage::kFragment;
  std::string entry = "main";
  driver::SourceInputs inputs;  // without files
  target::Environment environment = target::Environment::kVulkan10;
  target::Debug debug = target::Debug::kNames;
};

// Errors: kInvalidArgument, naming the option: one that is not known, one that would change the
// output and is not obeyed, a value that is none.
Result<DxcRequest> ReadDxcOptions(std::span<const std::string> words);

}  // namespace kiln::tool
