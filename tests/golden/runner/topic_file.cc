// SPDX-License-Identifier: MIT
#include "tests/golden/runner/topic_file.h"

namespace kiln::golden {
namespace {

constexpr std::string_view kMark = "//--- ";
constexpr std::string_view kExpected = "expected";

}  // namespace

std::vector<TopicCase> ParseTopic(std::string_view text) {
  std::vector<TopicCase> cases;
  std::string* part = nullptr;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line == std::string(kMark).append(kExpected)) {
      if (cases.empty() || cases.back().expected) {
        return {};
      }
      part = &cases.back().expected.emplace();
    } else if (line.starts_with(kMark)) {
      cases.push_back(
          {.name = std::string(line.substr(kMark.size())), .source = {}, .expected = {}});
      part = &cases.back().source;
    } else if (part != nullptr) {
      part->append(line).push_back('\n');
    } else {
      return {};
    }
  }
  return cases;
}

std::string TopicText(const std::vector<TopicCase>& cases) {
  std::string text;
  for (const TopicCase& one : cases) {
    text.append(kMark).append(one.name).append("\n").append(one.source);
    if (one.expected) {
      text.append(kMark).append(kExpected).append("\n").append(*one.expected);
    }
  }
  return text;
}

}  // namespace kiln::golden
