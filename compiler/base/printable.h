// SPDX-License-Identifier: MIT
// Text of others -> text that a terminal, a log or a reader of JSON may be given: names of
// manifests, paths, messages of a daemon. What would move a cursor, change a colour or the order in
// which characters are seen is spelled out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln {

// C0 and C1 controls, DEL, line and paragraph separators, format characters (category Cf: marks
// that reorder what is seen, joiners, tags) and letters without ink.
bool IsControl(uint32_t code_point);

// Well-formed UTF-8 without any of these: Printable gives it as it is.
bool IsPrintable(std::string_view text);

// Ill-formed UTF-8 byte by byte as \xff, everything else as it is: for fields that hold UTF-8.
std::string WellFormed(std::string_view text);

// One line: controls and ill-formed UTF-8 byte by byte as \x1b, everything else as it is.
std::string Printable(std::string_view text);

// The same for text of several lines: line ends and tabs stay.
std::string PrintableLines(std::string_view text);

// The same for a message whose further lines begin with two spaces: only those line ends stay, so
// that no name in it can begin a line.
std::string PrintableMessage(std::string_view text);

// Text of one JSON value, which has escaped C0 already: other controls as \u009b, so that it means
// what it meant. Ill-formed UTF-8 becomes U+FFFD.
std::string PrintableJson(std::string_view json);

}  // namespace kiln
