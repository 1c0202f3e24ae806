// SPDX-License-Identifier: MIT
#include "client/cli/pack/warm_numbers.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kiln::cli {
namespace {

// "set binding sampler format" of each, or what is wrong.
std::string Read(const char* text) {
  const Result<std::vector<pack::ImageHint>> hints = ListedHints(nlohmann::json::parse(text));
  if (!hints.ok()) {
    return hints.error().context;
  }
  std::string read;
  for (const pack::ImageHint& hint : *hints) {
    read += fmt::format("{} {} {} {};", hint.set, hint.binding, hint.sampler_class, hint.format);
  }
  return read;
}

TEST(WarmNumbers, HintsTable) {
  const struct {
    const char* text;
    const char* read;
  } rows[] = {
      {"[]", ""},
      {"[{}]", "0 0 0 0;"},
      {R"([{"set": 255, "binding": 255, "sampler": 65535, "format": 4294967295}])",
       "255 255 65535 4294967295;"},
      {R"([{"set": 1}, {"binding": 2}])", "1 0 0 0;0 2 0 0;"},
      {R"([{"set": 256}])", "of a hint: its set is no number from 0 to 255"},
      {R"([{"binding": 256}])", "of a hint: its binding is no number from 0 to 255"},
      {R"([{"sampler": 65536}])", "of a hint: its sampler is no number from 0 to 65535"},
      {R"([{"format": 4294967296}])", "of a hint: its format is no number from 0 to 4294967295"},
      {R"([{"set": -1}])", "of a hint: its set is no number from 0 to 255"},
      {R"([{"set": "1"}])", "of a hint: its set is no number from 0 to 255"},
      {R"([1])", R"(a hint is not like {"set": 0, "binding": 1, "sampler": 2})"},
      {R"({"set": 1})", "its hints are no list of at most 255"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Read(row.text), row.read) << row.text;
  }
}

TEST(WarmNumbers, MoreHintsThanAPipelineHas_AreAMistake) {
  nlohmann::json rows = nlohmann::json::array();
  for (size_t i = 0; i < kMaxHints; ++i) {
    rows.push_back(nlohmann::json::object({{"set", 1U}}));
  }
  ASSERT_TRUE(ListedHints(rows).ok());
  EXPECT_EQ(ListedHints(rows)->size(), kMaxHints);
  rows.push_back(nlohmann::json::object({{"set", 1U}}));
  EXPECT_FALSE(ListedHints(rows).ok());
}

TEST(WarmNumbers, LinesBehindVariants_HavePriorities) {
  const struct {
    size_t lines;
    uint32_t first;
    const char* wrong;
  } rows[] = {
      {0, 0, ""},
      {0, 70'000, ""},
      {65'535, 0, ""},
      {535, 65'000, ""},
      {65'536, 0, "a warm list has at most 65535 lines behind 0 variants of the manifest"},
      {536, 65'000, "a warm list has at most 535 lines behind 65000 variants of the manifest"},
      {1, 70'000, "a warm list has at most 0 lines behind 70000 variants of the manifest"}};
  for (const auto& row : rows) {
    const Result<void> checked = CheckWarmLines(row.lines, row.first);
    EXPECT_EQ(checked.ok() ? "" : checked.error().context, row.wrong);
  }
}

}  // namespace
}  // namespace kiln::cli
