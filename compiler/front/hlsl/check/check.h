// SPDX-License-Identifier: MIT
// Syntax tree -> checked module, or everything that is wrong with it. The face of this folder.
#pragma once

#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/common/source_index.h"
#include "compiler/front/hlsl/check/tree.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/token_stream.h"

namespace kiln::hlsl {

struct CheckResult {
  Unit unit;  // to be used only without errors; its texts are those of stream and tree
  std::vector<Diagnostic> diagnostics;  // sorted
};

// A pure function. `mentions` gets what each name means; null: nobody asks. See spec/hlsl 5.3, 6
// to 13
CheckResult Check(const TokenStream& stream, const syntax::Ast& ast, const Settings& settings,
                  const LanguageLimits& limits = {},
                  std::vector<front::Mention>* mentions = nullptr);

}  // namespace kiln::hlsl
