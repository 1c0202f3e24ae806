// SPDX-License-Identifier: MIT
// The entry of compile_fuzz over the sources of the tests and seeded mutations of them, so that
// every build runs it, without libFuzzer. What it checks, it checks by itself: a broken promise
// ends the program.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace kiln {
namespace {

void RunSource(const std::string& text) {
  EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size()), 0);
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Every RPL file below a folder of the tests, in the order of their paths.
std::vector<std::string> Sources(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path root = std::filesystem::path(KILN_SOURCE_DIR) / "tests" / folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".rpl") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> sources;
  sources.reserve(paths.size());
  for (const std::filesystem::path& path : paths) {
    sources.push_back(ReadAll(path));
  }
  return sources;
}

// One small change that often still parses: a word, number or operator in place of another.
std::string Mutated(std::string text, std::mt19937& random) {
  constexpr std::string_view kWords[] = {
      "f1", "f3", "u2", "s1", "f4x4", "0u",  "1.0", "-1",  "x",  "+",
      "*",  "%",  ">>", "==", "=",    "out", "in",  "0x7", ".x", "[0]"};
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  size_t begin = random() % text.size();
  while (begin > 0 && is_word(text[begin]) && is_word(text[begin - 1])) {
    --begin;
  }
  size_t end = begin + 1;
  while (end < text.size() && is_word(text[begin]) && is_word(text[end])) {
    ++end;
  }
  return text.replace(begin, end - begin, kWords[random() % std::size(kWords)]);
}

TEST(CompileSeeds, SourcesOfTheTests_KeepTheirPromises) {
  size_t count = 0;
  for (const std::string folder : {"acceptance", "golden"}) {
    for (const std::string& source : Sources(folder)) {
      RunSource(source);
      ++count;
    }
  }
  EXPECT_GE(count, 100U);
}

TEST(CompileSeeds, MutatedSources_KeepTheirPromises) {
  constexpr uint32_t kMutations = 25;
  std::mt19937 random(1);
  for (const std::string& source : Sources("acceptance")) {
    for (uint32_t i = 0; i < kMutations; ++i) {
      std::string text = source;
      for (uint32_t changes = 1 + random() % 3; changes > 0 && !text.empty(); --changes) {
        text = Mutated(std::move(text), random);
      }
      SCOPED_TRACE(text);
      RunSource(text);
    }
  }
}

}  // namespace
}  // namespace kiln
