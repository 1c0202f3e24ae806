// SPDX-License-Identifier: MIT
// The files of a command line -> a linked program. Besides sources they may be texts of generic IR
// (F.kir, docs/IR.md), so that what stands behind the front ends can be tried without one.
#pragma once

#include <span>
#include <string_view>

#include "compiler/base/result.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"

namespace kiln::tool {

bool IsTextModule(std::string_view path);  // F.kir

// Errors: kInvalidArgument, kCorrupt for a text that is no module, with its path.
Result<ir::Module> ReadTextModule(const SourceFile& source);

// As driver::LinkSources. Errors: those of ReadTextModule.
Result<driver::LinkedSources> LinkFiles(std::span<const SourceFile> sources,
                                        const driver::SourceInputs& inputs,
                                        ir::PipelineType pipeline,
                                        const LanguageLimits& limits = {});

}  // namespace kiln::tool
