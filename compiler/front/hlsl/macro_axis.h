// SPDX-License-Identifier: MIT
// Macros of a program that have several values: names and values as a manifest or the source itself
// list them. Each choice of values is one list of defines, and so one module; the names are options
// of the program, and what options can, macros can (docs/hlsl).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/ir/decls.h"

namespace kiln::hlsl {

// What one request may declare; the number of lists is bounded by what asks for them.
inline constexpr size_t kMostMacroAxes = 64;
inline constexpr size_t kMostMacroValues = 256;  // of one macro
inline constexpr size_t kMostMacroText = 256;    // bytes of a name or a value

// All values are of one kind: flags ("false": not defined, "true": defined as 1), whole numbers, or
// words. Numbers that are all positive are uint.
struct MacroAxis {
  std::string name;
  ir::OptionKind kind = ir::OptionKind::kFlag;  // flag, uint, sint or enum
  std::vector<std::string> values;              // distinct; the first is the default
  // Values are names of macros, of which the chosen one is defined as 1 and no other; "_": none is.
  bool is_keywords = false;

  friend bool operator==(const MacroAxis&, const MacroAxis&) = default;
};

// The axis of these values, its kind found. Errors: kInvalidArgument, in words, for a name that is
// no identifier, no values or too many, one twice, values of several kinds, a value that is more
// than one word.
Result<MacroAxis> MakeMacroAxis(std::string name, std::vector<std::string> values);

// Of names of macros of which one is defined at a time; one name beside "_" is a flag of that name,
// several are an enum that is called like all of them, "FOG_LINEAR_FOG_EXP". Errors: as
// MakeMacroAxis.
Result<MacroAxis> MakeKeywordAxis(std::vector<std::string> keywords);

// The macros that the axis defines or leaves undefined, each once.
std::vector<std::string_view> NamesOf(const MacroAxis& axis);
// What the preprocessor is told for a value of the axis: a choice for each of these names.
void AddChoices(const MacroAxis& axis, size_t value, std::vector<MacroChoice>& choices);

// The bits that an option has for a value: flag 0 or 1, a number, the row of a word.
uint32_t BitsOf(const MacroAxis& axis, size_t value);
// The value that has these bits; nothing if the axis does not list it.
std::optional<size_t> ValueOfBits(const MacroAxis& axis, uint32_t bits);

}  // namespace kiln::hlsl
