// SPDX-License-Identifier: MIT
// The case file of the layout specification (spec/layout 17), and one whose expectations were
// worked out from the text of the specification: every number in them is the engine's.
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/layout/cases/case_file.h"

namespace kiln::layout {
namespace {

std::string CaseFile(const std::string& name = "layout_cases.json") {
  std::ifstream file(KILN_SOURCE_DIR "/tests/layout/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LayoutCases, EveryNumber_IsThatOfTheSpecification) {
  for (const char* name : {"layout_cases.json", "hand_cases.json"}) {
    const auto checked = CheckCases(CaseFile(name));
    ASSERT_TRUE(checked.ok()) << name;
    EXPECT_TRUE(checked->errors.empty()) << checked->errors[0];
    for (const CaseDifference& difference : checked->differences) {
      ADD_FAILURE() << difference.path << ": expected " << difference.expected << ", found "
                    << difference.found;
    }
  }
}

TEST(LayoutCases, AChangedNumber_IsADifference) {
  nlohmann::ordered_json file = nlohmann::ordered_json::parse(CaseFile());
  file["layout"][0]["expect"]["std140"]["members"][1]["offset"] = 12;
  file["binding"][0]["expect"]["vulkan"]["bindings"].erase("after");
  file["rpl"][0]["expect"]["webgpu"]["bindings"]["gone"] = "group0.9";
  const auto differences = CheckCases(file.dump());
  ASSERT_TRUE(differences.ok());
  ASSERT_EQ(differences->differences.size(), 3u);
  EXPECT_EQ(differences->differences[0].path, "layout/L04/expect/std140/members/1/offset");
  EXPECT_EQ(differences->differences[0].expected, "12");
  EXPECT_EQ(differences->differences[0].found, "16");
  EXPECT_EQ(differences->differences[1].path, "binding/B03/expect/vulkan/bindings/after");
  EXPECT_EQ(differences->differences[2].path, "rpl/R01/expect/webgpu/bindings/gone");
}

TEST(LayoutCases, AnsweredFile_ExpectsItself) {
  for (const char* name : {"layout_cases.json", "hand_cases.json"}) {
    const auto answered = AnswerCases(CaseFile(name));
    ASSERT_TRUE(answered.ok());
    const auto checked = CheckCases(answered->text);
    ASSERT_TRUE(checked.ok());
    EXPECT_TRUE(checked->differences.empty());
    EXPECT_EQ(AnswerCases(answered->text)->text, answered->text);
  }
}

// The order of keys, members that nobody knows and sections that are missing change nothing.
TEST(LayoutCases, TheFormIsTolerant) {
  const auto answered = AnswerCases(R"({"more": {}, "binding": [
    {"imports": null, "units": [{"extra": 1, "params": [
       {"vk": null, "type": "Texture2D", "d3d": null, "name": "t", "note": "x"}], "name": "u0"}]},
    {}], "rpl": []})");
  ASSERT_TRUE(answered.ok());
  EXPECT_TRUE(answered->errors.empty());
  const auto file = nlohmann::ordered_json::parse(answered->text);
  EXPECT_EQ(file["binding"][0]["expect"]["vulkan"]["bindings"]["t"], "set0.0");
  EXPECT_TRUE(file["binding"][1]["expect"]["vulkan"]["bindings"].empty());
}

TEST(LayoutCases, WhatIsNoCaseFile_IsAnError) {
  for (const char* text :
       {"", "[]", "{\"layout\": 1}", R"({"layout": [1]})", R"({"layout": [{}]})",
        R"({"layout": [{"fields": [["a"]]}]})", R"({"layout": [{"fields": [["a", "vec9<f32>"]]}]})",
        R"({"layout": [{"fields": [["a", "f32[-1]"]]}]})",
        R"({"layout": [{"fields": [["a", "f32]"]]}]})",
        R"({"binding": [{"units": [{"name": "u", "params": [{"name": "a", "type": "Blob"}]}]}]})",
        R"({"rpl": [{"modules": [{"name": "m", "decls": [{"kind": "blob", "name": "a"}]}]}]})"}) {
    const auto answered = AnswerCases(text);
    EXPECT_FALSE(answered.ok() && answered->errors.empty()) << text;
  }
}

TEST(LayoutCases, AWrongCase_LeavesTheOthersTheirAnswers) {
  const auto answered = AnswerCases(R"({"layout": [
    {"id": "bad", "fields": [["a", "Blob"]], "expect": 7},
    {"id": "good", "fields": [["a", "f32"]], "note": [1]}], "more": null})");
  ASSERT_TRUE(answered.ok());
  EXPECT_EQ(answered->errors, std::vector<std::string>{"layout/bad: 'Blob' is not a type"});
  const auto file = nlohmann::ordered_json::parse(answered->text);
  EXPECT_EQ(file["layout"][0]["expect"], 7);
  EXPECT_EQ(file["layout"][1]["expect"]["scalar"]["size"], 4);
  EXPECT_EQ(file["layout"][1]["note"], nlohmann::ordered_json::array({1}));
  EXPECT_TRUE(file.contains("more"));
}

}  // namespace
}  // namespace kiln::layout
