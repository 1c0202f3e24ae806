// SPDX-License-Identifier: MIT
// Names of WGSL modules. A name follows from what it names alone, never from what else is live, so
// text that mentions it holds in every variant. Two underscores inside a name are kiln's: a source
// name that has them, or that WGSL will not have as a name, is escaped. Names of different things
// are therefore never equal. See spec/wgsl 3.3.
//
//   source name          light          light
//   escaped              vec4           e__vec4         also: my__name, __x, _1
//   field of a container surface.uv     surface__uv     (a name with "__" in it: c__7_a__b__uv)
//   made by kiln         _1, light__block, kiln__inverse_4
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::wgsl {

enum class WordKind : uint8_t { kFree, kKeyword, kReserved, kPredeclared };

// What the word is to WGSL.
WordKind KindOfWord(std::string_view word);

// Of a function, type, variable, local or option. Requires: an ASCII identifier.
std::string NameOf(std::string_view source);

// Of a member of a struct, which is looked up behind '.' only: predeclared words are free there.
std::string MemberName(std::string_view source);

// Of a part of something: a field of a container, an element of an array of images.
std::string PartName(std::string_view owner, std::string_view part);

// What kiln makes for something that has a name: PartName with a word that is no source name.
std::string MadeName(std::string_view owner, std::string_view what);

// The name of a value or variable of one region that has none: _1, _2.
std::string ValueName(uint32_t number);

}  // namespace kiln::wgsl
