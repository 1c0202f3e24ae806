// SPDX-License-Identifier: MIT
// A checked module as a typed module of the IR. The face of this folder.
#pragma once

#include <span>
#include <string_view>

#include "compiler/base/digest.h"
#include "compiler/front/hlsl/check/tree.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/token_stream.h"
#include "compiler/ir/module.h"
#include "compiler/ir/module_files.h"

namespace kiln::hlsl {

// What the module was made of, for debuggers and places of messages: files, and their texts by row.
struct ModuleSources {
  const ir::ModuleFiles& files;
  std::span<const std::string_view> texts;
};
// Requires: `unit` was checked without errors, from that stream.
ir::Module Lower(const Unit& unit, const TokenStream& stream, const Settings& settings,
                 const ModuleSources& sources, const Hash128& fingerprint);

}  // namespace kiln::hlsl
