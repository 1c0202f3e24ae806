// SPDX-License-Identifier: MIT
// What the parser says of the source that an expression was put into -> what is wrong with the
// expression. Its author has written no ';', no constant and no file, so no message names one.
// See spec/daemon 6.3
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"

namespace kiln::driver {

// "constant name = TEXT\n;": one constant whose value is the expression. The line end closes a
// comment at the end of the text.
inline constexpr std::string_view kBeforeExpression = "constant kiln_expression = ";
inline constexpr std::string_view kBehindExpression = "\n;";

// Where the first ';' is that is neither in a string nor in a comment; nothing follows an
// expression.
std::optional<uint32_t> FindSemicolon(std::string_view text);

// Positions in such a source -> positions in the text. Module becomes `number`, the one of the
// expression.
void MoveIntoExpression(Diagnostic& diagnostic, uint32_t number, std::string_view text);

// The first of `found`, which the parser says of the source of `text` up to its FindSemicolon, in
// words and places of the text; or, if it says nothing, that of the ';'. Nothing if nothing is
// wrong.
std::optional<Diagnostic> ErrorOfExpression(std::vector<Diagnostic> found, uint32_t number,
                                            std::string_view text);

}  // namespace kiln::driver
