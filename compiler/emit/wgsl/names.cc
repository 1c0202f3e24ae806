// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace kiln::wgsl {
namespace {

struct Word {
  std::string_view text;
  WordKind kind;
};

constexpr Word kUnsorted[] = {
#define KILN_WORD(word, kind) {#word, WordKind::k##kind},
#include "compiler/emit/wgsl/reserved.def"
};

// Sorted when the compiler runs, so that the list can stand in groups and a name is looked up by
// halves.
constexpr auto kWords = [] {
  std::array<Word, std::size(kUnsorted)> sorted{};
  std::copy(std::begin(kUnsorted), std::end(kUnsorted), sorted.begin());
  std::sort(sorted.begin(), sorted.end(),
            [](const Word& a, const Word& b) { return a.text < b.text; });
  return sorted;
}();

// The first parts of kiln's own names.
// An owner of such a name would look like an escape.
constexpr std::string_view kPrefixes[] = {"e", "c", "kiln"};

// Two underscores are what kiln puts between the parts of its names.
bool HasMark(std::string_view name) { return name.find("__") != std::string_view::npos; }

// "_" and "_1": a phony assignment and kiln's values.
bool IsValueName(std::string_view name) {
  return name.starts_with('_') &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

WordKind KindOfWord(std::string_view word) {
  const auto* found =
      std::lower_bound(kWords.begin(), kWords.end(), word,
                       [](const Word& a, std::string_view b) { return a.text < b; });
  return found != kWords.end() && found->text == word ? found->kind : WordKind::kFree;
}

// A source name that could be mistaken for one of WGSL or of kiln is escaped. Since the escape
// begins with "e__" and a source name with two underscores is itself escaped, no other source name
// gives the same text.
std::string NameOf(std::string_view source) {
  // Any of the three would be an error of WGSL or meet a name of kiln.
  const bool free =
      KindOfWord(source) == WordKind::kFree && !HasMark(source) && !IsValueName(source);
  return free ? std::string(source) : "e__" + std::string(source);
}

// Members are named behind a dot, where predeclared words are free.
std::string MemberName(std::string_view source) {
  return KindOfWord(source) == WordKind::kPredeclared ? std::string(source) : NameOf(source);
}

// Owner and part are joined by two underscores where that can be read in one way only. Otherwise
// the length of the owner stands in front, so the place where they meet is known in any case: two
// different pairs never give one name.
std::string PartName(std::string_view owner, std::string_view part) {
  // "a_" and "__b" would meet in three underscores, and a name must not begin with two.
  const bool plain = !HasMark(owner) && !HasMark(part) && !owner.ends_with('_') &&
                     !owner.starts_with('_') && !part.starts_with('_') &&
                     std::ranges::find(kPrefixes, owner) == std::end(kPrefixes);
  std::string name = plain ? std::string() : "c__" + std::to_string(owner.size()) + "_";
  name += owner;
  name += "__";
  name += part;
  return name;
}

std::string MadeName(std::string_view owner, std::string_view what) {
  return PartName(owner, what);
}

// Values of expressions that are needed more than once; a source name that looks so is escaped.
std::string ValueName(uint32_t number) { return "_" + std::to_string(number); }

}  // namespace kiln::wgsl
