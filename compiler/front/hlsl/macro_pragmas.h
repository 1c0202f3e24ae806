// SPDX-License-Identifier: MIT
// Lines of a source that list macros with their values, in the spellings that engines have:
//
//   #pragma kiln macro LIGHTS 0 1 2 4          numbers, words, or false and true
//   #pragma multi_compile _ FOG                FOG is defined, or is not
//   #pragma multi_compile LINEAR EXP EXP2      one of them is
//   #pragma shader_feature FOG                 as multi_compile _ FOG
//
// Text of a file -> its axes. Lines count wherever they stand, also in groups that are skipped:
// which macros there are must be known before any has a value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/front/hlsl/macro_axis.h"

namespace kiln::hlsl {

// The axis of the words behind `#pragma`; nothing if they are about something else. Errors: as
// MakeMacroAxis.
std::optional<Result<MacroAxis>> MacroOfPragma(std::span<const std::string_view> words);

// By name; of two that define the same macro the first counts. At most kMostMacroAxes.
std::vector<MacroAxis> MacrosIn(std::string_view text);

}  // namespace kiln::hlsl
