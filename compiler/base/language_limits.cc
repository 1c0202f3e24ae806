// SPDX-License-Identifier: MIT
#include "compiler/base/language_limits.h"

#include <array>

namespace kiln {
namespace {

using L = LanguageLimits;
// The table takes its highest values from the defaults, so most limits can only be lowered.
constexpr L kDefault;

// Limits of a device (push_constant, uniform_buffer, workgroup) may also rise: that a result needs
// such a device is the business of whoever raises them.
// Sorted by name: keys and the print of a configuration go through the rows in this order.
constexpr auto kTable = std::to_array<LanguageLimitRow>({
    {"bindings", &L::bindings, 16, kDefault.bindings, false, "bindings of a set of resources"},
    {"call_depth", &L::call_depth, 16, kDefault.call_depth, false, "calls in each other"},
    {"enum_values", &L::enum_values, 2, kDefault.enum_values, false, "values of an enum option"},
    {"function_rows", &L::function_rows, 1024, kDefault.function_rows, false,
     "instructions of a function"},
    {"functions", &L::functions, 64, kDefault.functions, false, "functions of a program"},
    {"identifier", &L::identifier, 64, kDefault.identifier, true, "an identifier"},
    {"include_depth", &L::include_depth, 4, kDefault.include_depth, false,
     "includes in each other"},
    {"include_files", &L::include_files, 16, kDefault.include_files, false, "files of a module"},
    {"locals", &L::locals, 64, kDefault.locals, false,
     "variables, arguments and aliases of a function"},
    {"macro_depth", &L::macro_depth, 16, kDefault.macro_depth, false,
     "expansions of macros in each other"},
    {"macro_tokens", &L::macro_tokens, 1024, kDefault.macro_tokens, false,
     "tokens that the macros of a module make"},
    {"metadata_bytes", &L::metadata_bytes, 4096, kDefault.metadata_bytes, true,
     "metadata of a variant"},
    {"nesting", &L::nesting, 16, kDefault.nesting, false,
     "brackets, scopes, aliases and structs in each other"},
    {"nodes", &L::nodes, 1024, kDefault.nodes, false,
     "rows of the syntax tree and the IR of a source"},
    {"options", &L::options, 16, kDefault.options, false, "options of a program"},
    {"parameters", &L::parameters, 64, kDefault.parameters, false,
     "parameters of a buffer or container"},
    {"push_constant", &L::push_constant, 16, 4096, true, "push constants of a program"},
    {"source_bytes", &L::source_bytes, 1024, kDefault.source_bytes, true, "a source"},
    {"spirv_bytes", &L::spirv_bytes, 4096, kDefault.spirv_bytes, true, "SPIR-V of a module"},
    {"spirv_ids", &L::spirv_ids, 256, kDefault.spirv_ids, false, "SPIR-V ids of a module"},
    {"string", &L::string, 64, kDefault.string, true, "a string"},
    {"terms", &L::terms, 64, kDefault.terms, false, "operands of a chain of operators"},
    {"tokens", &L::tokens, 1024, kDefault.tokens, false, "tokens of a source"},
    {"uniform_buffer", &L::uniform_buffer, 1024, 16u << 20, true, "a uniform buffer"},
    {"value_items", &L::value_items, 64, kDefault.value_items, false,
     "scalars, vectors and matrices of a variable, argument or value"},
    {"workgroup", &L::workgroup, 1, 4096, false, "invocations of a workgroup"},
});
// All fields are uint32_t, so the count of rows is the count of fields: a limit without a row would
// decide results and be in no key.
static_assert(sizeof(L) == kTable.size() * sizeof(uint32_t), "a limit has no row");

}  // namespace

std::span<const LanguageLimitRow> LanguageLimitTable() { return kTable; }

}  // namespace kiln
