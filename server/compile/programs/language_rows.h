// SPDX-License-Identifier: MIT
// What sources in HLSL were read with <-> rows of explain records: settings, macros, include roots,
// and what the includes asked for. See spec/cache 11.3, spec/hlsl 1.5
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/explain/explain.h"
#include "server/compile/programs/module_rows.h"
#include "server/compile/request.h"

namespace kiln::compile {

// Texts of a request as canonical encodings take them: short, and without bytes that are not text.
std::string FitForRecord(std::string_view text);

// Before the name of a macro that option values choose, in the name of its row.
inline constexpr std::string_view kMacroRow = "macro ";

// ("version", "2021"), ("define FOG", "1"), ("macro LIGHTS", "4"), ("include_root 0", "shaders").
std::vector<cache::NamedText> LanguageRowsOf(const HlslInputs& inputs);

// By path, each once. Above 128 the last row stands for all the others: every request leaves a
// record.
std::vector<cache::ExplainDependency> DependencyRowsOf(
    std::span<const std::shared_ptr<const ParsedSource>> parsed);

// Inputs with which the same is read again: the files are those that were found. Nothing if the
// rows do not say all of it.
std::optional<HlslInputs> HlslInputsOf(const cache::ExplainInputs& record);

}  // namespace kiln::compile
