// SPDX-License-Identifier: MIT
// The output of one stage as text: what --stage prints and goldens compare.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/request.h"
#include "compiler/source/source_file.h"

namespace kiln::tool {

struct DumpResult {
  bool ok = false;  // false: the sources are wrong; text may be empty
  std::string text;
  std::vector<Diagnostic> diagnostics;
  // That the sources were made of, where it is more than one; empty for stages of a variant.
  std::vector<std::optional<ir::ModuleFiles>> files = {};
};

// preprocess, lex, parse and lower need one source at a time and no variant.
bool IsSourceStage(std::string_view stage);

// Requires: IsSourceStage(stage), and every source has a front end. Only HLSL has `preprocess`: of
// other sources it is their text.
DumpResult DumpSourceStage(std::string_view stage, std::span<const SourceFile> sources,
                           const driver::SourceInputs& inputs);

struct VariantInputs {
  const driver::LinkedProgram& linked;
  const resolve::OptionValues& values;
  std::span<const resolve::EntryPoint> entries;
  const target::Target& target;
};

// queries, specialise, layout, objects, assemble, metadata.
DumpResult DumpVariantStage(std::string_view stage, const VariantInputs& inputs);

}  // namespace kiln::tool
