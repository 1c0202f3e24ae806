// SPDX-License-Identifier: MIT
// The #include lines of a text, without preprocessing it: what might be asked for when it is read.
// A guess that errs on the side of too much (a branch that is not taken, a comment) and misses only
// names that macros make. Clients find with it which files to send, daemons which to have at hand;
// what a module really asked for are its probes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct IncludeLine {
  std::string_view path;  // views the text; as it is written
  bool quoted = false;    // "path" and not <path>
};

// In order of the text; what is there twice is there twice. Linear in the size of the text.
std::vector<IncludeLine> IncludeLinesOf(std::string_view text);

// Where such a line of file `including` may find its file, in the order in which it is looked for
// (spec/hlsl 4.2). Paths that leave the root are left out.
std::vector<std::string> PlacesOf(const IncludeLine& line, std::string_view including,
                                  std::span<const std::string> roots);

}  // namespace kiln
