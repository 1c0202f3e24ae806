// SPDX-License-Identifier: MIT
// What editors ask: declarations of a module and its includes, what its names mean, and names of
// the language.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/front/common/source_index.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/source/source_file.h"

namespace kiln::hlsl {

// Bytes are offsets in the row of all files, as ParsedModule::files has them. Nothing if a file is
// missing or there is a syntax error.
std::optional<front::SourceIndex> MakeIndex(const SourceFile& root, const SourceSet& files,
                                            const Settings& settings);

// Names that a source need not declare.
std::vector<std::string> Keywords();
std::vector<std::string> InbuiltTypes();
std::vector<std::string> InbuiltFunctions();  // that this build compiles

}  // namespace kiln::hlsl
