// SPDX-License-Identifier: MIT
#include "compiler/base/text/entry_words.h"

#include <algorithm>
#include <cctype>

#include "compiler/base/text/closest_name.h"

namespace kiln {
namespace {

struct Row {
  std::string_view word;
  std::string_view stage;
};
// What other languages and APIs call stages.
constexpr Row kOthers[] = {{"vert", "vertex"},  {"vs", "vertex"},   {"frag", "fragment"},
                           {"fs", "fragment"},  {"ps", "fragment"}, {"pixel", "fragment"},
                           {"comp", "compute"}, {"cs", "compute"},  {"kernel", "compute"}};

// Empty if it is near none.
// The known words of kiln and of others come before what is only near, so that a guess never
// replaces a word that is known.
std::string_view StageMeantBy(std::string_view word) {
  std::string lower(word);
  // Languages and tools differ in case, so it does not matter here.
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  for (const std::string_view stage : kStageWords) {
    if (lower == stage) {
      return stage;
    }
  }
  for (const Row& row : kOthers) {
    if (lower == row.word) {
      return row.stage;
    }
  }
  return ClosestName(lower).OfferAll(kStageWords).best();
}

std::string Entry(std::string_view stage, std::string_view function) {
  return std::string(stage) + "=" + std::string(function.empty() ? "FUNCTION" : function);
}

}  // namespace

// What an author most likely meant by an entry point that could not be read; empty where nothing
// can be guessed. It is shown as advice and never used.
std::string EntryMeantBy(std::string_view text) {
  // Separators of other tools: `=` of kiln, `:` and a space of many command lines.
  const size_t cut = text.find_first_of("=: ");
  const std::string_view left = text.substr(0, cut);
  std::string_view right;
  if (cut != std::string_view::npos) {
    right = text.substr(std::min(text.find_first_not_of("=: ", cut), text.size()));
  }
  // First the stage on the left, as it should be; then on the right, for whoever swapped them.
  if (const std::string_view stage = StageMeantBy(left); !stage.empty()) {
    return Entry(stage, right);
  }
  if (const std::string_view stage = StageMeantBy(right); !right.empty() && !stage.empty()) {
    return Entry(stage, left);
  }
  for (const std::string_view stage : kStageWords) {  // "fragment_main", a function by its name
    if (right.empty() && left.find(stage) != std::string_view::npos) {
      return Entry(stage, left);
    }
  }
  return {};
}

}  // namespace kiln
