// SPDX-License-Identifier: MIT
#include "compiler/base/language_limits.h"

#include <array>

namespace kiln {
namespace {

using L = LanguageLimits;
constexpr L kDefault;

// Limits of a device (push_constant, uniform_buffer, workgroup) may also rise: that a result needs
// such a device is the business of whoever raises them.
constexpr auto kTable = std::to_array<LanguageLimitRow>({
    {"enum_values", &L::enum_values, 2, kDefault.enum_values, false, "values of an enum option"},
    {"function_rows", &L::function_rows, 1024, kDefault.function_rows, false,
     "instructions of a function"},
    {"nesting", &L::nesting, 16, kDefault.nesting, false,
     "brackets, scopes, aliases and structs in each other"},
    {"options", &L::options, 16, kDefault.options, false, "options of a program"},
    {"parameters", &L::parameters, 64, kDefault.parameters, false,
     "parameters of a buffer or container"},
    {"push_constant", &L::push_constant, 16, 4096, true, "push constants of a program"},
    {"source_bytes", &L::source_bytes, 1024, kDefault.source_bytes, true, "a source"},
    {"uniform_buffer", &L::uniform_buffer, 1024, 16u << 20, true, "a uniform buffer"},
    {"value_items", &L::value_items, 64, kDefault.value_items, false,
     "scalars, vectors and matrices of a variable, argument or value"},
    {"workgroup", &L::workgroup, 1, 4096, false, "invocations of a workgroup"},
});
static_assert(sizeof(L) == kTable.size() * sizeof(uint32_t), "a limit has no row");

}  // namespace

std::span<const LanguageLimitRow> LanguageLimitTable() { return kTable; }

}  // namespace kiln
