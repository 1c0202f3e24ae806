// SPDX-License-Identifier: MIT
// Every run of every program under tests/acceptance/rpl closes without an error.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/resolve/variant_of.h"

namespace kiln::resolve {
namespace {

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Value of `key=` in a run line, up to the next space.
std::string Field(const std::string& line, const std::string& key) {
  const size_t begin = line.find(" " + key + "=");
  if (begin == std::string::npos) {
    return "";
  }
  const size_t from = begin + key.size() + 2;
  return line.substr(from, line.find(' ', from) - from);
}

TEST(AcceptancePrograms, EveryRun_Closes) {
  const std::filesystem::path folder =
      std::filesystem::path(KILN_SOURCE_DIR) / "tests/acceptance/rpl";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".rpl") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  size_t runs = 0;
  for (const std::filesystem::path& file : files) {
    std::istringstream lines(ReadText(file));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("// run:")) {
        continue;
      }
      std::vector<std::string> sources;
      std::istringstream modules(Field(line, "modules"));
      for (std::string module; std::getline(modules, module, ',');) {
        sources.push_back(ReadText(folder / module));
      }
      sources.push_back(ReadText(file));
      const VariantOf variant(sources, Field(line, "entries"), Field(line, "options"));
      EXPECT_TRUE(variant.ok()) << file.filename() << " " << line << "\n" << variant.Messages();
      ++runs;
    }
  }
  EXPECT_GT(runs, 20u);
}

}  // namespace
}  // namespace kiln::resolve
