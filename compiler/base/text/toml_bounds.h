// SPDX-License-Identifier: MIT
// How deep a TOML text goes, before a parser that recurses is given it: parts of a dotted key or a
// header, and lists and tables within each other. One pass, no memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

inline constexpr size_t kMaxTomlBytes = size_t{4} << 20;
inline constexpr uint32_t kMaxTomlKeyParts = 32;  // a.b.c has three
inline constexpr uint32_t kMaxTomlNesting = 32;   // [[1]] has two

// The first place, counted from 1, where a text exceeds one of these.
struct TomlExcess {
  uint32_t line = 0;
  uint32_t column = 0;  // bytes
  std::string what;     // "a key of more than 32 parts"
};

// Nullopt: within all bounds. The text need not be valid TOML: what a parser accepts up to a place
// is understood here up to the same place.
std::optional<TomlExcess> FindTomlExcess(std::string_view text);

}  // namespace kiln
