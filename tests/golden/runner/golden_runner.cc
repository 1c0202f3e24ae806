// SPDX-License-Identifier: MIT
// golden_runner [--update] ROOT [PART…]: runs every golden below ROOT, or those whose name contains
// a PART, and compares with what is expected. Exit 0: all equal; 1: a difference, a missing
// expectation or an orphan; 2: wrong usage. --update rewrites expectations instead of comparing.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/golden/runner/golden_case.h"
#include "tests/golden/runner/run_stage.h"

namespace kiln::golden {
namespace {

enum class Mode : uint8_t { kCompare, kUpdate };

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// Equal head and tail left out, the rest in full: goldens are short.
void PrintDifference(std::string_view expected, std::string_view actual) {
  const std::vector<std::string_view> old_lines = Lines(expected);
  const std::vector<std::string_view> new_lines = Lines(actual);
  const size_t least = std::min(old_lines.size(), new_lines.size());
  size_t head = 0;
  while (head < least && old_lines[head] == new_lines[head]) {
    ++head;
  }
  size_t tail = 0;
  while (tail < least - head &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) {
    ++tail;
  }
  fmt::print("  @ line {}\n", head + 1);
  for (size_t i = head; i < old_lines.size() - tail; ++i) {
    fmt::print("  - {}\n", old_lines[i]);
  }
  for (size_t i = head; i < new_lines.size() - tail; ++i) {
    fmt::print("  + {}\n", new_lines[i]);
  }
  if (expected.ends_with('\n') != actual.ends_with('\n')) {
    fmt::print("  (they differ in the last line end)\n");
  }
}

bool Update(const GoldenCase& golden, const std::string& actual) {
  if (golden.expectation != actual) {
    WriteExpectation(golden, actual);
    fmt::print("updated {}\n", golden.name);
  }
  return true;
}

bool Compare(const GoldenCase& golden, const std::string& actual) {
  if (!golden.expectation) {
    fmt::print("FAILED {}: has no expectation, run with --update\n", golden.name);
    return false;
  }
  if (*golden.expectation != actual) {
    fmt::print("FAILED {}\n", golden.name);
    PrintDifference(*golden.expectation, actual);
    return false;
  }
  return true;
}

bool RunCase(const GoldenCase& golden, Mode mode) {
  if (!golden.skip.empty()) {
    fmt::print("skipped {}: {}\n", golden.name, golden.skip);
    return true;
  }
  const Result<std::string> actual = RunStage(golden);
  if (!actual.ok()) {
    fmt::print("FAILED {}\n", ErrorText(actual.error()));
    return false;
  }
  return mode == Mode::kUpdate ? Update(golden, *actual) : Compare(golden, *actual);
}

bool IsChosen(const GoldenCase& golden, const std::vector<std::string>& parts) {
  return parts.empty() || std::ranges::any_of(parts, [&](const std::string& part) {
           return golden.name.find(part) != std::string::npos;
         });
}

int Run(const std::string& root, const std::vector<std::string>& parts, Mode mode) {
  const GoldenFolder folder = FindCases(root);
  size_t failed = folder.problems.size();
  size_t count = 0;
  for (const std::string& problem : folder.problems) {
    fmt::print("FAILED {}\n", problem);
  }
  for (const GoldenCase& golden : folder.cases) {
    if (IsChosen(golden, parts)) {
      ++count;
      failed += RunCase(golden, mode) ? 0 : 1;
    }
  }
  fmt::print("{} goldens, {} failed\n", count, failed);
  return failed == 0 && count > 0 ? 0 : 1;
}

}  // namespace
}  // namespace kiln::golden

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  using kiln::golden::Mode;
  const bool update = std::erase(arguments, "--update") > 0;
  if (arguments.empty() || arguments[0].starts_with("-")) {
    fmt::print(stderr, "usage: golden_runner [--update] ROOT [PART...]\n");
    return 2;
  }
  const std::string root = arguments[0];
  arguments.erase(arguments.begin());
  return kiln::golden::Run(root, arguments, update ? Mode::kUpdate : Mode::kCompare);
}
