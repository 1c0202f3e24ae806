// SPDX-License-Identifier: MIT
// Names of files and folders, which are anybody's, in a manifest that a program writes: as a value
// of TOML, and as the name of a program or pass.
#pragma once

#include <string>
#include <string_view>

namespace kiln::project {

// In double quotes, on one line, whatever is in it: reading it gives the text again. What TOML
// cannot hold (ill-formed UTF-8) and what is not seen is spelled out as Printable does.
std::string TomlText(std::string_view text);

// A name as TableReader::Name takes it, as close to the text as that is.
std::string NameFor(std::string_view text);

}  // namespace kiln::project
