// SPDX-License-Identifier: MIT
#include "compiler/diag/spellings.h"

#include <algorithm>
#include <array>

namespace kiln {
namespace {

// Columns: where the text is met, the text, the languages that write it so, what to write instead,
// an advice, and a scene with the wrong and the right form, which tests compile.
constexpr auto kSpellings = std::to_array<Spelling>({
#define KILN_SPELLING(place, text, languages, replacement, advice, scene, wrong, right) \
  {SpellingPlace::k##place, text,  languages, replacement, advice,                      \
   SpellingScene::k##scene, wrong, right},
#include "compiler/diag/spellings.def"
});

// Does `mark` stand in the source so that the byte at `offset` is in it?
bool Covers(std::string_view source, size_t offset, std::string_view mark) {
  // A mark that ends at the byte begins this much before it, or at the start of the source.
  const size_t first = offset + 1 < mark.size() ? 0 : offset + 1 - mark.size();
  for (size_t begin = first; begin <= offset; ++begin) {
    if (source.substr(begin, mark.size()) == mark) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool Spelling::needs_version_2() const {
  return scene == SpellingScene::kFile2 || scene == SpellingScene::kVertex2 ||
         scene == SpellingScene::kFragment2 || scene == SpellingScene::kCompute2;
}

std::span<const Spelling> AllSpellings() { return kSpellings; }

// The table has fewer than two hundred rows and is searched only for something that is wrong
// already.
const Spelling* FindSpelling(SpellingPlace place, std::string_view text) {
  const auto* row = std::ranges::find_if(kSpellings, [&](const Spelling& candidate) {
    return candidate.place == place && candidate.text == text;
  });
  return row == kSpellings.end() ? nullptr : row;
}

// The longest one that covers the byte: `->` rather than `>`.
const Spelling* FindMark(std::string_view source, size_t offset) {
  const Spelling* best = nullptr;
  for (const Spelling& row : kSpellings) {
    if (row.place == SpellingPlace::kMark &&
        (best == nullptr || row.text.size() > best->text.size()) &&
        Covers(source, offset, row.text)) {
      best = &row;
    }
  }
  return best;
}

// Null where a letter is of no known set.
const Spelling* FindLetters(std::string_view letters) {
  const auto* row = std::ranges::find_if(kSpellings, [&](const Spelling& candidate) {
    // The letters of another language's swizzles, such as `rgba`, in any order and number.
    return candidate.place == SpellingPlace::kMember &&
           letters.find_first_not_of(candidate.text) == std::string_view::npos;
  });
  return row == kSpellings.end() ? nullptr : row;
}

// Notes are added and never replaced; the caller has its own before them.
void Advise(const Spelling& spelling, uint32_t version, Diagnostic& diagnostic) {
  const auto say = [&](std::string_view advice) {
    diagnostic.notes.push_back(
        {.kind = NoteKind::kAdvice, .arguments = {Argument("advice", advice)}});
  };
  if (!spelling.advice.empty()) {
    say(spelling.advice);
  }
  if (spelling.needs_version_2() && version < 2) {
    say("it needs 'rpl 2;' at the start of the file");
  }
}

}  // namespace kiln
