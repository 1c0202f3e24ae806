// SPDX-License-Identifier: MIT
#include "tests/golden/runner/golden_case.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/golden/runner/topic_file.h"

namespace kiln::golden {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRun = "// run: ";
constexpr std::string_view kSkip = "// skip: ";

// False if the first line says nothing.
bool ReadFirstLine(GoldenCase& golden) {
  const std::string line = golden.source.substr(0, golden.source.find('\n'));
  if (line.starts_with(kSkip)) {
    golden.skip = line.substr(kSkip.size());
    return true;
  }
  if (!line.starts_with(kRun)) {
    return false;
  }
  std::istringstream words(line.substr(kRun.size()));
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      return false;
    }
    if (word.starts_with("stage=")) {
      golden.stage = word.substr(equals + 1);
    } else {
      golden.words.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return !golden.stage.empty();
}

constexpr std::string_view kTopic = ".golden";

// The cases of one topic file, each as if it were a file beside it.
void AddTopic(const fs::path& topic, const fs::path& root, std::vector<GoldenCase>& found,
              std::vector<std::string>& problems) {
  const std::string name = fs::relative(topic, root).generic_string();
  const std::vector<TopicCase> cases = ParseTopic(ReadBytes(topic).value());
  if (cases.empty()) {
    problems.push_back(name + ": is no file of goldens");
  }
  for (const TopicCase& one : cases) {
    GoldenCase golden{.input = topic.parent_path() / one.name,
                      .expected = topic,
                      .expectation = one.expected,
                      .name = name + "/" + one.name,
                      .source = one.source};
    if (ReadFirstLine(golden)) {
      found.push_back(std::move(golden));
    } else {
      problems.push_back(golden.name + ": the first line is not '// run: stage=…'");
    }
  }
}

bool IsInput(const fs::path& path) {
  return path.extension() == ".rpl" || path.extension() == ".hlsl" || path.extension() == ".wgsl";
}

}  // namespace

std::vector<std::string> GoldenCase::All(std::string_view key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : words) {
    if (name == key) {
      values.push_back(value);
    }
  }
  return values;
}

Result<std::string> ReadBytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{.code = ErrorCode::kNotFound, .context = path.string()};
  }
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void WriteExpectation(const GoldenCase& golden, const std::string& text) {
  std::string bytes = text;
  if (golden.expected.extension() == kTopic) {
    std::vector<TopicCase> cases = ParseTopic(ReadBytes(golden.expected).value());
    for (TopicCase& one : cases) {
      if (one.name == golden.input.filename()) {
        one.expected = text;
      }
    }
    bytes = TopicText(cases);
  }
  std::ofstream(golden.expected, std::ios::binary) << bytes;
}

GoldenFolder FindCases(const fs::path& root) {
  GoldenFolder folder;
  std::set<fs::path> inputs;
  std::set<fs::path> expectations;
  std::set<fs::path> topics;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (IsInput(entry.path())) {
      inputs.insert(entry.path());
    } else if (entry.path().extension() == ".expected") {
      expectations.insert(entry.path());
    } else if (entry.path().extension() == kTopic) {
      topics.insert(entry.path());
    }
  }
  std::set<fs::path> parts;
  std::vector<GoldenCase> found;
  std::vector<GoldenCase> unread;
  for (const fs::path& input : inputs) {
    GoldenCase golden{.input = input,
                      .expected = fs::path(input).replace_extension(".expected"),
                      .name = fs::relative(input, root).generic_string(),
                      .source = ReadBytes(input).value()};
    const bool read = ReadFirstLine(golden);
    (read ? found : unread).push_back(std::move(golden));
  }
  for (GoldenCase& golden : found) {
    if (expectations.erase(golden.expected) > 0) {
      golden.expectation = ReadBytes(golden.expected).value();
    }
    folder.cases.push_back(std::move(golden));
  }
  for (const fs::path& topic : topics) {
    AddTopic(topic, root, folder.cases, folder.problems);
  }
  for (const GoldenCase& golden : folder.cases) {
    for (const std::string& part : golden.All("with")) {
      parts.insert(golden.input.parent_path() / part);
    }
  }
  for (const GoldenCase& golden : unread) {
    if (!parts.contains(golden.input)) {
      folder.problems.push_back(golden.name + ": the first line is not '// run: stage=…'");
    }
  }
  std::ranges::sort(folder.cases, {}, &GoldenCase::name);
  for (const fs::path& orphan : expectations) {
    folder.problems.push_back(fs::relative(orphan, root).generic_string() + ": has no input");
  }
  return folder;
}

}  // namespace kiln::golden
