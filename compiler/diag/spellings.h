// SPDX-License-Identifier: MIT
// What authors write who come from GLSL, HLSL and WGSL, and what to write instead: spellings.def as
// data. Front ends and closing ask when something is wrong anyway; no rule of the language is here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/diag/diagnostic.h"

namespace kiln {

// The columns of spellings.def.
enum class SpellingPlace : uint8_t {
  kType,
  kCall,
  kName,
  kMember,
  kMethod,
  kDeclaration,
  kStatement,
  kMark,
};
enum class SpellingScene : uint8_t {
  kFile,
  kFile2,
  kVertex,
  kVertex2,
  kFragment,
  kFragment2,
  kCompute2,
};

struct Spelling {
  SpellingPlace place;
  std::string_view text;
  std::string_view languages;  // "GLSL HLSL"
  std::string_view replacement;
  std::string_view advice;
  SpellingScene scene;
  std::string_view wrong;
  std::string_view right;

  bool needs_version_2() const;
  bool is_family() const { return replacement.ends_with("_T"); }
};

std::span<const Spelling> AllSpellings();  // in the order of the table

// The row of a word at that place; null if there is none.
const Spelling* FindSpelling(SpellingPlace place, std::string_view text);
// The longest mark of the source that covers the byte at `offset`, where an error was found.
const Spelling* FindMark(std::string_view source, size_t offset);
// The row of a set of letters ("rgba") that holds every one of `letters`.
const Spelling* FindLetters(std::string_view letters);

// Adds the row's advice as notes; `version` is that of the language of the file. What replaces the
// spelling is the caller's to say, because it knows where the spelling stands.
void Advise(const Spelling& spelling, uint32_t version, Diagnostic& diagnostic);

}  // namespace kiln
