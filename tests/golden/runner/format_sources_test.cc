// SPDX-License-Identifier: MIT
// `kiln fmt` over all sources of the repository.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "client/format/format_file.h"
#include "client/format/items.h"
#include "compiler/base/files/file.h"
#include "compiler/front/rpl/parse.h"
#include "tests/golden/runner/topic_file.h"

namespace kiln::format {
namespace {

// Tokens and comments as texts, in order.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (const Item& item : ItemsOf(text, rpl::Lex(text, 0))) {
    words.emplace_back(TextOf(text, item.bytes));
  }
  return words;
}

// The sources of a file: itself, or of goldens that share one each.
std::vector<std::string> SourcesIn(const std::filesystem::path& path) {
  std::vector<std::string> sources;
  if (path.extension() == ".rpl") {
    sources.push_back(*ReadFile(path.string()));
  } else if (path.extension() == ".golden") {
    for (golden::TopicCase& one : golden::ParseTopic(*ReadFile(path.string()))) {
      if (one.name.ends_with(".rpl")) {
        sources.push_back(std::move(one.source));
      }
    }
  }
  return sources;
}

TEST(FormatRpl, EverySourceOfTheRepository_KeepsItsWordsAndIsStable) {
  size_t formatted = 0;
  for (const char* folder : {"examples", "tests", "docs", "compiler"}) {
    const std::filesystem::path root = std::filesystem::path(KILN_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) {
        continue;
      }
      for (const std::string& text : SourcesIn(entry.path())) {
        const Result<std::string> once = FormatFile("a.rpl", text);
        if (!once.ok()) {
          continue;  // a case of an error
        }
        ++formatted;
        EXPECT_EQ(WordsOf(text), WordsOf(*once)) << entry.path();
        EXPECT_EQ(*FormatFile("a.rpl", *once), *once) << entry.path();
      }
    }
  }
  EXPECT_GT(formatted, 100u);
}

}  // namespace
}  // namespace kiln::format
