// SPDX-License-Identifier: MIT
// Macros of a program among the values of its options: which list of defines they choose, and what
// the list was asked for. See compiler/front/hlsl/macro_axis.h
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/driver/stages.h"
#include "compiler/resolve/values/options.h"
#include "server/compile/programs/module_rows.h"
#include "server/compile/request.h"

namespace kiln::compile {

// The request with the list that its fixed part and these values choose; a later value replaces an
// earlier one, what is chosen by nobody has the first value of its macro. Values that are none of
// the macro's choose nothing: CheckMacros and the check of options say so.
ProgramRequest WithChoices(ProgramRequest request, std::span<const resolve::OptionSetting> options);

// The choices alone. Requires: `macros` ascends by name.
std::vector<hlsl::MacroChoice> ChoicesOf(std::span<const hlsl::MacroAxis> macros,
                                         std::span<const resolve::OptionSetting> fixed,
                                         std::span<const resolve::OptionSetting> options);

// Adds the macros that a source lists itself, but for those that are defined or listed already; by
// name.
std::vector<hlsl::MacroAxis> WithMacrosOf(std::vector<hlsl::MacroAxis> macros,
                                          std::span<const hlsl::Define> defines,
                                          std::string_view text);

// RPL2006 for each value that its macro does not list. Requires: values of a program of the macros.
std::vector<Diagnostic> CheckMacros(std::span<const hlsl::MacroAxis> macros,
                                    const resolve::Program& program,
                                    const resolve::OptionValues& values);

// What linking needs of the macros of a program, given its sources as they were read; null if it
// has none.
std::unique_ptr<const driver::MacrosOfProgram> MacrosOf(
    std::span<const hlsl::MacroAxis> macros,
    std::span<const std::shared_ptr<const ParsedSource>> parsed);

}  // namespace kiln::compile
