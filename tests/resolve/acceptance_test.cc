// SPDX-License-Identifier: MIT
// Every run of every program under tests/acceptance/rpl specialises without an error, and what
// comes of it obeys the rules of both forms of the IR.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/ir/text/parse_generic.h"
#include "compiler/ir/text/parse_specialised.h"
#include "compiler/ir/text/print_generic.h"
#include "compiler/ir/text/print_specialised.h"
#include "compiler/ir/verify/verify.h"
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

// Calls visit(variant, name of the run) for every run; the number of runs.
template <class Visit>
size_t ForEachRun(Visit visit) {
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
      visit(variant, file.filename().string() + " " + line);
      ++runs;
    }
  }
  return runs;
}

TEST(AcceptancePrograms, EveryRun_Closes) {
  const size_t runs = ForEachRun([](const VariantOf& variant, const std::string& run) {
    EXPECT_TRUE(variant.ok()) << run << "\n" << variant.Messages();
  });
  EXPECT_GT(runs, 20u);
}

TEST(AcceptancePrograms, EveryRun_VerifiesInBothForms) {
  ForEachRun([](const VariantOf& variant, const std::string& run) {
    for (const ir::ModuleView& module : variant.program().modules()) {
      const Result<void> verdict = ir::VerifyIds(module);
      EXPECT_TRUE(verdict.ok()) << run << "\n" << verdict.error().context;
    }
    if (variant.ok()) {
      const Result<void> verdict = ir::Verify(variant.specialised());
      EXPECT_TRUE(verdict.ok()) << run << "\n"
                                << verdict.error().context << "\n"
                                << ir::Print(variant.specialised());
    }
  });
}

TEST(AcceptancePrograms, EveryRun_PrintsAndParsesBack) {
  ForEachRun([](const VariantOf& variant, const std::string& run) {
    for (const ir::ModuleView& module : variant.program().modules()) {
      const std::string text = ir::Print(module);
      const Result<ir::Module> parsed = ir::ParseModule(text);
      ASSERT_TRUE(parsed.ok()) << run << "\n" << parsed.error().context;
      EXPECT_EQ(ir::Print(parsed->view()), text) << run;
    }
    if (variant.ok()) {
      const std::string text = ir::Print(variant.specialised());
      const Result<ir::ParsedVariant> parsed = ir::ParseVariant(text);
      ASSERT_TRUE(parsed.ok()) << run << "\n" << parsed.error().context;
      EXPECT_EQ(ir::Print(parsed->variant), text) << run;
    }
  });
}

}  // namespace
}  // namespace kiln::resolve
