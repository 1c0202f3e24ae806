// SPDX-License-Identifier: MIT
// What editors ask: declarations of a source, what its names mean, and names of the language.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/front/common/source_index.h"
#include "compiler/source/source_file.h"

namespace kiln::wgsl::front {

// Nothing if the source has a syntax error or is too large to be read.
std::optional<kiln::front::SourceIndex> MakeIndex(const SourceFile& source);

// Names that a source need not declare: keywords, then types, then functions.
std::vector<std::string_view> Keywords();
std::vector<std::string_view> InbuiltTypes();
std::vector<std::string_view> InbuiltFunctions();

}  // namespace kiln::wgsl::front
