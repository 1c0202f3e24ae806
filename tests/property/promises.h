// SPDX-License-Identifier: MIT
// What the compiler promises of any source: it ends with a module or with an error that can be
// shown, never with a failure of kiln itself, and its words are accepted by the validator.
#pragma once

#include <string>
#include <vector>

#include "compiler/front/hlsl/settings.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/source/source_file.h"

namespace kiln::property {

// A program of one source, and what is built of it.
struct Program {
  std::string path;  // its extension says the language
  std::string text;
  hlsl::Settings hlsl = {};
  ir::PipelineType pipeline = ir::PipelineType::kGraphicsClassic;
  std::vector<resolve::EntryPoint> entries;
};

struct Verdict {
  bool compiled = false;
  std::string broken;  // the promise that does not hold; empty: all do
};

// All stages, to SPIR-V and to WGSL.
Verdict Try(const Program& program);

// Finds pipeline and entry points that a right source can be built with: one for each stage, none
// where it is wrong.
Program WithEntries(Program program);

// While `text` is tried a crash prints it before the process ends.
class ShownOnCrash {
 public:
  explicit ShownOnCrash(const std::string& text);
  ~ShownOnCrash();
  ShownOnCrash(const ShownOnCrash&) = delete;
  ShownOnCrash& operator=(const ShownOnCrash&) = delete;
};

}  // namespace kiln::property
