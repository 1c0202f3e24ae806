// SPDX-License-Identifier: MIT
// The case file of the layout specification (layout.md 17): every number in it is the engine's.
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/layout/cases/case_file.h"

namespace kiln::layout {
namespace {

std::string CaseFile() {
  std::ifstream file(KILN_SOURCE_DIR "/tests/layout/layout_cases.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LayoutCases, EveryNumber_IsThatOfTheSpecification) {
  const auto differences = CheckCases(CaseFile());
  ASSERT_TRUE(differences.ok());
  for (const CaseDifference& difference : *differences) {
    ADD_FAILURE() << difference.path << ": expected " << difference.expected << ", found "
                  << difference.found;
  }
}

TEST(LayoutCases, AChangedNumber_IsADifference) {
  nlohmann::ordered_json file = nlohmann::ordered_json::parse(CaseFile());
  file["layout"][0]["expect"]["std140"]["members"][1]["offset"] = 12;
  file["binding"][0]["expect"]["vulkan"]["bindings"].erase("after");
  file["rpl"][0]["expect"]["webgpu"]["bindings"]["gone"] = "group0.9";
  const auto differences = CheckCases(file.dump());
  ASSERT_TRUE(differences.ok());
  ASSERT_EQ(differences->size(), 3u);
  EXPECT_EQ((*differences)[0].path, "layout/L04/expect/std140/members/1/offset");
  EXPECT_EQ((*differences)[0].expected, "12");
  EXPECT_EQ((*differences)[0].found, "16");
  EXPECT_EQ((*differences)[1].path, "binding/B03/expect/vulkan/bindings/after");
  EXPECT_EQ((*differences)[2].path, "rpl/R01/expect/webgpu/bindings/gone");
}

TEST(LayoutCases, AnsweredFile_ExpectsItself) {
  const auto answered = AnswerCases(CaseFile());
  ASSERT_TRUE(answered.ok());
  const auto differences = CheckCases(*answered);
  ASSERT_TRUE(differences.ok());
  EXPECT_TRUE(differences->empty());
  EXPECT_EQ(AnswerCases(*answered).value(), *answered);
}

TEST(LayoutCases, WhatIsNoCaseFile_IsAnError) {
  for (const char* text :
       {"", "[]", "{\"layout\": 1}", R"({"layout": [1]})", R"({"layout": [{}]})",
        R"({"layout": [{"fields": [["a"]]}]})", R"({"layout": [{"fields": [["a", "vec9<f32>"]]}]})",
        R"({"layout": [{"fields": [["a", "f32[-1]"]]}]})",
        R"({"layout": [{"fields": [["a", "f32]"]]}]})",
        R"({"binding": [{"units": [{"name": "u", "params": [{"name": "a", "type": "Blob"}]}]}]})",
        R"({"rpl": [{"modules": [{"name": "m", "decls": [{"kind": "blob", "name": "a"}]}]}]})"}) {
    EXPECT_FALSE(AnswerCases(text).ok()) << text;
  }
}

}  // namespace
}  // namespace kiln::layout
