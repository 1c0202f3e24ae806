// SPDX-License-Identifier: MIT
// The bytes of a module -> the form that they are in, for files of results whose target nobody can
// be asked about.
#pragma once

#include <optional>
#include <string_view>

#include "client/types.h"
#include "compiler/base/bytes.h"

namespace kiln::cli {

// SPIR-V by its first word, texts by what they cannot be without; nothing for anything else.
std::optional<client::Form> FormOfCode(ByteView code);

// ".spv", ".wgsl", …; ".code" for what has no known form.
std::string_view CodeExtension(ByteView code);

}  // namespace kiln::cli
